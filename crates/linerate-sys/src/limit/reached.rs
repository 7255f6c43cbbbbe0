//! Which limit of its host a failed call has met: its value, who set it, what to try.

use crate::Error;
use crate::control_group::{Group, groups};
use crate::{allocation, cpu_time, namespace};
use rustix::process::{Resource, getrlimit, getuid};
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;

/// A limit that a call has met.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reached {
    /// Which one, its value, and who set it.
    pub what: String,
    /// What to try.
    pub hint: String,
}

/// Where the files of the kernel are looked for, and what the process may have.
struct Host<'h> {
    root: &'h Path,
    limit: &'h dyn Fn(Resource) -> Option<u64>,
    is_root: bool,
}

/// The answers of the kernel that mean a limit, of which calls (all where none is named), and how it is found.
struct Kind {
    errors: &'static [i32],
    calls: &'static [&'static str],
    find: fn(&Host<'_>) -> Option<Reached>,
}

/// Calls that make a process or a thread.
const STARTS: &[&str] = &["start", "pthread_create", "clone", "fork"];
/// Calls that lock memory.
const LOCKS: &[&str] =
    &["mlock", "io_uring_setup", "io_uring_register", "setsockopt(PACKET_RX_RING)", "mmap(MAP_LOCKED)"];

/// The first that fits and finds something is told.
const KINDS: &[Kind] = &[
    Kind { errors: &[libc::EAGAIN], calls: STARTS, find: processes },
    Kind { errors: &[libc::EMFILE], calls: &[], find: descriptors },
    Kind { errors: &[libc::ENFILE], calls: &[], find: files_of_all },
    Kind { errors: &[libc::EFBIG], calls: &[], find: file_bytes },
    Kind { errors: &[libc::ENOMEM, libc::EAGAIN, libc::EPERM], calls: LOCKS, find: locked_bytes },
    Kind { errors: &[libc::ENOMEM], calls: &[], find: memory },
];

/// The limit that a failed call has met; none where it failed for something else.
pub fn reached(error: &Error) -> Option<Reached> {
    on(&this_host(), error)
}

/// The limit of this process's memory, where it has one.
pub fn address_space() -> Option<Reached> {
    memory_of_process(&this_host())
}

/// The stack that this process may have, and how to have more.
pub fn stack_bytes() -> Option<(u64, Reached)> {
    let told = own(&this_host(), Resource::Stack, "of stack a process", 's', 1024, "8192")?;
    Some(((this_host().limit)(Resource::Stack)?, told))
}

/// The limit that ended a child, which has those of this process.
pub fn of_end(status: ExitStatus) -> Option<Reached> {
    let host = this_host();
    match (status.code(), status.signal()) {
        (Some(allocation::NO_MEMORY), _) => memory(&host),
        (_, Some(libc::SIGXFSZ)) => file_bytes(&host),
        (_, Some(libc::SIGXCPU)) => cpu_time(&host),
        (_, Some(libc::SIGKILL)) => {
            let used_ns = cpu_time::waited_children_ns();
            let all_used = (host.limit)(Resource::Cpu).is_some_and(|most| is_all_of(most, used_ns));
            all_used.then(|| cpu_time(&host)).flatten().or_else(|| killed_for_memory(&host))
        }
        _ => None,
    }
}

fn this_host() -> Host<'static> {
    let limit = &|resource| getrlimit(resource).current;
    // Who is root in a user namespace only is held to what an ordinary user is.
    let is_below = namespace::is_below_first_user_namespace().unwrap_or(false);
    Host { root: Path::new("/"), limit, is_root: getuid().is_root() && !is_below }
}

/// Whether so much CPU time is all that a limit gives. The limit is of ticks, each the whole of whoever runs then, and what was used
/// is told by the scheduler's clock: on a busy machine they differ by some ticks in a hundred.
fn is_all_of(most_seconds: u64, used_ns: u64) -> bool {
    let most_ns = most_seconds.saturating_mul(1_000_000_000);
    used_ns >= most_ns.saturating_sub(100_000_000 + most_ns / 10)
}

fn cpu_time(host: &Host<'_>) -> Option<Reached> {
    own(host, Resource::Cpu, "s of CPU time a process", 't', 1, "unlimited")
}

