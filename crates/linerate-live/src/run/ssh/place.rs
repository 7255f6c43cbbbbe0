//! Where the program's copy lies on the other host: one folder a version, in the first place that takes it.
//!
//! The copy is looked for by what is in it, never by a version's name: whole, and by its digest where the host can compute
//! one. A place that others may write to is none, for what lies there will be run.

use super::program::Program;
use super::{Error, Result, Ssh};
use crate::unit::Bytes;
use std::fmt;
use std::str::FromStr;

/// Their lines become one, for shells that take no other as an argument: so each ends with a semicolon.
const TOOLS: &str = include_str!("place.sh");
const LOOK: &str = include_str!("look.sh");
const COPY: &str = include_str!("copy.sh");

/// What an answer begins with: a login script may greet.
const MARK: &str = "linerate-copy ";

/// Where the copy goes where nobody says anything, and where else where that cannot be had: those above `most` are looked
/// at, and not kept.
const USUAL: &str = r#"most=1; try 0 "~/.cache" "$HOME/.cache/linerate";"#;
const OTHERS: &str = r#"for dir in /tmp /var/tmp "$XDG_RUNTIME_DIR" /dev/shm; do test -n "$dir" && test -d "$dir" && try 1 "$dir" "$dir/linerate-$uid"; done; exit 0"#;

/// What is there beside the copy for a moment.
const SLACK: u64 = 1 << 20;

/// What a host says of a place that is none, and what that means.
const STATES: &[(&str, &str)] = &[
    ("read-only", "is on a read-only file system"),
    ("full", "has no room for SIZE"),
    ("noexec", "is mounted noexec, so that nothing runs there"),
    ("denied", "cannot be written"),
    ("foreign", "holds a folder of linerate that others may write to"),
];

/// A folder of the user's choice on a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteFolder(String);

impl FromStr for RemoteFolder {
    type Err = &'static str;

    fn from_str(text: &str) -> std::result::Result<RemoteFolder, &'static str> {
        let is_rooted = text.starts_with('/') || text == "~" || text.starts_with("~/");
        match text.contains(char::is_control) || !is_rooted {
            true => Err("is no folder from the root, or from the home as in '~/scratch'"),
            false => Ok(RemoteFolder(text.into())),
        }
    }
}

impl fmt::Display for RemoteFolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl RemoteFolder {
    /// As the other shell reads it.
    fn word(&self) -> String {
        match self.0.strip_prefix('~') {
            Some(rest) => format!("\"$HOME\"{}", quoted(rest)),
            None => quoted(&self.0),
        }
    }
}

/// As a shell takes it for one word, whatever is in it.
pub(in crate::run) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

fn script(program: &Program, parts: &[&str]) -> String {
    let lines = parts.iter().flat_map(|part| part.lines()).collect::<Vec<_>>().join(" ");
    let kib = (program.bytes.len() as u64 + SLACK).div_ceil(1024);
    let facts = [
        ("@LEN@", program.bytes.len().to_string()),
        ("@DIGEST@", program.digest.clone()),
        ("@FOLDER@", program.folder().into()),
        ("@KIB@", kib.to_string()),
    ];
    facts.into_iter().fold(lines, |lines, (mark, value)| lines.replace(mark, &value))
}

/// Looks for a copy, and for a place for one.
pub(super) fn look_script(program: &Program, folder: Option<&RemoteFolder>) -> String {
    let first = folder.map_or(USUAL.into(), |folder| {
        format!("most=0; try 0 {0} {1}\"/linerate-$uid\";", quoted(&folder.0), folder.word())
    });
    format!("{} {first} {OTHERS}", script(program, &[TOOLS, LOOK]))
}

/// Takes the copy from standard input. A part of one goes with the shell that took it, and where that was
/// killed, with the next copy.
pub(super) fn copy_script(program: &Program, copy: &str, is_packed: bool) -> String {
    let unpack = if is_packed { "gzip -dc" } else { "cat" };
    script(program, &[TOOLS, COPY]).replace("@UNPACK@", unpack).replace("@COPY@", &quoted(copy))
}

/// What a host answered.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) system: String,
    pub(super) has_gzip: bool,
    /// Whether a place is another one than was meant, its state, and what it is called.
    pub(super) places: Vec<(bool, String, String)>,
    copy: Option<String>,
}

/// Where the copy is, or goes.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) copy: String,
    pub(super) is_there: bool,
    /// Why it is not where it was meant to be.
    pub(super) elsewhere: Option<String>,
}

impl Found {
    pub(super) fn read(output: &[u8]) -> Found {
        let text = String::from_utf8_lossy(output);
        let mut found = Found::default();
        for (name, value) in text.lines().filter_map(|line| line.strip_prefix(MARK)?.split_once(' ')) {
            match name {
                "system" => found.system = value.into(),
                "packing" => found.has_gzip = true,
                "copy" => found.copy = Some(value.into()),
                "place" => {
                    let mut words = value.splitn(3, ' ').map(String::from);
                    if let (Some(rank), Some(state), Some(name)) = (words.next(), words.next(), words.next())
                    {
                        found.places.push((rank != "0", state, name));
                    }
                }
                _ => {}
            }
        }
        found
    }

    /// Where the copy of this size is or goes, or why there is no such place.
    pub(super) fn place(&self, is_chosen: bool, ssh: &Ssh, size: Bytes) -> Result<Place> {
        let told = |(_, state, name): &(bool, String, String)| {
            let known = STATES.iter().find(|(known, _)| known == state);
            let told = known.map_or("cannot be used", |(_, told)| told);
            format!("{name} {}", told.replace("SIZE", &size.to_string()))
        };
        let fits = |place: &&(bool, String, String)| ["present", "ready"].contains(&place.1.as_str());
        let (host, letter) = (&ssh.host, ssh.id);
        let refused: Vec<String> = self.places.iter().filter(|place| !fits(place)).map(told).collect();
        let wanted = format!("--remote-dir {letter}=");
        match (self.places.iter().find(fits), &self.copy) {
            (Some((true, _, name)), _) if is_chosen => {
                let why = refused.first().cloned().unwrap_or_default();
                Err(Error::unavailable(
                    format!("{host}: {why}"),
                    format!("{name} would do there: {wanted}{name}"),
                ))
            }
            (Some((is_other, state, name)), Some(copy)) => {
                let why = refused.first().cloned().unwrap_or_default();
                let elsewhere = format!("{host}: {why}; the program's copy is in {name}");
                Ok(Place {
                    copy: copy.clone(),
                    is_there: state == "present",
                    elsewhere: is_other.then_some(elsewhere),
                })
            }
            _ => Err(Error::unavailable(
                format!("{host}: no folder there takes the program's copy: {}", refused.join("; ")),
                format!("name one that can be written, has {size} and runs programs: {wanted}DIR"),
            )),
        }
    }
}
