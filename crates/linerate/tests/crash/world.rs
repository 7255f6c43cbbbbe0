//! Surroundings of a scene's own: all folders that the program may write to, and what may stay in them.

use super::marked::{MARK, await_none, marked, namespaces, still_there};
use super::nobody::program;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// What may stay, below the scene's folder: folders, locks, and what is kept on purpose.
const STAYS: &[&str] = &[
    "runtime/linerate/",
    "runtime/linerate/labs/",
    "runtime/linerate/labs/lock",
    "runtime/linerate/journal/",
    "runtime/linerate/journal/lock",
    "state/history.lock",
    "state/history.jsonl",
];

/// Folders that the scene itself makes.
const FOLDERS: [&str; 4] = ["runtime", "temp", "state", "home"];

pub struct World {
    folder: TempDir,
    pub mark: String,
    /// Every namespace that one of the scene's processes was seen in, but those of this machine.
    pub seen: BTreeSet<PathBuf>,
}

pub fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

impl World {
    pub fn new() -> World {
        let folder = TempDir::new().unwrap();
        FOLDERS.iter().for_each(|name| fs::create_dir(folder.path().join(name)).unwrap());
        World { folder, mark: format!("{:032x}", rand::random::<u128>()), seen: BTreeSet::new() }
    }

    /// `linerate ARGUMENTS`, which knows nothing but the scene's folders.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(program());
        let [runtime, temp, state, home] = FOLDERS.map(|name| self.folder.path().join(name));
        command.env("XDG_RUNTIME_DIR", runtime).env("TMPDIR", temp).env("LINERATE_STATE", state);
        command.env("HOME", home).env("LINERATE_CONFIG", "").env(MARK, &self.mark);
        command.args(arguments).current_dir(self.folder.path()).stdin(Stdio::null());
        command
    }

    pub fn output(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// What is printed where it must succeed.
    pub fn done(&self, arguments: &[&str]) -> String {
        let output = self.output(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", text(&output));
        text(&output)
    }

    /// Whether a lab is written down, as it is when it is up.
    pub fn is_up(&self) -> bool {
        self.folder.path().join("runtime/linerate/labs/lab.json").exists()
    }

    /// Notes the namespaces that the scene's processes are in.
    pub fn look(&mut self) {
        let machine = namespaces(std::process::id());
        for process in marked(&self.mark) {
            self.seen.extend(namespaces(process.pid).difference(&machine).cloned());
        }
    }

    /// No process of the scene goes on, and no namespace is there that one of them was in.
    pub fn assert_nobody_is_left(&self, when: &str) {
        await_none(&format!("{when}: processes"), || marked(&self.mark));
        await_none(&format!("{when}: namespaces"), || still_there(&self.seen).into_iter().collect());
    }

    /// Nothing is left in the folders but what may be.
    pub fn assert_nothing_is_left(&self, when: &str) {
        let mut left = Vec::new();
        FOLDERS.iter().for_each(|name| collect(self.folder.path(), &format!("{name}/"), &mut left));
        left.retain(|name| !STAYS.contains(&name.as_str()));
        assert!(left.is_empty(), "{when}: {left:?}");
    }

    /// A recording is read, or was killed before its first line; a page is whole.
    pub fn assert_what_was_measured_is_read(&self, when: &str) {
        for entry in fs::read_dir(self.folder.path().join("out")).into_iter().flatten() {
            let path = entry.unwrap().path();
            match path.extension().and_then(|ending| ending.to_str()) {
                Some("jsonl") => self.assert_is_read(&path, when),
                Some("html") => {
                    let page = fs::read_to_string(&path).unwrap();
                    assert!(page.trim_end().ends_with("</html>"), "{when}: half a page");
                }
                _ => panic!("{when}: {} is left", path.display()),
            }
        }
    }

    fn assert_is_read(&self, recording: &Path, when: &str) {
        let output = self.output(&["report", recording.to_str().unwrap(), "--format", "json"]);
        let empty = fs::metadata(recording).unwrap().len() == 0;
        match output.status.code() {
            Some(0) => drop(serde_json::from_slice::<Value>(&output.stdout).unwrap()),
            Some(6) if empty => assert!(text(&output).contains("hint: "), "{}", text(&output)),
            code => panic!("{when}: a recording that is not read: {code:?}: {}", text(&output)),
        }
    }
}

fn collect(top: &Path, folder: &str, left: &mut Vec<String>) {
    for entry in fs::read_dir(top.join(folder)).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{folder}{}", entry.file_name().to_string_lossy());
        if entry.file_type().unwrap().is_dir() {
            left.push(format!("{name}/"));
            collect(top, &format!("{name}/"), left);
        } else {
            left.push(name);
        }
    }
}
