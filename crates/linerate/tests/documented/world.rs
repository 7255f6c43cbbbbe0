//! What a documented command finds: a folder of its own, recordings where it names some, hosts.

use super::collect::{Documented, Kind, PROGRAM};
use super::rules::{How, Rule, of_script, rule};
use super::sshd::Sshd;
use std::fs::{self, DirBuilder};
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use tempfile::TempDir;

/// Words that stand for another one, and what a reader might put there.
const PLACEHOLDERS: &[(&str, &str)] =
    &[("NAME", "sender-cpu"), ("COMMAND", "run"), ("DIR", "pages"), ("FILE...", "first.jsonl second.jsonl")];

/// Folders that a shell's user has.
const FOLDERS: [&str; 5] = [
    ".local/share/bash-completion/completions",
    ".local/share/man/man1",
    ".zfunc",
    ".config/fish/completions",
    ".config/elvish",
];

/// Far more seconds than anything here takes; only a hang meets it.
const LIMIT: &str = "120";

/// Starts what is given as an argument and waits until it has said that it is there, or for 5 s where it keeps that to
/// itself: then it gets its Ctrl-C.
const INTERRUPTED: &str = r#"exec 3>said; setsid sh -c "exec $1" >&3 2>&1 & child=$!
for i in $(seq 250); do [ -s said ] && break; kill -0 $child || break; sleep 0.02; done
kill -INT $child; wait $child; code=$?; cat said; exit $code"#;

/// Runs in a set; `compare` wants six.
const RUNS: usize = 6;

/// What all commands share: the program, and recordings to copy.
pub struct World {
    shared: TempDir,
    sshd: OnceLock<Result<Sshd, String>>,
}

impl World {
    pub fn new() -> World {
        let shared = TempDir::new().unwrap();
        fs::create_dir(shared.path().join("bin")).unwrap();
        symlink(PROGRAM, shared.path().join("bin/linerate")).unwrap();
        let world = World { shared, sshd: OnceLock::new() };
        let folder = Scratch::new();
        for _ in 0..2 * RUNS {
            let arguments = "run simulated --profile quick --passes 6 --only network.tcp,in-host.tcp --quiet";
            let output = world.shell(&folder, &format!("linerate {arguments} --output recordings"), &[]);
            assert!(output.status.success(), "{}", text(&output));
        }
        fs::rename(folder.path().join("recordings"), world.shared.path().join("recordings")).unwrap();
        world
    }

    /// Runs a command as its rule says; the error says what went wrong.
    pub fn run(&self, one: &Documented) -> Result<(), String> {
        match one.kind {
            Kind::Script => {
                let folder = Scratch::new();
                let reports = one.text.lines().filter(|line| line.starts_with("linerate report"));
                reports.for_each(|line| self.recordings(&folder, line));
                // As CI runs a script: at the first command that fails it ends.
                let output = self.shell(&folder, &format!("set -e\n{}", simulated(&one.text)), &[]);
                expect(&output, of_script(&one.text))
            }
            Kind::Inline if one.text.split_whitespace().count() == 2 => {
                let output = self.shell(&Scratch::new(), &format!("{} --help", one.text), &[]);
                expect(&output, &[0])
            }
            _ => {
                let rule = rule(&one.text).ok_or("no rule is for it: say how to run it, in rules.rs")?;
                let text = filled(&one.text).replace("cargo run --release -- ", "linerate ");
                self.follow(rule, &text)
            }
        }
    }

    fn follow(&self, rule: &Rule, text: &str) -> Result<(), String> {
        let folder = Scratch::new();
        let whole = format!("{text}{}", rule.more);
        let output = match rule.how {
            How::NotRun(_) => return Ok(()),
            How::Stands => {
                self.recordings(&folder, text);
                self.shell(&folder, &whole, &[])
            }
            How::Simulated => {
                self.accepted(&folder, text)?;
                self.shell(&folder, &simulated(&whole), &[])
            }
            How::Terminal => {
                let command = format!("script -qec '{}' /dev/null", simulated(&whole));
                self.shell(&folder, &command, &[])
            }
            How::Live => {
                let ssh = self.sshd.get_or_init(|| Sshd::start("HOST")).as_ref()?.command();
                self.shell(&folder, &whole, &[("LINERATE_SSH", &ssh)])
            }
            How::Lab => self.in_lab(&folder, &whole)?,
            How::Interrupted => {
                let command = format!("sh -c '{INTERRUPTED}' sh '{whole}'");
                self.in_lab(&folder, &command)?
            }
        };
        expect(&output, rule.codes)
    }

    /// Whether a command is accepted as it stands, up to the place where it would write its recording.
    fn accepted(&self, folder: &Scratch, text: &str) -> Result<(), String> {
        let mut words: Vec<&str> = text.split(" | ").next().unwrap_or(text).split(' ').collect();
        if let Some(at) = words.iter().position(|word| *word == "--output") {
            words.drain(at..at + 2);
        }
        let command = words.join(" ");
        if command.contains("linerate calibrate") {
            // It opens no recording before it has measured; its options are read before its help is shown.
            return expect(&self.shell(folder, &format!("{command} --help"), &[]), &[0]);
        }
        let output = self.shell(folder, &format!("{command} --output /proc/nowhere"), &[]);
        expect(&output, &[5]).map_err(|what| format!("as it stands it is not accepted: {what}"))
    }

