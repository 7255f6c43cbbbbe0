//! The program: see [`linerate::cli`].

fn main() -> std::process::ExitCode {
    linerate::cli::main()
}
