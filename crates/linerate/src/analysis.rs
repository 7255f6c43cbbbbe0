//! A recording to numbers with uncertainty: summaries, curves, layers.
