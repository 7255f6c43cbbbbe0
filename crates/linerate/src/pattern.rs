//! Who sends what when: the timed loops, and what they need of a link.
