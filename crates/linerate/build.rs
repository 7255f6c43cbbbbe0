//! What the program exports beside what Rust does.

fn main() {
    // Where its data ends. Open MPI's OpenSHMEM takes all writable memory below that symbol for the program's static data,
    // which others may write to. Linkers export it from what is linked with that library; without it the library finds
    // its own, and with that every mapping that happens to lie below itself, of which it has room for 32.
    println!("cargo:rustc-link-arg-bins=-Wl,--undefined=_end,--export-dynamic-symbol=_end");
    println!("cargo:rerun-if-changed=build.rs");
}
