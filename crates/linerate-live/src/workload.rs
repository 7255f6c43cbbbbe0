//! Whole applications, measured as their users meet them.
//!
//! | workload | what it is |
//! |---|---|
//! | [`transfer`] | a file from one host to another |
//! | [`tool`] | the same by other programs, beside it |

pub mod tool;
pub mod transfer;
