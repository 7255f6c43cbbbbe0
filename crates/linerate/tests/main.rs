//! The tests of the whole program, as one program: it is linked once. Each test runs in a process of its own.
#![allow(
    clippy::print_stdout,
    missing_docs,
    reason = "a skip is said on standard output, where ./test counts it"
)]

mod user;

mod addresses;
mod applications;
mod capture;
mod command_line;
mod comparison;
mod contract;
mod crash;
mod documented;
mod earlier;
mod environments;
mod faults;
mod fuzz;
mod history;
mod imported;
mod lab;
mod lab_commands;
mod ladder;
mod lam;
mod launchers;
mod libraries;
mod limits;
mod lite;
mod matrix;
mod mpi;
mod native;
mod onto;
mod openssh;
mod page;
mod pvm;
mod queues;
mod races;
mod reference;
mod resume;
mod running;
mod schema;
mod shmem;
mod signals;
mod site;
mod steps;
mod tcgmsg;
mod tidy;
mod trace;
mod transfer;
mod truth;
mod tuning;
mod watching;
mod words;
