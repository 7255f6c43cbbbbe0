//! A running program's TCP connections, read from outside: what the kernel counts of each, again and again for a while.
//!
//! Nothing of the program is touched, and it does not notice. Which connections are a process's `/proc/PID/fd` says; the kernel's
//! table of them is that of the process's own network namespace.

use super::tcp_info::{Field, last, moved};
use crate::record::{Level, RunningConnection, RunningProgram};
use crate::{Error, Result};
use linerate_sys::netlink::{SocketTable, TableSocket};
use linerate_sys::process::Process;
use linerate_sys::{namespace, probe, thread};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::os::linux::fs::MetadataExt;
use std::time::{Duration, Instant};

/// What is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Suspect {
    /// A process, by its number.
    Process(u32),
    /// What has this port at either end.
    Port(u16),
}

/// From one reading to the next, and the most readings: a longer time is read less often.
const EVERY: Duration = Duration::from_millis(100);
const MOST_READINGS: u32 = 600;

/// More connections than these are not kept.
const MOST_CONNECTIONS: usize = 4096;

/// Values of `tcp_info` that are read each time.
const LEVELS: &[&str] = &["notsent_bytes", "snd_wnd", "rtt", "snd_cwnd", "delivery_rate_app_limited"];

/// A connection as it was read so far.
struct Seen {
    first: TableSocket,
    begun: Instant,
    latest: TableSocket,
    ended: Instant,
    readings: u32,
    levels: BTreeMap<&'static str, Vec<f64>>,
}

/// Watches for so long, until it is to stop, or until the process has ended.
pub fn watch_program(suspect: Suspect, time: Duration, stop: &dyn Fn() -> bool) -> Result<RunningProgram> {
    let mut table = table(suspect)?;
    let process = match suspect {
        // A thread's number is none of a process: it is watched to the end of the time.
        Suspect::Process(pid) => Process::open(pid).ok().flatten(),
        Suspect::Port(_) => None,
    };
    let name = name(suspect);
    let every = EVERY.max(time / MOST_READINGS);
    let (begun, threads) = (Instant::now(), thread_times(suspect));
    let mut seen: BTreeMap<u64, Seen> = BTreeMap::new();
    let (mut readings, mut has_ended) = (0, false);
    loop {
        match read(&mut table, suspect, &mut seen) {
            // As it ends, what it has open becomes root's alone to see.
            Err(Error::Unavailable { .. }) if readings > 0 => has_ended = true,
            came => {
                came?;
                readings += 1;
            }
        }
        if has_ended || begun.elapsed() >= time || stop() {
            break;
        }
        let left = every.min(time.saturating_sub(begun.elapsed()));
        has_ended = has_ended_within(left, process.as_ref(), stop);
        if has_ended {
            break;
        }
    }
    let elapsed = begun.elapsed();
    let mut connections: Vec<RunningConnection> =
        seen.into_values().filter(|one| one.readings > 1).map(Seen::into_connection).collect();
    let carried = |one: &RunningConnection| one.sent_bps() + one.received_bps();
    connections.sort_by(|a, b| carried(b).total_cmp(&carried(a)));
    Ok(RunningProgram {
        name,
        duration_ns: elapsed.as_nanos() as u64,
        readings,
        // Of one that has ended the threads are gone, with what they took.
        busiest_thread: match has_ended {
            true => None,
            false => busiest(&threads, &thread_times(suspect), elapsed),
        },
        connections,
    })
}

/// What it takes to trace a connection: the table in which it stands, its row there, whose it is, and where.
pub type Busiest = (SocketTable, TableSocket, Option<u32>, u32);

/// The suspect's connection on which most segments with data come in a short time; whose it is, where that can be told, and the number of
/// its network namespace.
pub fn busiest_connection(suspect: Suspect) -> Result<Busiest> {
    let mut table = table(suspect)?;
    let mut seen = BTreeMap::new();
    read(&mut table, suspect, &mut seen)?;
    std::thread::sleep(EVERY);
    read(&mut table, suspect, &mut seen)?;
    let came = |one: &Seen| {
        Field::named("data_segs_in").and_then(|field| field.moved(&one.first.info, &one.latest.info))
    };
    let is_own = |one: &Seen| matches!(suspect, Suspect::Port(port) if one.first.local.port() == port);
    let most = seen.iter().max_by_key(|(_, one)| (came(one), is_own(one))).map(|(cookie, _)| *cookie);
    // Of a port's two ends on one host the one that has it itself is meant; how much came to each was not counted at one moment.
    let own_end = most.and_then(|cookie| {
        let far = &seen[&cookie].first;
        let is_end = |one: &Seen| one.first.local == far.remote && one.first.remote == far.local;
        seen.iter().find(|(_, one)| is_own(one) && is_end(one)).map(|(cookie, _)| *cookie)
    });
    let Some(busiest) = own_end.or(most).and_then(|cookie| seen.remove(&cookie)) else {
        let what = format!("{} has no TCP connection", name(suspect));
        return Err(Error::usage(what, "ss --tcp --processes shows whose there are"));
    };
    let (owner, of_network) = match suspect {
        Suspect::Process(pid) => (Some(pid), format!("/proc/{pid}/ns/net")),
        Suspect::Port(_) => (owner(busiest.first.inode), "/proc/thread-self/ns/net".into()),
    };
    let network = fs::metadata(&of_network).map_err(|error| Error::io("stat", of_network, error))?;
    Ok((table, busiest.latest, owner, network.st_ino() as u32))
}

