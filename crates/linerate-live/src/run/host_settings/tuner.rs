//! Programs that change a host's settings by themselves, by the names that the kernel has of them.

use std::collections::BTreeSet;
use std::fs;

/// Each as its process is called, which the kernel cuts after 15 bytes.
const TUNERS: &[&str] = &["tuned", "bpftune", "power-profiles-", "tlp", "auto-cpufreq"];

/// Those that are at work on this machine, each once.
pub fn at_work() -> Vec<&'static str> {
    let processes = fs::read_dir("/proc").into_iter().flatten();
    let is_number = |name: &String| name.bytes().all(|byte| byte.is_ascii_digit());
    let numbers = processes.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).filter(is_number);
    let names: BTreeSet<String> =
        numbers.filter_map(|number| fs::read_to_string(format!("/proc/{number}/comm")).ok()).collect();
    TUNERS.iter().copied().filter(|tuner| names.iter().any(|name| name.trim_end() == *tuner)).collect()
}

/// What to do about them, in a sentence.
pub fn hint() -> String {
    match at_work()[..] {
        [] => "is another tuner at work, tuned or bpftune? Stop it, and search again".into(),
        ref found => format!("{} is at work on that host: stop it, and search again", found.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::CommandExt;
    use std::process::Command;
    use tempfile::TempDir;

    #[test]
    fn a_tuner_at_work_is_named() {
        let folder = TempDir::new().unwrap();
        let program = folder.path().join("bpftune");
        fs::copy("/bin/sleep", &program).unwrap();
        let mut tuner = Command::new(&program).arg0("bpftune").arg("60").spawn().unwrap();
        // It has its name from the moment of its execve(2), before which spawn does not return.
        let (found, said) = (at_work(), hint());
        tuner.kill().unwrap();
        tuner.wait().unwrap();
        assert!(found.contains(&"bpftune"), "{found:?}");
        assert!(said.contains("bpftune") && said.contains("is at work on that host"), "{said}");
    }
}
