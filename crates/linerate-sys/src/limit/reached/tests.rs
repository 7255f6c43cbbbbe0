//! Failed calls on made-up hosts: which limit is told.

use super::*;
use std::io;

const MOUNT: &str = "1 2 0:3 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n";

/// What a call says that failed so, in a group that may have three processes and has as many as said.
fn said(
    call: &'static str,
    number: i32,
    current: &str,
    limit: &dyn Fn(Resource) -> Option<u64>,
) -> Option<String> {
    let root = std::env::temp_dir().join(format!("linerate-limit-{}-{call}{number}", std::process::id()));
    let files = [
        ("proc/self/cgroup", "8:pids:/build.service\n"),
        ("proc/self/mountinfo", MOUNT),
        ("proc/self/statm", "1 1 1"),
        ("proc/sys/kernel/threads-max", "4711\n"),
        ("sys/fs/cgroup/pids/build.service/pids.max", "3\n"),
        ("sys/fs/cgroup/pids/build.service/pids.current", current),
    ];
    for (path, text) in files {
        fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
        fs::write(root.join(path), text).unwrap();
    }
    let error = Error::new(call, "it", io::Error::from_raw_os_error(number));
    let found = on(&Host { root: &root, limit, is_root: false }, &error);
    fs::remove_dir_all(&root).unwrap();
    found.map(|found| format!("{}; {}", found.what, found.hint))
}

#[test]
fn a_limit_is_told_with_its_value_and_who_set_it() {
    let none = |_| None;
    let only = |wanted: Resource| move |resource| (resource == wanted).then_some(2048);
    let full = said("start", libc::EAGAIN, "3", &none).unwrap();
    assert!(full.contains("is 3 processes") && full.contains("unit build.service"), "{full}");
    assert!(full.contains("systemctl set-property build.service TasksMax="), "{full}");
    let cases = [
        ("pthread_create", libc::EAGAIN, Resource::Nproc, "2048 processes and threads of a user"),
        ("pthread_create", libc::EAGAIN, Resource::As, "2 KiB of address space"),
        ("pthread_create", libc::EAGAIN, Resource::Data, "2 KiB of data"),
        ("socket", libc::EMFILE, Resource::Nofile, "2048 open files"),
        ("write", libc::EFBIG, Resource::Fsize, "2 KiB a file"),
        ("io_uring_setup", libc::ENOMEM, Resource::Memlock, "2 KiB of locked memory"),
        ("mmap", libc::ENOMEM, Resource::As, "2 KiB of address space"),
        ("mmap", libc::ENOMEM, Resource::Data, "2 KiB of data"),
    ];
    for (call, number, resource, part) in cases {
        let told = said(call, number, "0", &only(resource)).unwrap_or_default();
        assert!(told.contains(part), "{call} {number}: {told}");
    }
    let machine = said("start", libc::EAGAIN, "0", &none).unwrap();
    assert!(machine.contains("4711") && machine.contains("kernel.threads-max"), "{machine}");
}

#[test]
fn what_is_no_limit_is_none() {
    let all = |_| Some(1 << 40);
    for (call, number) in
        [("recv", libc::EAGAIN), ("connect", libc::ECONNREFUSED), ("bind", libc::EADDRINUSE)]
    {
        assert_eq!(said(call, number, "3", &all), None, "{call}");
    }
    let none = |_| None;
    for (call, number) in [("socket", libc::EMFILE), ("write", libc::EFBIG), ("mmap", libc::ENOMEM)] {
        assert_eq!(said(call, number, "0", &none), None, "{call}");
    }
}

#[test]
fn a_limit_of_cpu_time_is_met_within_its_ticks() {
    let second = 1_000_000_000;
    assert!(is_all_of(1, second) && is_all_of(1, second / 10 * 8) && is_all_of(10, 9 * second));
    assert!(!is_all_of(1, second / 2) && !is_all_of(10, 8 * second) && !is_all_of(u64::MAX, second));
}