/// Segments with data that a process has sent over its other TCP connections of this table, by the numbers of these.
pub fn sent_beside(
    table: &mut SocketTable,
    process: u32,
    watched: &TableSocket,
) -> Result<BTreeMap<u64, u64>> {
    let inodes = inodes(process)?;
    let all = table.connections()?.into_iter();
    let others = all.filter(|one| one.cookie != watched.cookie && inodes.contains(&one.inode));
    let sent = |one: TableSocket| Some((one.cookie, Field::named("data_segs_out")?.value(&one.info)?));
    Ok(others.filter_map(sent).collect())
}

/// The first process that has this socket open.
fn owner(inode: u32) -> Option<u32> {
    let all = fs::read_dir("/proc").ok()?.flatten();
    let mut pids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.find(|pid| inodes(*pid).is_ok_and(|open| open.contains(&inode)))
}

/// Waits until the next reading, or until it is to stop; says whether the process has ended.
fn has_ended_within(longest: Duration, process: Option<&Process>, stop: &dyn Fn() -> bool) -> bool {
    let until = Instant::now() + longest;
    loop {
        let left = EVERY.min(until.saturating_duration_since(Instant::now()));
        if left.is_zero() || stop() {
            return false;
        }
        match process {
            Some(process) if process.wait(left).unwrap_or(true) => return true,
            Some(_) => {}
            None => std::thread::sleep(left),
        }
    }
}

/// Reads all that is the suspect's once.
fn read(table: &mut SocketTable, suspect: Suspect, seen: &mut BTreeMap<u64, Seen>) -> Result<()> {
    let inodes = match suspect {
        Suspect::Process(pid) => inodes(pid)?,
        Suspect::Port(_) => BTreeSet::new(),
    };
    let is_its = |one: &TableSocket| match suspect {
        Suspect::Process(_) => inodes.contains(&one.inode),
        Suspect::Port(port) => [one.local.port(), one.remote.port()].contains(&port),
    };
    let all = table.connections()?;
    let at = Instant::now();
    for one in all.into_iter().filter(is_its) {
        if seen.len() >= MOST_CONNECTIONS && !seen.contains_key(&one.cookie) {
            continue;
        }
        let known = seen.entry(one.cookie).or_insert_with(|| Seen {
            first: one.clone(),
            begun: at,
            latest: one.clone(),
            ended: at,
            readings: 0,
            levels: BTreeMap::new(),
        });
        known.add(one, at);
    }
    Ok(())
}

impl Seen {
    fn add(&mut self, one: TableSocket, at: Instant) {
        let mut keep = |name, value: f64| self.levels.entry(name).or_default().push(value);
        keep("unread", f64::from(one.unread));
        keep("outstanding", f64::from(one.outstanding));
        for name in LEVELS {
            if let Some(value) = Field::named(name).and_then(|field| field.value(&one.info)) {
                keep(name, value as f64);
            }
        }
        self.readings += 1;
        (self.latest, self.ended) = (one, at);
    }

    fn into_connection(self) -> RunningConnection {
        let levels = self.levels.iter();
        RunningConnection {
            local: self.latest.local,
            remote: self.latest.remote,
            duration_ns: (self.ended - self.begun).as_nanos() as u64,
            readings: self.readings,
            congestion_control: self.latest.congestion_control,
            receive_buffer: self.latest.buffers.map(|[receive, _]| receive),
            send_buffer: self.latest.buffers.map(|[_, send]| send),
            moved: moved(&self.first.info, &self.latest.info),
            last: last(&self.latest.info),
            levels: levels
                .filter_map(|(name, values)| Some(((*name).to_owned(), Level::from_values(values)?)))
                .collect(),
        }
    }
}

/// The table of the suspect's network namespace: of a port, of this one.
fn table(suspect: Suspect) -> Result<SocketTable> {
    let Suspect::Process(pid) = suspect else { return Ok(SocketTable::open()?) };
    let path = format!("/proc/{pid}/ns/net");
    let gone = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            Error::usage(format!("no process has the number {pid}"), "try `pgrep NAME`, or --port PORT")
        }
        _ => not_ours(pid, error),
    };
    let theirs = fs::read_link(&path).map_err(gone)?;
    if fs::read_link("/proc/thread-self/ns/net").is_ok_and(|own| own == theirs) {
        return Ok(SocketTable::open()?);
    }
    let file = File::open(&path).map_err(gone)?;
    // A netlink socket stays in the namespace that it was opened in; the thread that went there ends.
    std::thread::scope(|scope| {
        let there = thread::start_within(scope, "sockets", || {
            namespace::enter(&[file.into()])?;
            SocketTable::open()
        })?;
        there.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)).map_err(Error::from)
    })
}

