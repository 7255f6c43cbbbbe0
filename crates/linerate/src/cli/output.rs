//! The two streams that a user sees: what is asked for on the one, what is to be said on the other.

use crate::lab::journal;
use crate::{Error, Result};
use linerate_sys::pipe::is_unread;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Says on standard error what is wrong.
pub fn complain(text: &str) {
    tell(&format!("linerate: {text}"));
}

/// Writes a line to standard error. Where that is gone too, nobody is left to tell.
pub fn tell(text: &str) {
    let _ = writeln!(std::io::stderr(), "{}", printable(text));
}

/// Prints to standard output, without what would act on a terminal.
pub fn print(text: &str) -> Result<()> {
    write(printable(text).as_bytes())
}

/// The recording that grows, once there is something in it.
static RECORDING: Mutex<Option<PathBuf>> = Mutex::new(None);

/// From now on something was measured that is in this file; or nothing is any more.
pub fn records_in(path: Option<&Path>) {
    *RECORDING.lock().unwrap_or_else(PoisonError::into_inner) = path.map(Path::to_owned);
}

/// Says where the recording is, where there is one.
pub fn last_words(before: &str) {
    if let Some(path) = RECORDING.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
        tell(&format!("{before}what was measured is in {}", path.display()));
    }
}

/// Says so where the reader of standard output went away before it was told.
pub fn farewell() {
    if is_unread(std::io::stdout()) {
        last_words("");
    }
}

/// Ends the program quietly: nobody reads any more.
pub fn leave() -> ! {
    last_words("");
    journal::end();
    std::process::exit(0)
}

/// Writes to standard output; a reader that went away (`| head`) ends the program quietly.
pub fn write(bytes: &[u8]) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => leave(),
        answer => answer.map_err(|e| Error::io("write", "standard output", e)),
    }
}

/// Without control characters that would act on a terminal: a recording or a peer may hold any text.
/// What stays are line ends and the colours that the report sets.
pub fn printable(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let colour = colour_len(rest);
        if colour > 0 || !first.is_control() || first == '\n' {
            kept.push_str(&rest[..colour.max(first.len_utf8())]);
        }
        rest = &rest[colour.max(first.len_utf8())..];
    }
    kept
}

/// The length of the colour sequence that a text begins with: ESC, `[`, digits and semicolons, `m`.
fn colour_len(text: &str) -> usize {
    let Some(sequence) = text.strip_prefix("\u{1b}[") else {
        return 0;
    };
    let end = sequence.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap_or(sequence.len());
    if sequence[end..].starts_with('m') { end + 3 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn what_would_act_on_a_terminal_is_not_printed() {
        let cases = [
            ("plain µs ▕█▏\n", "plain µs ▕█▏\n"),
            ("\u{1b}[1;31mred\u{1b}[0m", "\u{1b}[1;31mred\u{1b}[0m"),
            ("\u{1b}]0;title\u{7}x", "]0;titlex"),
            ("\u{1b}[2Jgone\rover", "[2Jgoneover"),
            ("\u{1b}[", "["),
            ("\u{9b}31m", "31m"),
        ];
        for (text, shown) in cases {
            assert_eq!(printable(text), shown);
        }
    }
}
