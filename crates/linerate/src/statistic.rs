//! Medians, distribution-free intervals, tests and fits: numbers in, numbers out.