fn not_ours(pid: u32, error: std::io::Error) -> Error {
    match error.kind() {
        std::io::ErrorKind::PermissionDenied if probe::is_root() => Error::unavailable(
            format!(
                "what process {pid} has open may not be seen, though this is root: CAP_SYS_PTRACE is missing"
            ),
            "give it (docker run --cap-add SYS_PTRACE), or name its port: --port PORT",
        ),
        std::io::ErrorKind::PermissionDenied => Error::unavailable(
            format!("what process {pid} has open is its user's and root's alone to see"),
            "try it as that user or as root, or name its port: --port PORT",
        ),
        _ => Error::io("read", format!("/proc/{pid}"), error),
    }
}

/// The sockets that a process has open; none any more once it has ended.
fn inodes(pid: u32) -> Result<BTreeSet<u32>> {
    let open = match fs::read_dir(format!("/proc/{pid}/fd")) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(BTreeSet::new()),
        open => open.map_err(|error| not_ours(pid, error))?,
    };
    let inode = |entry: fs::DirEntry| {
        let link = fs::read_link(entry.path()).ok()?;
        link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
    };
    Ok(open.filter_map(|entry| inode(entry.ok()?)).collect())
}

/// The CPU time of each thread of a process, in nanoseconds.
fn thread_times(suspect: Suspect) -> BTreeMap<String, u64> {
    let Suspect::Process(pid) = suspect else { return BTreeMap::new() };
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let time = |task: fs::DirEntry| {
        let text = fs::read_to_string(task.path().join("schedstat")).ok()?;
        let ns = text.split_whitespace().next()?.parse().ok()?;
        Some((task.file_name().to_string_lossy().into_owned(), ns))
    };
    tasks.filter_map(time).collect()
}

/// The share of the time that the busiest thread had a CPU; one that began meanwhile had none before.
fn busiest(before: &BTreeMap<String, u64>, after: &BTreeMap<String, u64>, elapsed: Duration) -> Option<f64> {
    let had = |(task, ns): (&String, &u64)| ns.saturating_sub(before.get(task).copied().unwrap_or(0));
    let most = after.iter().map(had).max()?;
    Some(most as f64 / elapsed.as_nanos().max(1) as f64)
}

/// What it is called.
pub fn name(suspect: Suspect) -> String {
    match suspect {
        Suspect::Port(port) => format!("port {port}"),
        Suspect::Process(pid) => {
            let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
            match name.trim() {
                "" => format!("process {pid}"),
                name => format!("process {pid} ({name})"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::process::{Command, Stdio};

    #[test]
    fn the_own_connections_are_read_and_counted() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let mut client = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        let sent = std::thread::spawn(move || {
            for _ in 0..30 {
                client.write_all(&[1; 10_000]).unwrap();
                server.read_exact(&mut [0; 10_000]).unwrap();
                std::thread::sleep(Duration::from_millis(20));
            }
            (client, server)
        });
        let time = Duration::from_millis(400);
        for suspect in [Suspect::Port(port), Suspect::Process(std::process::id())] {
            let seen = watch_program(suspect, time, &|| false).unwrap();
            let of_port = |one: &&RunningConnection| one.remote.port() == port;
            let found: Vec<_> = seen.connections.iter().filter(of_port).collect();
            assert_eq!(found.len(), 1, "{suspect:?}: {seen:?}");
            assert!(seen.readings > 2 && found[0].readings > 2);
        }
        drop(sent.join().unwrap());
    }

    #[test]
    fn what_was_read_of_a_process_that_ends_is_kept() {
        let mut shell = Command::new("sh").args(["-c", "read line"]).stdin(Stdio::piped()).spawn().unwrap();
        let input = RefCell::new(shell.stdin.take());
        // It ends after the first reading, and nobody has waited for it.
        let stop = || {
            drop(input.take());
            false
        };
        let hour = Duration::from_secs(3600);
        let seen = watch_program(Suspect::Process(shell.id()), hour, &stop).unwrap();
        assert!(seen.readings > 0 && seen.duration_ns < hour.as_nanos() as u64, "{seen:?}");
        assert!(seen.name.ends_with("(sh)") && seen.busiest_thread.is_none(), "{seen:?}");
        shell.wait().unwrap();
    }

    #[test]
    fn no_process_is_an_error_with_a_hint() {
        let error = watch_program(Suspect::Process(u32::MAX >> 1), EVERY, &|| false).unwrap_err();
        assert!(error.hint().is_some_and(|hint| hint.contains("--port")), "{error}");
    }
}
