//! The vocabulary and its implementers.

use super::assert_kept;
use super::source::{File, rust_files};
use linerate::vocabulary::TRANSPORTS;

/// The places outside tests where a file has `name` as a whole string.
fn says(file: &File, name: &str) -> Vec<String> {
    let literal = format!("\"{name}\"");
    let code = file.tokens.iter().filter(|token| !token.scope.test);
    code.filter(|token| token.text == literal).map(|token| file.at(token)).collect()
}

fn is_in(file: &File, room: &str) -> bool {
    let path = file.in_src().unwrap_or_default();
    path.strip_prefix(room).is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
}

#[test]
fn each_transport_has_one_implementer() {
    let files = rust_files();
    let mut breaches = Vec::new();
    for entry in TRANSPORTS {
        let implementers: Vec<_> =
            files.iter().filter(|f| is_in(f, "transport") && !says(f, entry.name).is_empty()).collect();
        if implementers.len() != 1 {
            let found: Vec<_> = implementers.iter().map(|file| file.path.as_str()).collect();
            let table = files.iter().find(|file| file.in_src() == Some("vocabulary/transport.rs"));
            let place = table.and_then(|table| says(table, entry.name).pop()).unwrap_or_default();
            breaches.push(format!(
                "{place}: the name \"{}\" is in {} files of src/transport {found:?}: \
                 exactly one implements it and carries its name",
                entry.name,
                found.len(),
            ));
        }
    }
    assert_kept(breaches);
}

#[test]
fn nothing_else_asks_which_transport_it_has() {
    let mut breaches = Vec::new();
    for file in rust_files().iter().filter(|file| file.in_src().is_some()) {
        if is_in(file, "transport") || is_in(file, "vocabulary") {
            continue;
        }
        let places = TRANSPORTS.iter().flat_map(|entry| says(file, entry.name));
        breaches.extend(places.map(|place| {
            format!("{place}: a transport's name outside its file: put what differs into its table entry")
        }));
    }
    assert_kept(breaches);
}
