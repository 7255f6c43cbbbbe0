//! What a trace holds of the kernel's while it runs, and that nothing of it is left.

use super::{command, is_of};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The numbers of the programs that each of these processes holds by descriptors (bpf_prog_show_fdinfo()), and whether one of them
/// runs: a link ties it to its tracepoint (bpf_link_show_fdinfo()).
fn held_programs(of: impl Fn(&Path) -> bool) -> (BTreeMap<PathBuf, BTreeSet<String>>, bool) {
    let (mut held, mut runs) = (BTreeMap::<PathBuf, BTreeSet<String>>::new(), false);
    let all = std::fs::read_dir("/proc").unwrap().flatten().map(|process| process.path());
    for process in all.filter(|process| of(process)) {
        let descriptors = std::fs::read_dir(process.join("fdinfo")).into_iter().flatten().flatten();
        for text in descriptors.filter_map(|one| std::fs::read_to_string(one.path()).ok()) {
            let number = text.split("prog_id:").nth(1).and_then(|rest| rest.split_whitespace().next());
            if let Some(number) = number {
                held.entry(process.clone()).or_default().insert(number.to_owned());
                runs |= text.contains("link_type:");
            }
        }
    }
    (held, runs)
}

fn programs(of: impl Fn(&Path) -> bool) -> BTreeSet<String> {
    held_programs(of).0.into_values().flatten().collect()
}

/// Programs, maps, ring and links are held by descriptors: they go with the agents, which go with who started them.
#[test]
fn killed_it_leaves_nothing_in_the_kernel() {
    if let Err(why) = linerate_sys::probe::tracing() {
        return println!("SKIP: killed_it_leaves_nothing_in_the_kernel: {why}");
    }
    let folder = TempDir::new().unwrap();
    let mut child = command(folder.path(), "lab").args(["--blocks", "200", "-q"]).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    let wait = || {
        assert!(Instant::now() < deadline, "{:?}", programs(|_| true));
        std::thread::sleep(Duration::from_millis(20));
    };
    let held = loop {
        let (held, runs) = held_programs(|process| is_of(process, folder.path()));
        if runs {
            break held;
        }
        wait();
    };
    // Both hosts have loaded some ten, and are of one kernel: one stamps by the other's.
    assert!(held.len() == 1 && held.values().all(|own| own.len() >= 8), "{held:?}");
    let held: BTreeSet<String> = held.into_values().flatten().collect();
    child.kill().unwrap();
    child.wait().unwrap();
    while programs(|_| true).iter().any(|program| held.contains(program)) {
        wait();
    }
    assert!(!Path::new("/sys/fs/bpf/linerate").exists(), "nothing is pinned");
}
