//! Chromium, started without a network and ended with everything that it started.

use super::devtools::DevTools;
use super::tab::{Page, View};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::json;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long anything in the browser may take before a test fails.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Nothing that asks the world for anything, and nothing that a test machine may not have.
const OPTIONS: &[&str] = &[
    "--headless",
    "--remote-debugging-pipe",
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
    devtools: Arc<Mutex<DevTools>>,
}

impl Browser {
    /// Starts one; none where it is not installed, which is then said in the name of the test.
    pub fn start(test: &str) -> Option<Browser> {
        if Command::new("chromium").arg("--version").output().is_err() {
            println!("SKIP: {test}: chromium is not installed");
            return None;
        }
        let profile = tempfile::tempdir().unwrap();
        // It reads what it is told from descriptor 3 and answers on 4.
        let mut child = Command::new("sh")
            .args(["-c", "exec chromium \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1", "sh"])
            .args(OPTIONS)
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .unwrap();
        let mut devtools = DevTools::new(child.stdin.take().unwrap(), child.stdout.take().unwrap());
        // It answers when it is up.
        devtools.call(None, "Browser.getVersion", json!({}));
        Some(Browser { child, profile, devtools: Arc::new(Mutex::new(devtools)) })
    }

    /// Opens a file and waits until it is loaded.
    pub fn open(&self, path: &Path, view: View) -> Page {
        Page::open(self.devtools.clone(), path, view)
    }

    /// A word that is in the command line of each process of this browser.
    pub fn mark(&self) -> String {
        self.profile.path().display().to_string()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
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
