//! The next step, from the plan, the seed and the recording so far.
