//! Known faults: each is there when it is put in, moves the measurement as its model says, and is gone.
#![allow(clippy::print_stdout)]

mod disks;
mod ends;
mod hosts;
mod measured;
mod messages;
#[path = "../user/nobody.rs"]
mod nobody;
mod removal;
#[path = "../ladder/support.rs"]
mod support;
mod wires;
