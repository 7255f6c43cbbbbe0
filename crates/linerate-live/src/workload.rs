//! Whole applications, measured as their users meet them.
//!
//! | workload | what it is |
//! |---|---|
//! | [`transfer`] | a file from one host to another |

pub mod transfer;
