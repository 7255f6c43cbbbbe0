//! Known faults: each is there when it is put in, moves the measurement as its model says, and is gone.

mod disks;
mod ends;
mod hosts;
mod measured;
mod memory;
mod messages;
use crate::user::nobody;
mod removal;
mod wires;
