//! bpftrace beside a load: its least scripts, and what is read of what it prints.

use super::{Block, Done, Load};
use linerate_sys::thread;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The script: `$1` is the thread. It prints each time, as ours keeps each.
pub const PRINTS: &str = "
tracepoint:tcp:tcp_sendmsg_locked /tid == $1/ { @sent = nsecs; printf(\"s\\n\"); }
tracepoint:sched:sched_wakeup /args->pid == $1/ { printf(\"%llu\\n\", nsecs - @sent); }
";

/// The same, summed up in the kernel: one histogram of all that is left.
pub const SUMS: &str = "
tracepoint:tcp:tcp_sendmsg_locked /tid == $1/ { @sent = nsecs; }
tracepoint:sched:sched_wakeup /args->pid == $1/ { @took = hist(nsecs - @sent); @woken = count(); }
";

/// Each send.
pub const EACH: &str = "
tracepoint:tcp:tcp_sendmsg_locked /tid == $1/ { printf(\"%llu\\n\", nsecs); }
";

/// Mounts what bpftrace reads, for it alone, and becomes it.
const ALONE: &str = "mount -t tracefs tracefs /sys/kernel/tracing && mount -t debugfs debugfs /sys/kernel/debug; exec bpftrace -e \"$1\" \"$2\"";

fn bpftrace(script: &str) -> Done<Child> {
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", ALONE, "sh", script, &thread::current().number().to_string()]);
    // As many pages for each CPU as ours has room for in all.
    command.env("BPFTRACE_PERF_RB_PAGES", "512").env("BPFTRACE_STRLEN", "16");
    Ok(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?)
}

/// Events that came, and those that it says it lost.
#[derive(Default)]
struct Told {
    had: AtomicU64,
    lost: AtomicU64,
}

impl Told {
    /// Events are its lines.
    fn read(&self, lines: impl BufRead) {
        for line in lines.lines().map_while(Result::ok) {
            match line.strip_prefix("Lost ") {
                Some(rest) => {
                    let lost = rest.split(' ').next().and_then(|n| n.parse::<u64>().ok()).unwrap_or(1);
                    self.lost.fetch_add(lost, Ordering::Relaxed);
                }
                None if line == "s" || line.parse::<u64>().is_ok() => {
                    self.had.fetch_add(1, Ordering::Relaxed);
                }
                None => {}
            }
        }
    }
}

/// What it prints is read by a thread, as its user's terminal would.
pub fn theirs(load: &mut dyn Load, script: &str) -> Done<Block> {
    let mut child = bpftrace(script)?;
    let mut lines = BufReader::new(child.stdout.take().ok_or("no output")?);
    let errors = BufReader::new(child.stderr.take().ok_or("no output")?);
    let mut first = String::new();
    lines.read_line(&mut first)?;
    if !first.starts_with("Attaching") {
        child.wait()?;
        let said: Vec<String> = errors.lines().map_while(Result::ok).collect();
        return Err(format!("bpftrace said: {first}{}", said.join(" ")).into());
    }
    let told = Arc::new(Told::default());
    let readers = [Box::new(lines) as Box<dyn BufRead + Send>, Box::new(errors)].map(|lines| {
        let told = Arc::clone(&told);
        std::thread::spawn(move || told.read(lines))
    });
    // Until it is tied to its tracepoints.
    std::thread::sleep(Duration::from_millis(700));
    let begun = Instant::now();
    let took_ns = load.play()?;
    let played = begun.elapsed();
    let (by_then, seconds) = match script.contains("printf") {
        true => until_had(&told, begun, load.events()),
        false => (0, 0.0),
    };
    Command::new("kill").args(["-INT", &child.id().to_string()]).status()?;
    child.wait()?;
    readers.into_iter().try_for_each(|reader| reader.join().map_err(|_| "a thread panicked"))?;
    let had = told.had.load(Ordering::Relaxed);
    let seconds = seconds.max(played.as_secs_f64());
    Ok(Block { took_ns, had, lost: told.lost.load(Ordering::Relaxed), by_then, seconds })
}

/// How many were had when it was nineteen of twenty, for what is printed into a pipe comes in pieces; or when no more came.
fn until_had(told: &Told, begun: Instant, events: u64) -> (u64, f64) {
    const QUIET: Duration = Duration::from_millis(500);
    let (mut last, mut moved) = (0, Instant::now());
    loop {
        let had = told.had.load(Ordering::Relaxed);
        if had > last {
            (last, moved) = (had, Instant::now());
        }
        if 20 * had >= 19 * events || moved.elapsed() > QUIET {
            return (last, moved.duration_since(begun).as_secs_f64());
        }
        std::thread::sleep(Duration::from_micros(100));
    }
}
