//! Known faults, put in by hand between a pattern and a link, that a measurement must find before it is believed.
//!
//! [`shim`] is where they are put in; each other file is what one of them does. The one on the way is `socket/relay.rs`.

pub mod shim;
mod slow_reader;
mod slowdown;
mod stall;
mod warm_up;
mod work;
mod writer;
