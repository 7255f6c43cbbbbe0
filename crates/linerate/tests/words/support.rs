//! The program in surroundings of its own, and texts that are compared with files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// The program.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_linerate");

/// A folder that is all the program knows of the world.
pub struct Desk {
    /// The folder, which is the home too.
    pub folder: TempDir,
}

impl Desk {
    /// An empty one.
    pub fn new() -> Desk {
        Desk { folder: TempDir::new().unwrap() }
    }

    /// A file in it.
    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// Any command, with nothing of this machine's user around it.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", self.folder.path());
        command.current_dir(self.folder.path());
        command
    }

    /// `linerate ARGUMENTS`.
    pub fn linerate(&self, arguments: &[&str]) -> Output {
        self.command(PROGRAM).args(arguments).output().unwrap()
    }

    /// The command, what it said on standard error, and its exit code.
    pub fn told(&self, arguments: &[&str]) -> String {
        let output = self.linerate(arguments);
        let words = arguments.iter().map(|word| {
            if word.is_empty() || word.contains(' ') { format!("'{word}'") } else { (*word).into() }
        });
        let code = output.status.code().unwrap();
        let said = self.plain(&String::from_utf8_lossy(&output.stderr));
        format!("$ linerate {}\n{said}exit {code}\n", words.collect::<Vec<_>>().join(" "))
    }

    /// The text without what is another each time.
    pub fn plain(&self, text: &str) -> String {
        let text = text.replace(self.folder.path().to_str().unwrap(), "FOLDER").replace(PROGRAM, "linerate");
        processes(&dates(&text.replace(env!("CARGO_PKG_VERSION"), "VERSION")))
    }
}

/// `process 4711` becomes `process PID`.
fn processes(text: &str) -> String {
    let mut parts = text.split("process ");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |plain, part| {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_digit());
        let number = if rest.len() < part.len() { "PID" } else { "" };
        plain + "process " + number + rest
    })
}

/// `2026-11-21T14-02-11` becomes `DATE`.
fn dates(text: &str) -> String {
    const SHAPE: &str = "0000-00-00T00-00-00";
    let fits = |(c, shape): (char, char)| if shape == '0' { c.is_ascii_digit() } else { c == shape };
    let mut plain = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_date = rest.len() >= SHAPE.len() && rest.chars().zip(SHAPE.chars()).all(fits);
        plain += if is_date { "DATE" } else { &rest[..first.len_utf8()] };
        rest = &rest[if is_date { SHAPE.len() } else { first.len_utf8() }..];
    }
    plain
}

/// Where the snapshots are.
pub fn snapshots() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots")
}

/// Compares a text with its file.
pub fn snapshot(name: &str, text: &str) {
    let path = snapshots().join(name);
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        fs::write(&path, text).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    let differs = kept.lines().zip(text.lines()).find(|(kept, now)| kept != now);
    assert!(
        kept == text,
        "tests/snapshots/{name} is out of date: UPDATE_SNAPSHOTS=1 cargo test --test integration words::\n{differs:?}\n{text}"
    );
}

/// What was printed.
pub fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}
