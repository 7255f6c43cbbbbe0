//! Runs whose libraries have daemons: where those are, and that neither they nor their folders are left.

use super::ranks::{is_of, nobody_is_left};
use std::path::{Path, PathBuf};

/// Neither a process nor the folder of a daemon that nobody keeps.
pub fn nothing_is_left(folder: &Path) {
    nobody_is_left(folder);
    let keepers: Vec<String> = std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .map(|entry| std::fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default())
        .filter(|line| line.contains("linerate-keep-"))
        .collect();
    let all = std::fs::read_dir("/tmp").unwrap().flatten().map(|entry| entry.path());
    let folders = all.filter(|path| path.to_string_lossy().contains("/linerate-keep-"));
    let left: Vec<PathBuf> = folders
        .filter(|path| !keepers.iter().any(|line| line.contains(path.to_str().unwrap())))
        // Another run's may have gone since.
        .filter(|path| path.exists())
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

/// A process of this run whose arguments begin so.
pub fn find(folder: &Path, words: &str) -> Option<u32> {
    let numbers = std::fs::read_dir("/proc").unwrap().flatten();
    let mut numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    numbers.find(|number| {
        let path = PathBuf::from(format!("/proc/{number}"));
        let line = std::fs::read(path.join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        line.contains(words) && !line.contains("linerate ") && is_of(&path, folder)
    })
}