/// The group for whose limit the kernel has killed processes.
fn killed_for_memory(host: &Host<'_>) -> Option<Reached> {
    groups(host.root, "memory").into_iter().find_map(|group| {
        let counts = [("memory.events", "oom_kill"), ("memory.oom_control", "oom_kill")];
        let killed = counts.into_iter().find_map(|(file, word)| group.counter(file, word))?;
        let (file, most) = memory_of_group(&group)?;
        let found = of_group(&group, file, &binary(most), "of memory");
        (killed > 0).then(|| Reached { what: format!("{}; it was exceeded", found.what), ..found })
    })
}

/// The file of a group's limit of memory, and the limit.
fn memory_of_group(group: &Group) -> Option<(&'static str, u64)> {
    let limits = ["memory.max", "memory.limit_in_bytes"];
    let (file, most) = limits.into_iter().find_map(|file| Some((file, group.read(file)?.parse().ok()?)))?;
    // Version 1 says "no limit" with the largest multiple of the page size.
    (most < 1 << 62).then_some((file, most))
}

fn on(host: &Host<'_>, error: &Error) -> Option<Reached> {
    let number = error.source.raw_os_error()?;
    let fits = |kind: &&Kind| {
        kind.errors.contains(&number) && (kind.calls.is_empty() || kind.calls.contains(&error.call))
    };
    KINDS.iter().filter(fits).find_map(|kind| (kind.find)(host))
}

/// A limit that each process has of its own.
fn own(
    host: &Host<'_>,
    resource: Resource,
    what: &str,
    flag: char,
    unit: u64,
    wanted: &str,
) -> Option<Reached> {
    let value = (host.limit)(resource)? / unit;
    let unit = if unit == 1024 { " KiB" } else { "" };
    Some(Reached {
        what: format!(
            "the limit is {value}{unit} {what}, set by `ulimit -{flag}`, limits.conf(5) or the service's unit"
        ),
        hint: format!("raise it: ulimit -{flag} {wanted}; `ulimit -H{flag}` shows how far you may"),
    })
}

fn descriptors(host: &Host<'_>) -> Option<Reached> {
    own(host, Resource::Nofile, "open files a process", 'n', 1, "4096")
}

fn file_bytes(host: &Host<'_>) -> Option<Reached> {
    let found = own(host, Resource::Fsize, "a file", 'f', 1024, "unlimited")?;
    let hint = format!("{}; what a run wrote until then stays: linerate report FILE", found.hint);
    Some(Reached { hint, ..found })
}

fn locked_bytes(host: &Host<'_>) -> Option<Reached> {
    own(host, Resource::Memlock, "of locked memory", 'l', 1024, "unlimited")
}

fn files_of_all(host: &Host<'_>) -> Option<Reached> {
    of_machine(host, "fs/file-max", "open files of all processes")
}

/// A limit of the whole machine.
fn of_machine(host: &Host<'_>, setting: &str, what: &str) -> Option<Reached> {
    let value = fs::read_to_string(host.root.join("proc/sys").join(setting)).ok()?;
    let name = setting.replace('/', ".");
    Some(Reached {
        what: format!("the limit is {} {what}, set by {name}", value.trim()),
        hint: format!("end what has them, or raise it as root: sysctl -w {name}=NUMBER"),
    })
}

/// How many more a full group may seem to have: what met the limit is gone when it is looked at.
const NEARLY: u64 = 2;

/// The process's address space that a thread takes: its stack and what the allocator sets aside for it.
const THREAD_BYTES: u64 = 72 << 20;

/// What kept a process or thread from being made. A full group is sure; after it, what could have been it.
fn processes(host: &Host<'_>) -> Option<Reached> {
    let group = groups(host.root, "pids").into_iter().find_map(|group| {
        let most: u64 = group.read("pids.max")?.parse().ok()?;
        let now: u64 = group.read("pids.current")?.parse().ok()?;
        (now + NEARLY >= most)
            .then(|| of_group(&group, "pids.max", &most.to_string(), "processes and threads"))
    });
    // The kernel does not hold root to it: kernel/fork.c, copy_process.
    let of_user = || {
        let found = own(host, Resource::Nproc, "processes and threads of a user", 'u', 1, "1000")?;
        (!host.is_root).then_some(found)
    };
    let of_space = |space: &Space| {
        let most = (host.limit)(space.resource)?;
        let near = used_bytes(host, space.place).is_none_or(|used| used + THREAD_BYTES >= most);
        near.then(|| space.reached(host)).flatten()
    };
    group
        .or_else(|| SPACES.iter().find_map(of_space))
        .or_else(of_user)
        .or_else(|| of_machine(host, "kernel/threads-max", "processes and threads of all users"))
}

