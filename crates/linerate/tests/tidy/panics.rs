//! What panics where a host refuses something: nothing outside tests may.

use super::assert_kept;
use super::source::{File, rust_files};

/// A call that panics, where it may stand, and what to write instead.
struct Forbidden {
    words: &'static [&'static str],
    allowed: &'static [&'static str],
    instead: &'static str,
}

const FORBIDDEN: &[Forbidden] = &[
    Forbidden {
        words: &["thread", ":", ":", "spawn"],
        allowed: &[],
        instead: "panics where no thread is to be had: linerate_sys::thread::start",
    },
    Forbidden {
        words: &["scope", ".", "spawn", "("],
        allowed: &[],
        instead: "panics where no thread is to be had: linerate_sys::thread::start_within, or together",
    },
    Forbidden {
        words: &["println", "!"],
        allowed: &[],
        instead: "panics where standard output is closed: cli::output",
    },
    Forbidden {
        words: &["print", "!"],
        allowed: &[],
        instead: "panics where standard output is closed: cli::output",
    },
    Forbidden {
        words: &["eprintln", "!"],
        allowed: &[],
        instead: "panics where standard error is closed: cli::output",
    },
    Forbidden {
        words: &["eprint", "!"],
        allowed: &[],
        instead: "panics where standard error is closed: cli::output",
    },
    Forbidden {
        words: &[".", "unwrap", "(", ")"],
        // What makes recordings for tests of the desk and of the whole program.
        allowed: &["record/synthetic.rs"],
        instead: "panics: give the error on, or say by the types why there is none",
    },
    Forbidden {
        words: &[".", "expect", "("],
        allowed: &["record/synthetic.rs", "record/latency.rs"],
        instead: "panics: give the error on, or say by the types why there is none",
    },
];

fn breaches(file: &File) -> Vec<String> {
    let is_code = file.path.contains("/src/");
    let path = file.in_src().unwrap_or(&file.path);
    let places = FORBIDDEN.iter().filter(|one| is_code && !one.allowed.contains(&path)).flat_map(|one| {
        let at =
            (0..file.tokens.len()).filter(|at| !file.tokens[*at].scope.test && file.reads(*at, one.words));
        at.map(|at| format!("{}: {} {}", file.at(&file.tokens[at]), one.words.concat(), one.instead))
    });
    places.collect()
}

#[test]
fn nothing_panics_where_a_host_refuses_something() {
    assert_kept(rust_files().iter().flat_map(breaches).collect());
}

#[test]
fn a_call_that_panics_is_found_outside_tests_alone() {
    let text = "fn a() { std::thread::spawn(b); scope.spawn(c); eprint!(\"\"); d.unwrap(); }\n\
                #[cfg(test)]\nmod tests { fn e() { std::thread::spawn(f); } }\n";
    assert_eq!(breaches(&File::parse("crates/linerate-live/src/x.rs", text)).len(), 4);
    assert_eq!(breaches(&File::parse("crates/linerate/tests/x.rs", text)).len(), 0);
}
