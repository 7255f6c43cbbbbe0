//! Programs that move files, which are known by their names alone: no package of theirs is there to test them with.

use super::program;
use crate::record::Recognised;
use linerate_sys::child::ChildProcess;
use linerate_sys::spawn;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// A program, and how it tells its version.
struct Known {
    name: &'static str,
    program: &'static str,
    version: &'static [&'static str],
}

/// Each by the file that it is started by.
const KNOWN: &[Known] = &[
    Known { name: "HPN-SSH", program: "hpnssh", version: &["-V"] },
    Known { name: "bbcp", program: "bbcp", version: &["-#"] },
    Known { name: "mscp", program: "mscp", version: &["-h"] },
    Known { name: "EScp", program: "escp", version: &["--version"] },
];

/// How long one may take to tell.
const TELLS: Duration = Duration::from_secs(2);

/// The most that is read of what it says, and shown.
const MOST_READ: u64 = 4096;
const MOST_SHOWN: usize = 80;

/// Those that are here.
pub fn recognised(path: &[PathBuf]) -> Vec<Recognised> {
    let told = |known: &Known| {
        let version = version(&program(known.program, path)?, known.version);
        let version = version.unwrap_or_else(|| "it does not tell its version".into());
        Some(Recognised { name: known.name.into(), version })
    };
    KNOWN.iter().filter_map(told).collect()
}

/// The first line that it says, wherever it says it.
fn version(program: &Path, words: &[&str]) -> Option<String> {
    let (output, said) = std::io::pipe().ok()?;
    let mut command = Command::new(program);
    command.args(words).stdin(Stdio::null()).stdout(said.try_clone().ok()?).stderr(said);
    spawn::end_with_parent(&mut command);
    // One that has not ended by then is killed with its handle.
    let child = ChildProcess::start("it", Duration::ZERO, command).ok()?;
    if !child.wait(TELLS) {
        return None;
    }
    let mut text = Vec::new();
    output.take(MOST_READ).read_to_end(&mut text).ok()?;
    let text = String::from_utf8_lossy(&text).into_owned();
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(line.chars().filter(|one| !one.is_control()).take(MOST_SHOWN).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_program_is_known_by_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = [folder.path().to_owned()];
        assert_eq!(recognised(&path), []);
        let file = folder.path().join("bbcp");
        std::fs::write(&file, "#!/bin/sh\necho 17.12.00.00.0 >&2\n").unwrap();
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o755)).unwrap();
        let wanted = Recognised { name: "bbcp".into(), version: "17.12.00.00.0".into() };
        assert_eq!(recognised(&path), [wanted]);
    }
}
