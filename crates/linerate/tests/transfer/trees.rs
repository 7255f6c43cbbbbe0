//! Folders: all that is in them comes, by its name, and what was ended goes on.

use super::kills::kill_all;
use super::{command, file, names, said, told};
use crate::user::ranks::nobody_is_left;
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Everything below a folder: its permissions, and its content or where it leads.
fn all_below(top: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut all = BTreeMap::new();
    let mut folders = vec![top.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let (path, found) = (entry.path(), entry.metadata().unwrap());
            let content = match found.file_type() {
                kind if kind.is_dir() => {
                    folders.push(path.clone());
                    Vec::new()
                }
                kind if kind.is_symlink() => fs::read_link(&path).unwrap().as_os_str().as_bytes().to_vec(),
                _ => fs::read(&path).unwrap(),
            };
            let mode = if found.is_symlink() { 0 } else { found.permissions().mode() & 0o777 };
            all.insert(path.strip_prefix(top).unwrap().to_owned(), (mode, content));
        }
    }
    all
}

/// A folder of many small files, a few long ones, and what else a folder has.
fn tree(top: &Path, small: usize) -> u64 {
    let deep = top.join("deep/er");
    fs::create_dir_all(&deep).unwrap();
    fs::create_dir(top.join("nothing in it")).unwrap();
    file(&top.join("long"), 9_000_001);
    file(&deep.join("executable"), 5_000);
    fs::set_permissions(deep.join("executable"), PermissionsExt::from_mode(0o750)).unwrap();
    file(&top.join(OsStr::from_bytes(b"no \xff text\n")), 77);
    file(&deep.join("empty"), 0);
    std::os::unix::fs::symlink("../long", deep.join("link")).unwrap();
    std::os::unix::fs::symlink("/nowhere", top.join("broken link")).unwrap();
    (0..small).for_each(|number| drop(file(&deep.join(format!("{number}")), 4096 + 613 * (number % 100))));
    small as u64 + 4
}

fn transfer(told: &Value) -> &Value {
    &told["transfer"]
}

#[test]
fn everything_in_a_folder_comes() {
    let folder = TempDir::new().unwrap();
    let files = tree(&folder.path().join("tree"), 300);
    fs::create_dir(folder.path().join("to")).unwrap();
    let before = all_below(&folder.path().join("tree"));
    for (name, options) in [("first", &[][..]), ("second", &["--no-verify", "--no-sync", "--streams", "1"])] {
        let to = format!("to/{name}");
        let output =
            command(folder.path(), "lab").args(["tree", &to, "--json"]).args(options).output().unwrap();
        let told = told(&output);
        assert!(all_below(&folder.path().join(&to)) == before, "{name}: not what was sent");
        assert_eq!(transfer(&told)["files"].as_u64(), Some(files));
        let bytes: usize = before.values().map(|(_, content)| content.len()).sum();
        let links: usize = ["../long", "/nowhere"].map(str::len).iter().sum();
        assert_eq!(transfer(&told)["bytes"].as_u64(), Some((bytes - links) as u64));
    }
    // As the manual says, by other programs.
    let sum = "cd tree && find . -type f -print0 | LC_ALL=C sort -z | xargs -0 cat | sha256sum";
    let sums = [sum.to_owned(), sum.replace("cd tree", "cd to/first")]
        .map(|sum| Command::new("sh").args(["-c", &sum]).current_dir(folder.path()).output().unwrap().stdout);
    assert_eq!(sums[0], sums[1]);
    // Into a folder that is there, under its own name; and what is there is not replaced.
    for code in [0, 3] {
        let output = command(folder.path(), "lab").args(["tree/", "to"]).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{}", said(&output));
    }
    assert_eq!(names(&folder.path().join("to")), ["first", "second", "tree"]);
    nobody_is_left(folder.path());
}

#[test]
fn a_folder_that_was_cut_goes_on() {
    let folder = TempDir::new().unwrap();
    let top = folder.path().join("file");
    tree(&top, 1500);
    (0..3).for_each(|number| drop(file(&top.join(format!("long {number}")), 8 << 20)));
    let slow = ["file", "whole", "--streams", "1", "--json"];
    let mut run = command(folder.path(), "lab:rate=200Mb/s").args(slow).spawn().unwrap();
    // Two ranges are there, and most are not.
    let journal = folder.path().join("whole.linerate-journal");
    while fs::read_to_string(&journal).map_or(0, |text| text.lines().count()) < 3 {
        assert!(run.try_wait().unwrap().is_none(), "it ended before");
        std::thread::yield_now();
    }
    kill_all(folder.path());
    run.wait().unwrap();
    nobody_is_left(folder.path());
    assert!(!folder.path().join("whole").exists() && folder.path().join("whole.linerate-part").is_dir());
    // Something that is none of it, in a file that came.
    fs::write(folder.path().join("whole.linerate-part/deep/er/0"), "").unwrap();
    let output = command(folder.path(), "lab").args(slow).output().unwrap();
    let told = told(&output);
    let held = transfer(&told)["receiver"]["held_bytes"].as_u64().unwrap();
    assert!(held > 0, "it began anew");
    assert!(all_below(&folder.path().join("whole")) == all_below(&top), "what went on is not whole");
    assert!(!folder.path().join("whole.linerate-journal").exists());
}

/// Another state of the folder has another part: nothing of the earlier one gets into it.
#[test]
fn a_part_of_another_folder_is_thrown_away() {
    let folder = TempDir::new().unwrap();
    tree(&folder.path().join("tree"), 3);
    let part = folder.path().join("whole.linerate-part");
    fs::create_dir_all(part.join("deep")).unwrap();
    fs::write(part.join("deep/stranger"), "x").unwrap();
    fs::write(folder.path().join("whole.linerate-journal"), "linerate.transfer/1 5 4194304 00\n0\n").unwrap();
    let output = command(folder.path(), "lab").args(["tree", "whole"]).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    assert!(all_below(&folder.path().join("whole")) == all_below(&folder.path().join("tree")));
}
