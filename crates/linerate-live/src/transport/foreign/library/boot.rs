//! Daemons first, then ranks: a process that starts both, and ends the daemons when the ranks have ended.

use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The hidden command that does it.
pub const ROLE: &str = "boot";

/// The exit code of what a signal ended.
const BY_SIGNAL: u8 = 255;

/// What is to be done, in a folder that goes away with it. A command is a program with its first arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Boot {
    /// Where the files are.
    pub folder: PathBuf,
    /// What starts the daemons: a file with the hosts' addresses is its last argument.
    pub start: Vec<String>,
    /// The addresses.
    pub hosts: Vec<String>,
    /// What starts the ranks: a file with them is its last argument.
    pub launch: Vec<String>,
    /// The words of each rank.
    pub ranks: Vec<Vec<String>>,
    /// What ends the daemons.
    pub end: Vec<String>,
}

impl Boot {
    /// For the command line.
    pub fn to_word(&self) -> Result<String> {
        serde_json::to_string(self).map_err(|e| Error::usage(e.to_string(), ""))
    }
}

/// Gives the launcher's exit code, or that of what failed before.
pub fn main(word: &str) -> Result<u8> {
    let wrong = |e| Error::usage(format!("nothing to start: {e}"), "linerate starts this command itself");
    let boot: Boot = serde_json::from_str(word).map_err(wrong)?;
    let hosts = written(&boot.folder, "hosts", &boot.hosts)?;
    let ranks: Result<Vec<String>> = boot.ranks.iter().map(|words| line(words)).collect();
    let ranks = written(&boot.folder, "ranks", &ranks?)?;
    let said = boot.folder.join("said");
    let code = quietly(&boot.start, Some(&hosts), &said)?;
    if code != 0 {
        let text = std::fs::read(&said).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        return Err(Error::unavailable(format!("{} failed: {}", boot.start[0], text.trim()), ""));
    }
    let code = code_of(&boot.launch, command(&boot.launch)?.arg(&ranks))?;
    // Daemons that do not end are ended with who keeps this.
    let _ = quietly(&boot.end, None, &said);
    Ok(code)
}

fn written(folder: &Path, name: &str, lines: &[String]) -> Result<PathBuf> {
    let path = folder.join(name);
    let text = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    std::fs::write(&path, text).map_err(|e| Error::io("write", path.display().to_string(), e))?;
    Ok(path)
}

/// A rank's words as its launcher reads them: with blanks between quotes, and nothing that would end them.
fn line(words: &[String]) -> Result<String> {
    let bad = |word: &&String| word.is_empty() || word.contains(['"', '\\', '\n', '#']);
    if let Some(word) = words.iter().find(bad) {
        let what = format!("the launcher reads no word like `{}`", word.escape_debug());
        return Err(Error::unavailable(what, "is it in the path of linerate? put it elsewhere"));
    }
    let quoted = |word: &String| match word.contains(char::is_whitespace) {
        true => format!("\"{word}\""),
        false => word.clone(),
    };
    Ok(words.iter().map(quoted).collect::<Vec<_>>().join(" "))
}

fn command(words: &[String]) -> Result<Command> {
    let nothing = || Error::usage("nothing to start", "linerate starts this command itself");
    let (program, words) = words.split_first().ok_or_else(nothing)?;
    let mut command = Command::new(program);
    command.args(words).stdin(Stdio::null());
    Ok(command)
}

/// What it says goes to a file: a daemon that it leaves behind holds its streams open.
fn quietly(words: &[String], last: Option<&Path>, said: &Path) -> Result<u8> {
    let failed = |e| Error::io("open", said.display().to_string(), e);
    let output = File::create(said).map_err(failed)?;
    let errors = output.try_clone().map_err(failed)?;
    code_of(words, command(words)?.args(last).stdout(output).stderr(errors))
}

fn code_of(words: &[String], command: &mut Command) -> Result<u8> {
    let object = words.first().cloned().unwrap_or_default();
    let status = command.status().map_err(|e| Error::io("start", object, e))?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(BY_SIGNAL))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(all: &[&str]) -> Vec<String> {
        all.iter().map(|word| (*word).to_owned()).collect()
    }

    fn boot(folder: &Path, start: &str) -> Boot {
        Boot {
            folder: folder.to_owned(),
            start: words(&["sh", "-c", start, "sh"]),
            hosts: words(&["10.0.0.1", "10.0.0.2"]),
            launch: words(&["sh", "-c", "cp \"$1\" \"$1.there\"; exit 7", "sh"]),
            ranks: vec![words(&["n0", "/a b/linerate", "rank"]), words(&["n1", "/c", "rank"])],
            end: words(&["sh", "-c", &format!("touch {}/ended", folder.display())]),
        }
    }

    #[test]
    fn daemons_outlive_their_ranks() {
        let folder = tempfile::tempdir().unwrap();
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
        let asked = boot(folder.path(), "cp \"$1\" \"$1.there\"");
        assert_eq!(main(&asked.to_word().unwrap()).unwrap(), 7);
        assert_eq!(read("hosts.there"), "10.0.0.1\n10.0.0.2\n");
        assert_eq!(read("ranks.there"), "n0 \"/a b/linerate\" rank\nn1 /c rank\n");
        assert_eq!(read("ended"), "");
    }

    #[test]
    fn a_failed_daemon_starts_no_rank() {
        let folder = tempfile::tempdir().unwrap();
        let asked = boot(folder.path(), "echo no room >&2; exit 3");
        let error = main(&asked.to_word().unwrap()).unwrap_err();
        assert!(error.to_string().ends_with("no room"), "{error}");
        assert!(!folder.path().join("ranks.there").exists());
    }

    #[test]
    fn a_word_that_would_end_the_line_is_refused() {
        for bad in ["", "a\"b", "a\nb", "a#b"] {
            assert!(line(&words(&["n0", bad])).is_err(), "{bad}");
        }
    }
}
