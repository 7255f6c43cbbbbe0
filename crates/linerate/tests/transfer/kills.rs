//! Whatever of a transfer is killed, at whatever moment: the file is not there, or a part that says so, or whole; and the same
//! command completes it.

use super::{command, file, told};
use crate::user::ranks::{is_of, nobody_is_left};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How many are killed; of a usual test run.
const KILLS: &str = "LINERATE_TRANSFER_KILLS";
const USUAL: usize = 10;

/// A second over this path by one stream, in ranges of 4 MiB, each of which is there or not when it is killed.
const PATH: &str = "lab:rate=200Mb/s";
const BYTES: usize = 24 << 20;

/// The processes of a transfer: the program, and its hosts'.
fn processes(folder: &Path) -> Vec<i32> {
    let numbers = std::fs::read_dir("/proc").unwrap().flatten();
    let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    numbers.filter(|number| is_of(Path::new(&format!("/proc/{number}")), folder)).collect()
}

fn kill(process: i32) {
    let process = rustix::process::Pid::from_raw(process).unwrap();
    let _ = rustix::process::kill_process(process, rustix::process::Signal::KILL);
}

/// Kills all of it at once.
pub fn kill_all(folder: &Path) {
    processes(folder).into_iter().for_each(kill);
}

/// Waits until bytes are in the part, or it is over.
fn await_part(run: &mut Child, folder: &Path) {
    let begun = Instant::now();
    while run.try_wait().unwrap().is_none() && !folder.join("whole.linerate-part").exists() {
        assert!(begun.elapsed() < Duration::from_secs(60), "no part comes");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn what_is_killed_is_marked_and_goes_on() {
    let kills = std::env::var(KILLS).ok().and_then(|text| text.parse().ok()).unwrap_or(USUAL);
    let seed = rand::random::<u64>();
    println!("seed {seed}");
    let mut chance = ChaCha8Rng::seed_from_u64(seed);
    let folder = TempDir::new().unwrap();
    let content = file(&folder.path().join("file"), BYTES);
    let whole = folder.path().join("whole");
    let mut held = 0;
    for number in 0..kills {
        let mut run = command(folder.path(), PATH).args(["file", "whole", "--streams", "1"]).spawn().unwrap();
        await_part(&mut run, folder.path());
        std::thread::sleep(Duration::from_millis(chance.random_range(0..500)));
        // In turns all of it at once, and one of its processes, which the others are to notice.
        let all = processes(folder.path());
        let one = chance.random_range(0..all.len().max(1));
        let victims = if number % 2 == 0 { &all[..] } else { all.get(one..=one).unwrap_or_default() };
        victims.iter().for_each(|process| kill(*process));
        run.wait().unwrap();
        nobody_is_left(folder.path());
        let is_part = folder.path().join("whole.linerate-part").exists();
        match std::fs::read(&whole) {
            // It was quicker than the kill.
            Ok(came) => {
                assert!(came == content && !is_part, "kill {number}: what has the name is not whole");
                std::fs::remove_file(&whole).unwrap();
            }
            Err(_) => assert!(is_part, "kill {number}: neither a file nor a part"),
        }
        if number % 5 == 4 {
            let output = command(folder.path(), "lab").args(["file", "whole", "--json"]).output().unwrap();
            held += told(&output)["transfer"]["receiver"]["held_bytes"].as_u64().unwrap();
            assert!(std::fs::read(&whole).unwrap() == content, "kill {number}: what went on is not whole");
            std::fs::remove_file(&whole).unwrap();
        }
    }
    assert!(held > 0, "not one of them went on from what was there");
}

/// What is there and is not the source's is found, and sent again.
#[test]
fn a_part_of_another_state_is_mended() {
    let folder = TempDir::new().unwrap();
    let content = file(&folder.path().join("file"), BYTES);
    let range = 4 << 20;
    let mut part = content.clone();
    part[range + 5] ^= 1;
    std::fs::write(folder.path().join("whole.linerate-part"), &part).unwrap();
    let journal = format!("linerate.transfer/1 {BYTES} {range}\n0\n1\n2\n");
    std::fs::write(folder.path().join("whole.linerate-journal"), journal).unwrap();
    let output = command(folder.path(), "lab").args(["file", "whole", "--json"]).output().unwrap();
    let held = &told(&output)["transfer"]["receiver"]["held_bytes"];
    assert_eq!(held.as_u64(), Some(2 * range as u64), "the one that differs was sent again");
    assert!(std::fs::read(folder.path().join("whole")).unwrap() == content);
    assert!(!folder.path().join("whole.linerate-journal").exists());
}
