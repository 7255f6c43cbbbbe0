//! The remote shell, over loopback, with real commands.

use super::*;
use proptest::prelude::*;
use std::io::Cursor;
use std::net::Ipv4Addr;
use std::time::{Duration, Instant};

fn words(text: &str) -> Vec<String> {
    ["host", text].map(String::from).to_vec()
}

fn asked(access: &Access, command: &str) -> crate::Result<u8> {
    let lent = Lent::to_own_user(access)?;
    call::main(lent.name(), &words(command))
}

#[test]
fn a_command_runs_with_its_exit_code() {
    let (_served, access) = Served::at(Ipv4Addr::LOCALHOST.into(), Box::new(plain)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("there");
    assert_eq!(asked(&access, &format!("echo 1 > {}; exit 7", file.display())).unwrap(), 7);
    assert_eq!(std::fs::read_to_string(file).unwrap(), "1\n");
    assert_eq!(asked(&access, "kill -9 $$").unwrap(), 255);
}

#[test]
fn who_serves_is_told_that_no_command_will_come() {
    let (served, access) = Served::at(Ipv4Addr::LOCALHOST.into(), Box::new(plain)).unwrap();
    let stranger = Access { secret: "0".repeat(32), ..access.clone() };
    assert!(stranger.forsake().is_err() && !served.is_forsaken());
    access.forsake().unwrap();
    assert!(served.is_forsaken());
}

#[test]
fn who_does_not_prove_itself_runs_nothing() {
    let (_served, access) = Served::at(Ipv4Addr::LOCALHOST.into(), Box::new(plain)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("there");
    let command = format!("echo 1 > {}", file.display());
    let wrong = Access { secret: "0".repeat(32), ..access.clone() };
    assert!(asked(&wrong, &command).is_err());
    let another = Access { fingerprint: "0".repeat(64), ..access.clone() };
    assert!(asked(&another, &command).is_err());
    assert!(!file.exists());
    // The same with what opens it: the test can fail.
    assert_eq!(asked(&access, &command).unwrap(), 0);
    assert!(file.exists());
}

#[test]
fn commands_end_with_the_session() {
    let (served, access) = Served::at(Ipv4Addr::LOCALHOST.into(), Box::new(plain)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let command = format!("sleep 600 & echo $! > {}; wait", file.display());
    let caller = std::thread::spawn(move || asked(&access, &command));
    let begun = Instant::now();
    let pid = loop {
        match std::fs::read_to_string(&file).ok().and_then(|text| text.trim().parse::<u32>().ok()) {
            Some(pid) => break pid,
            None => assert!(begun.elapsed() < Duration::from_secs(10)),
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let goes_on =
        || std::fs::read_to_string(format!("/proc/{pid}/cmdline")).is_ok_and(|line| !line.is_empty());
    // Between its fork and its program it has no words.
    while !goes_on() {
        assert!(begun.elapsed() < Duration::from_secs(10));
    }
    drop(served);
    assert!(caller.join().unwrap().is_err(), "its caller is told nothing more");
    let deadline = Instant::now() + Duration::from_secs(15);
    while goes_on() {
        assert!(Instant::now() < deadline, "it was left behind");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn what_a_command_leaves_behind_ends_with_it() {
    let (_served, access) = Served::at(Ipv4Addr::LOCALHOST.into(), Box::new(plain)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    assert_eq!(asked(&access, &format!("sleep 600 & echo $! > {}; exit 3", file.display())).unwrap(), 3);
    let pid = std::fs::read_to_string(&file).unwrap();
    let line = || std::fs::read_to_string(format!("/proc/{}/cmdline", pid.trim())).unwrap_or_default();
    let deadline = Instant::now() + Duration::from_secs(5);
    while line().contains("sleep") {
        assert!(Instant::now() < deadline, "it was left behind");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn who_says_nothing_is_hung_up_on() {
    let (_served, access) = Served::at(Ipv4Addr::LOCALHOST.into(), Box::new(plain)).unwrap();
    let mut silent = std::net::TcpStream::connect(access.address).unwrap();
    silent.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let begun = Instant::now();
    // The end, or a reset: it is told nothing before.
    assert!(matches!(silent.read(&mut [0; 100]), Ok(0) | Err(_)));
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
}

#[test]
fn what_opens_it_is_lent_to_the_own_user_by_name() {
    let (_served, access) = Served::at(Ipv4Addr::LOCALHOST.into(), Box::new(plain)).unwrap();
    let lent = Lent::to_own_user(&access).unwrap();
    assert!(!lent.name().contains(&access.secret));
    assert_eq!(call::borrowed(lent.name()).unwrap(), access);
    let name = lent.name().to_owned();
    drop(lent);
    let deadline = Instant::now() + Duration::from_secs(5);
    while call::borrowed(&name).is_ok() {
        assert!(Instant::now() < deadline, "it is lent for ever");
    }
}

#[test]
fn what_a_command_says_comes_whole() {
    for said in [Said::Output(vec![7; LONGEST]), Said::Errors(Vec::new()), Said::Ended(255)] {
        let mut bytes = Vec::new();
        said.write(&mut bytes).unwrap();
        assert_eq!(Said::read(&mut Cursor::new(bytes)).unwrap(), said);
    }
}

proptest! {
    #[test]
    fn no_bytes_make_it_fail_badly(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        if let Ok(Said::Output(said) | Said::Errors(said)) = Said::read(&mut Cursor::new(&bytes)) {
            prop_assert!(said.len() < bytes.len());
        }
    }
}
