//! Chromium, started without a network and ended with everything that it started.

use crate::page::{Page, View};
use rustix::process::{Pid, Signal, kill_process_group};
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long anything in the browser may take before a test fails.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Nothing that asks the world for anything, and nothing that a test machine may not have.
const OPTIONS: &[&str] = &[
    "--headless",
    "--remote-debugging-port=0",
    // The pages are the tests' own, and the sandbox cannot be set up by root or in most containers.
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-sync",
    "--disable-breakpad",
    "--disable-crash-reporter",
    "--disable-features=OptimizationHints,MediaRouter,Translate",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--metrics-recording-only",
    "--no-default-browser-check",
    "--no-first-run",
    "--no-pings",
    "--password-store=basic",
    "--force-color-profile=srgb",
    "--hide-scrollbars",
];

/// A running browser. Dropping it ends every process that it started.
pub struct Browser {
    child: Child,
    profile: TempDir,
    connection: Option<headless_chrome::Browser>,
}

impl Browser {
    /// Starts one; none where it is not installed, which is then said in the name of the test.
    #[expect(clippy::print_stdout, reason = "a skip is said on standard output, where ./test counts it")]
    pub fn start(test: &str) -> Option<Browser> {
        if Command::new("chromium").arg("--version").output().is_err() {
            println!("SKIP: {test}: chromium is not installed");
            return None;
        }
        let profile = tempfile::tempdir().unwrap();
        let mut child = Command::new("chromium")
            .args(OPTIONS)
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .unwrap();
        let lines = lines(child.stderr.take().unwrap());
        let mut browser = Browser { child, profile, connection: None };
        let address = address(&lines);
        browser.connection = Some(headless_chrome::Browser::connect_with_timeout(address, PATIENCE).unwrap());
        Some(browser)
    }

    /// Opens a file and waits until it is loaded.
    pub fn open(&self, path: &Path, view: View) -> Page {
        let tab = self.connection.as_ref().unwrap().new_tab().unwrap();
        Page::open(tab, path, view)
    }

    /// A word that is in the command line of each process of this browser.
    pub fn mark(&self) -> String {
        self.profile.path().display().to_string()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        self.connection = None;
        let group = Pid::from_child(&self.child);
        let _ = kill_process_group(group, Signal::KILL);
        let _ = self.child.wait();
        let deadline = Instant::now() + PATIENCE;
        while !processes(&self.mark()).is_empty() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// The processes that have `mark` in their command line and have not ended.
pub fn processes(mark: &str) -> Vec<String> {
    let folders = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let lines = folders.filter_map(|folder| std::fs::read(folder.path().join("cmdline")).ok());
    lines.map(|line| String::from_utf8_lossy(&line).into_owned()).filter(|line| line.contains(mark)).collect()
}

/// What the browser prints, read to the end so that it never waits for us.
fn lines(errors: ChildStderr) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(errors).lines().map_while(Result::ok) {
            let _ = sender.send(line);
        }
    });
    receiver
}

/// Where the browser can be spoken to.
fn address(lines: &Receiver<String>) -> String {
    let mut said = Vec::new();
    let deadline = Instant::now() + PATIENCE;
    while let Ok(line) = lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
        if let Some(address) = line.strip_prefix("DevTools listening on ") {
            return address.trim().to_owned();
        }
        said.push(line);
    }
    panic!("chromium does not say where it listens: {said:#?}");
}
