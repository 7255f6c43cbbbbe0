//! Whole applications, measured as their users meet them.
//!
//! | workload | what it is |
//! |---|---|
//! | [`transfer`] | a file from one host to another |
//! | [`tool`] | the same by other programs, beside it |
//! | [`application`], [`ends`] | small versions of applications, as patterns of a plan |
//! | [`activity`] | what a thread of theirs did over a few units of work |
//! | [`monitor`] | every node's state, asked by one host |
//! | [`pipeline`] | filters that are joined by streams of buffers |
//! | [`striped`] | a file in stripes on servers |
//! | [`mod@file`] | a file that is moved, as a pattern |
//! | [`slowness`] | a known share of it, of applications |

pub mod activity;
pub mod application;
pub mod ends;
pub mod file;
pub mod monitor;
pub mod pipeline;
pub mod slowness;
pub mod striped;
pub mod tool;
pub mod transfer;