/// A limit of a process's memory, and where in /proc/self/statm stands what it has of it.
struct Space {
    resource: Resource,
    place: usize,
    what: &'static str,
    flag: char,
}

const SPACES: [Space; 2] = [
    Space { resource: Resource::As, place: 0, what: "of address space a process", flag: 'v' },
    Space { resource: Resource::Data, place: 5, what: "of data a process", flag: 'd' },
];

impl Space {
    fn reached(&self, host: &Host<'_>) -> Option<Reached> {
        own(host, self.resource, self.what, self.flag, 1024, "unlimited")
    }
}

/// What the process has of a kind of memory.
fn used_bytes(host: &Host<'_>, place: usize) -> Option<u64> {
    let text = fs::read_to_string(host.root.join("proc/self/statm")).ok()?;
    let pages = text.split_whitespace().nth(place)?.parse::<u64>().ok()?;
    pages.checked_mul(rustix::param::page_size() as u64)
}

fn memory_of_process(host: &Host<'_>) -> Option<Reached> {
    SPACES.iter().find_map(|space| space.reached(host))
}

fn memory(host: &Host<'_>) -> Option<Reached> {
    let of_group = || {
        groups(host.root, "memory").into_iter().find_map(|group| {
            let (file, most) = memory_of_group(&group)?;
            Some(of_group(&group, file, &binary(most), "of memory"))
        })
    };
    memory_of_process(host).or_else(of_group)
}

/// A size in the largest unit of which it is a whole number.
fn binary(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    let is_whole = |(shift, _): &(u32, &str)| bytes > 0 && bytes.trailing_zeros() >= *shift;
    units
        .into_iter()
        .find(is_whole)
        .map_or(format!("{bytes} B"), |(shift, unit)| format!("{} {unit}", bytes >> shift))
}

fn of_group(group: &Group, file: &str, value: &str, what: &str) -> Reached {
    let owner = group.owner().map_or(String::new(), |owner| format!(", which is {owner}"));
    Reached {
        what: format!(
            "the limit is {value} {what}, set by {file} of the control group {}{owner}",
            group.name
        ),
        hint: group_hint(group, file),
    }
}

/// How who made a group raises its limit: the beginning of the owner, and what is typed for processes and for memory.
const BY_OWNER: &[(&str, [&str; 2])] = &[
    (
        "the systemd unit ",
        ["systemctl set-property {} TasksMax=infinity", "systemctl set-property {} MemoryMax=infinity"],
    ),
    (
        "the Docker container ",
        ["docker update --pids-limit -1 {}", "docker update --memory 8g --memory-swap -1 {}"],
    ),
    ("the Podman container ", ["podman update --pids-limit -1 {}", "podman update --memory 8g {}"]),
    ("the Kubernetes ", ["podPidsLimit of the kubelet", "limits.memory of the container"]),
    ("the Slurm job ", ["who runs the cluster can", "sbatch --mem"]),
];

fn group_hint(group: &Group, file: &str) -> String {
    let (owner, is_memory) = (group.owner().unwrap_or_default(), file.starts_with("memory"));
    let by_owner = BY_OWNER.iter().find_map(|(begin, hints)| {
        let named = owner.strip_prefix(begin)?;
        Some(hints[usize::from(is_memory)].replace("{}", named))
    });
    // Version 1 has a number for it where memory is meant.
    let none = if file == "memory.limit_in_bytes" { "-1" } else { "max" };
    let by_file = || format!("as root: echo {none} > {}", group.directory.join(file).display());
    format!("raise it: {}", by_owner.unwrap_or_else(by_file))
}

#[cfg(test)]
mod tests;
