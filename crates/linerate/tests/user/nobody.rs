//! Tests as an ordinary user: the same binary once more, as nobody.

use std::env;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

/// Where a copy of linerate lies that an ordinary user can run.
const PROGRAM: &str = "LINERATE_TEST_PROGRAM";

/// The user that Debian and others call `nobody`.
pub const NOBODY: u32 = 65534;

/// The program under test.
pub fn program() -> PathBuf {
    env::var_os(PROGRAM).unwrap_or(env!("CARGO_BIN_EXE_linerate").into()).into()
}

/// Whether the tests run as root.
pub fn is_root() -> bool {
    fs::metadata("/proc/self").unwrap().uid() == 0
}

/// Runs tests of this binary as nobody, with these arguments and variables, and gives what they printed. Does
/// nothing where the tests are an ordinary user's already: then all of them show it.
pub fn runs_them_too(arguments: &[&str], variables: &[(&str, String)]) -> String {
    if !is_root() {
        return String::new();
    }
    let (_folder, test, program) = copies();
    let mut command = Command::new(&test);
    // One after the other, as they run by themselves.
    command.args(arguments).env("RUST_TEST_THREADS", "1").env("LINERATE_CONFIG", "");
    command.uid(NOBODY).gid(NOBODY).current_dir("/").env(PROGRAM, &program);
    let output = command.envs(variables.iter().cloned()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains(" passed; 0 failed; "), "{text}\n{errors}");
    assert!(!text.contains(" 0 passed"), "{text}");
    text
}

/// Copies of this test and of the program, where everybody may read them.
fn copies() -> (TempDir, PathBuf, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    let [test, program] = ["test", "linerate"].map(|name| folder.path().join(name));
    for (from, to) in [(env::current_exe().unwrap(), &test), (self::program(), &program)] {
        // Not by this process: a child that another test forks meanwhile would have the file open for writing
        // for a moment, and what is open for writing cannot be run.
        assert!(Command::new("cp").arg(from).arg(to).status().unwrap().success());
        fs::set_permissions(to, Permissions::from_mode(0o755)).unwrap();
    }
    (folder, test, program)
}
