//! The tests of `cargo bench --bench peers`: its tables, its words, its processes, and what it makes of what peers print. They
//! stand beside its code, and are run here because a bench runs none.
#![allow(dead_code, unused_imports, reason = "what starts a race is of the bench alone")]

#[path = "../benches/peers/main.rs"]
mod peers;
