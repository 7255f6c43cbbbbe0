//! The program: see [`linerate::cli`].

use linerate_sys::allocation::Told;
use std::process::ExitCode;

/// Where there is no more memory, it says which limit that is.
#[global_allocator]
static ALLOCATOR: Told = Told;

fn main() -> ExitCode {
    linerate::cli::main()
}
