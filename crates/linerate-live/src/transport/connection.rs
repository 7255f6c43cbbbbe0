//! What all that connect share: how two ends meet, where further connections are made, and how bytes reach one.
//!
//! A transport says what its connection is ([`channel::Channel`]) and, where it is of sockets, how one is had
//! ([`family::Family`]); the session is written here once.

pub mod caller;
pub mod channel;
pub mod engine;
pub mod factory;
pub mod family;
pub mod meeting;
pub mod place;