    /// Runs beside the lab that the command needs.
    fn in_lab(&self, folder: &Scratch, text: &str) -> Result<Output, String> {
        if !text.contains("lab up") {
            let name = if text.contains("slow") { " --name slow" } else { "" };
            expect(&self.shell(folder, &format!("linerate lab up --detach{name}"), &[]), &[0])?;
        }
        let output = self.shell(folder, text, &[]);
        expect(&self.shell(folder, "linerate lab down --all --kill", &[]), &[0, 2])?;
        Ok(output)
    }

    /// Puts recordings where the command names files or folders of them.
    fn recordings(&self, folder: &Scratch, text: &str) {
        if text.starts_with("linerate import") {
            return others(folder, text);
        }
        let mut words = text.split(' ').skip(1);
        let compares = words.next() == Some("compare");
        let sets = self.sets();
        for (number, word) in words.flat_map(|word| word.split(',')).enumerate() {
            let path = folder.path().join(word.trim_end_matches('/'));
            if word.ends_with(".jsonl") {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::copy(&sets[number % 2][0], &path).unwrap();
            } else if compares && number < 2 {
                fs::create_dir_all(&path).unwrap();
                for recording in &sets[number] {
                    fs::copy(recording, path.join(recording.file_name().unwrap())).unwrap();
                }
            }
        }
    }

    /// Two sets of recordings.
    fn sets(&self) -> Vec<Vec<PathBuf>> {
        let folder = self.shared.path().join("recordings");
        let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let mut files: Vec<_> =
            files.filter(|path| path.extension().is_some_and(|end| end == "jsonl")).collect();
        files.sort();
        assert_eq!(files.len(), 2 * RUNS);
        files.chunks(RUNS).map(<[PathBuf]>::to_vec).collect()
    }

    /// Runs a line or a script in a folder that is a home of its own.
    fn shell(&self, folder: &Scratch, text: &str, more: &[(&str, &str)]) -> Output {
        let path = std::env::var("PATH").unwrap_or_default();
        let home = folder.path();
        let mut command = Command::new("timeout");
        command.args(["--kill-after", "5", LIMIT, "sh", "-c", text]);
        command.env("PATH", format!("{}:{path}", self.shared.path().join("bin").display()));
        command
            .env("HOME", home)
            .env("XDG_RUNTIME_DIR", home.join("run"))
            .env("PROFILE", home.join("profile"));
        for name in ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "LINERATE_STATE", "LINERATE_CONFIG", "LINERATE_SSH"]
        {
            command.env_remove(name);
        }
        command.envs(more.iter().copied()).current_dir(home).stdin(Stdio::null());
        command.output().unwrap()
    }
}

/// Puts what other tools wrote where the command names files of them.
fn others(folder: &Scratch, text: &str) {
    const FILES: [(&str, &str); 2] = [(".json", "iperf3-tcp.json"), (".out", "netpipe-loopback.out")];
    for word in text.split(' ') {
        if let Some((_, file)) = FILES.iter().find(|(ending, _)| word.ends_with(ending)) {
            let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/imported/files").join(file);
            fs::copy(from, folder.path().join(word.replace('*', "1"))).unwrap();
        }
    }
}

/// A folder of one command.
struct Scratch(TempDir);

impl Scratch {
    fn new() -> Scratch {
        let folder = TempDir::new().unwrap();
        for name in FOLDERS {
            fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        DirBuilder::new().mode(0o700).create(folder.path().join("run")).unwrap();
        // What a command does not say of its length is short.
        let defaults = folder.path().join(".config/linerate");
        fs::create_dir_all(&defaults).unwrap();
        fs::write(defaults.join("config.toml"), "[run]\nprofile = \"quick\"\npasses = 1\n").unwrap();
        Scratch(folder)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

/// With something in the place of each placeholder.
fn filled(text: &str) -> String {
    let word = |word| PLACEHOLDERS.iter().find(|(name, _)| *name == word).map_or(word, |(_, filled)| *filled);
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// With a made-up machine in the place of all hosts.
fn simulated(text: &str) -> String {
    let line = |line: &str| {
        let mut before = "";
        let words = line.split(' ').map(|word| {
            // `linerate lab` is a command, and no target.
            let kept = if before == "linerate" { word } else { without_host(word) };
            before = word;
            kept
        });
        words.collect::<Vec<_>>().join(" ")
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

fn without_host(word: &str) -> &str {
    let bare = word.trim_matches('"');
    let is_host = bare.starts_with("ssh://") || bare == "lab" || bare.starts_with("lab:");
    if is_host { "simulated" } else { word }
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// That a command ended as it should, and did not say that it went wrong.
fn expect(output: &Output, codes: &[i32]) -> Result<(), String> {
    let code = output.status.code().unwrap_or(-1);
    if codes.contains(&code) {
        return Ok(());
    }
    let said = text(output);
    let last: Vec<&str> = said.lines().rev().take(12).collect();
    let last: Vec<&str> = last.into_iter().rev().collect();
    Err(format!("exit code {code}, expected {codes:?}\n{}", last.join("\n")))
}

#[test]
fn hosts_are_replaced_and_placeholders_filled() {
    assert_eq!(simulated("linerate run --quiet lab:mtu=9000"), "linerate run --quiet simulated");
    assert_eq!(simulated("x \"ssh://$a,ssh://$b\" y\nlab z"), "x simulated y\nsimulated z");
    assert_eq!(simulated("linerate lab up x.toml"), "linerate lab up x.toml");
    assert_eq!(filled("linerate explain NAME"), "linerate explain sender-cpu");
}
