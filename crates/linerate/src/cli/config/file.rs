//! The configuration file: where it is, and its text.

use crate::{Error, Result};
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::PathBuf;

/// A longer file holds something else.
const LONGEST: u64 = 64 << 10;

/// Where the file is, and who says so.
pub struct Place {
    /// The file.
    pub path: PathBuf,
    /// The variable that names it or its folder.
    pub from: &'static str,
}

/// The place of the file; none where an empty `LINERATE_CONFIG` switches it off, or without a home.
pub fn place() -> Option<Place> {
    let named = |name: &str| std::env::var_os(name).map(PathBuf::from);
    // The XDG Base Directory Specification has relative paths ignored.
    let folder = |name: &str| named(name).filter(|path| path.is_absolute());
    let below = |path: PathBuf, from| Some(Place { path: path.join("linerate/config.toml"), from });
    match named("LINERATE_CONFIG") {
        Some(path) if path.as_os_str().is_empty() => None,
        Some(path) => Some(Place { path, from: "LINERATE_CONFIG" }),
        None => match folder("XDG_CONFIG_HOME") {
            Some(config) => below(config, "XDG_CONFIG_HOME"),
            None => below(folder("HOME")?.join(".config"), "HOME"),
        },
    }
}

impl Place {
    /// The file, as it is printed.
    pub fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// The text; none where there is no such file and nobody named it.
    pub fn read(&self) -> Result<Option<String>> {
        let file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound && self.from != "LINERATE_CONFIG" => {
                return Ok(None);
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let what = format!("LINERATE_CONFIG names {}, which is not there", self.name());
                return Err(Error::usage(what, "unset it, or make the file: linerate config --example"));
            }
            Err(error) => return Err(Error::io("open", self.name(), error)),
        };
        let mut bytes = Vec::new();
        let read = file.take(LONGEST + 1).read_to_end(&mut bytes);
        read.map_err(|error| Error::io("read", self.name(), error))?;
        let unfit = |what| {
            Error::usage(
                format!("{}: {what}", self.name()),
                "`linerate config --example` prints one that is right",
            )
        };
        if bytes.len() as u64 > LONGEST {
            return Err(unfit("longer than 64 KiB: this is no configuration file"));
        }
        String::from_utf8(bytes).map(Some).map_err(|_| unfit("not UTF-8: this is no configuration file"))
    }
}
