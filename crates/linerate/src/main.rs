//! The program: see [`linerate::cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
    linerate::cli::main()
}
