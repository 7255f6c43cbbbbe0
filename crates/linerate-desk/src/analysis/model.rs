//! Models of what a layer can do: from facts about wire, window, CPU and memory to a rate or a time.
//!
//! Pure arithmetic in bits a second, bytes and nanoseconds. A model that lacks an input is not asked.
//! What each is good for, and what it leaves out, is in `docs/method/bounds.md`.

mod cpu;
mod ideal;
mod stage;
mod window;
mod wire;

pub use cpu::{CpuCost, Side};
pub use ideal::Path;
pub use stage::{serial_rest_ns_per_byte, stage_bps, worth_opening};
pub use window::{aligned_share, product_bytes, usable_window_bytes, window_bps};
pub use wire::{Framing, serialisation_ns};
