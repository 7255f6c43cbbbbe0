//! The program: see [`linerate::cli`].

fn main() {}
