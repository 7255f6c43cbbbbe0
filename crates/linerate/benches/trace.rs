//! What a trace costs beside bpftrace, which answers the same question by its least script: how long it takes from the send of a message
//! until the answer wakes its sender.
//!
//!     cargo bench --bench trace [ROUNDS]
//!
//! Exchanges of 64 B over loopback, each end asleep on a CPU of its own. Blocks without a tracer, with ours and with bpftrace (Debian's)
//! stand in turn, so that what drifts is in all alike; what a tracer costs is told from pairs. It asks for root. Nothing here decides a
//! test.
#![allow(clippy::print_stdout, missing_docs)]

use linerate::statistic::{Estimate, median};
use linerate_sys::thread;
use linerate_sys::tracer::{Tracer, Watched};
use std::error::Error;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Exchanges of a block: their stamps fit into the room that ours has.
const EXCHANGES: u32 = 10_000;

/// Two events an exchange: its send, and the wake-up of who sent it.
const EVENTS: f64 = 2.0 * EXCHANGES as f64;

/// The tracepoints that ours leaves out to answer no more than that.
const BEYOND: [&str; 9] = [
    "net_dev_queue",
    "net_dev_start_xmit",
    "netif_rx",
    "napi_gro_receive_entry",
    "netif_receive_skb",
    "tcp_probe",
    "sk_data_ready",
    "sched_waking",
    "sched_switch",
];

/// The script: `$1` is the thread. It prints each time, as ours keeps each.
const PRINTS: &str = "
tracepoint:tcp:tcp_sendmsg_locked /tid == $1/ { @sent = nsecs; printf(\"s\\n\"); }
tracepoint:sched:sched_wakeup /args->pid == $1/ { printf(\"%llu\\n\", nsecs - @sent); }
";

/// The same, summed up in the kernel: one histogram of all that is left.
const SUMS: &str = "
tracepoint:tcp:tcp_sendmsg_locked /tid == $1/ { @sent = nsecs; }
tracepoint:sched:sched_wakeup /args->pid == $1/ { @took = hist(nsecs - @sent); @woken = count(); }
";

/// Mounts what bpftrace reads, for it alone, and becomes it.
const ALONE: &str = "mount -t tracefs tracefs /sys/kernel/tracing && mount -t debugfs debugfs /sys/kernel/debug; exec bpftrace -e \"$1\" \"$2\"";

type Done<T> = Result<T, Box<dyn Error>>;

/// What a block came to.
struct Block {
    round_trip_ns: f64,
    /// Events that were had, a second, until the last one was had; and those that were lost.
    had: u64,
    seconds: f64,
    lost: u64,
}

/// A connection whose other end answers on another CPU.
struct Exchanges(TcpStream);

impl Exchanges {
    fn begin([here, there]: [u32; 2]) -> Done<Exchanges> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let asks = TcpStream::connect(listener.local_addr()?)?;
        let (mut answers, _) = listener.accept()?;
        for socket in [&asks, &answers] {
            socket.set_nodelay(true)?;
        }
        std::thread::spawn(move || {
            let pinned = thread::pin(&[there]);
            let mut room = [0; 64];
            while pinned.is_ok() && answers.read_exact(&mut room).is_ok() && answers.write_all(&room).is_ok()
            {
            }
        });
        thread::pin(&[here])?;
        Ok(Exchanges(asks))
    }

    /// The median round trip.
    fn play(&mut self) -> Done<f64> {
        let (mut room, mut times) = ([1; 64], Vec::with_capacity(EXCHANGES as usize));
        for _ in 0..EXCHANGES {
            let begun = Instant::now();
            self.0.write_all(&room)?;
            self.0.read_exact(&mut room)?;
            times.push(begun.elapsed().as_nanos() as f64);
        }
        Ok(median(times).unwrap_or_default())
    }

    fn watched(&self) -> Done<Watched> {
        let [local_port, remote_port] = [self.0.local_addr()?.port(), self.0.peer_addr()?.port()];
        let thread = thread::current().number();
        Ok(Watched {
            thread,
            process: 0,
            network: None,
            local_port,
            remote_port,
            datagrams: false,
            cookie: 0,
            least_bytes: [0; 2],
        })
    }
}

fn alone(exchanges: &mut Exchanges) -> Done<Block> {
    let begun = Instant::now();
    let round_trip_ns = exchanges.play()?;
    Ok(Block { round_trip_ns, had: 0, seconds: begun.elapsed().as_secs_f64(), lost: 0 })
}

fn ours(exchanges: &mut Exchanges, tracer: &mut Tracer) -> Done<Block> {
    let watched = exchanges.watched()?;
    tracer.begin(watched)?;
    let begun = Instant::now();
    let round_trip_ns = exchanges.play()?;
    let (stamps, lost) = tracer.end()?;
    Ok(Block { round_trip_ns, had: stamps.len() as u64, seconds: begun.elapsed().as_secs_f64(), lost })
}

fn bpftrace(script: &str) -> Done<Child> {
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", ALONE, "sh", script, &thread::current().number().to_string()]);
    // As many pages as ours has room for, and lines without a bound.
    command.env("BPFTRACE_PERF_RB_PAGES", "512").env("BPFTRACE_STRLEN", "16");
    Ok(command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?)
}

/// What it prints is read by a thread, as its user's terminal would; events are its lines.
fn theirs(exchanges: &mut Exchanges, script: &str) -> Done<Block> {
    let mut child = bpftrace(script)?;
    let mut lines = BufReader::new(child.stdout.take().ok_or("no output")?);
    let mut first = String::new();
    lines.read_line(&mut first)?;
    if !first.starts_with("Attaching") {
        child.wait()?;
        return Err(format!("bpftrace said: {first}").into());
    }
    let reader = std::thread::spawn(move || {
        let (mut had, mut lost) = (0_u64, 0_u64);
        for line in lines.lines().map_while(Result::ok) {
            match line.strip_prefix("Lost ") {
                Some(rest) => lost += rest.split(' ').next().and_then(|n| n.parse::<u64>().ok()).unwrap_or(1),
                None => had += u64::from(line == "s" || line.parse::<u64>().is_ok()),
            }
        }
        (had, lost)
    });
    // Until it is tied to its tracepoints.
    std::thread::sleep(Duration::from_millis(700));
    let begun = Instant::now();
    let round_trip_ns = exchanges.play()?;
    Command::new("kill").args(["-INT", &child.id().to_string()]).status()?;
    child.wait()?;
    let (had, lost) = reader.join().map_err(|_| "a thread panicked")?;
    Ok(Block { round_trip_ns, had, seconds: begun.elapsed().as_secs_f64(), lost })
}

fn told(name: &str, of: &[Block], without: &[Block]) {
    let costs = of.iter().zip(without).map(|(one, none)| (one.round_trip_ns - none.round_trip_ns) / 2.0);
    let Some(cost) = Estimate::from_values(costs) else { return };
    let rate = median(of.iter().map(|one| one.had as f64 / one.seconds)).unwrap_or_default();
    let lost: u64 = of.iter().map(|one| one.lost).sum();
    let had: u64 = of.iter().map(|one| one.had).sum();
    let interval = match (cost.low, cost.high) {
        (Some(low), Some(high)) => format!("[{low:.0}, {high:.0}]"),
        _ => "(too few for an interval)".into(),
    };
    println!(
        "{name:<22} {:>6.0} ns an event {interval:<24} {had:>9} events had, {rate:>9.0} a second; {lost} lost",
        cost.median
    );
}

fn main() -> Done<()> {
    let rounds = std::env::args().skip(1).find_map(|arg| arg.parse().ok()).unwrap_or(8_usize);
    let cpus = thread::allowed_cpus()?;
    let ends = [cpus.first(), cpus.last()].map(|cpu| cpu.copied().unwrap_or_default());
    let mut exchanges = Exchanges::begin(ends)?;
    let (mut least, mut whole) = (Tracer::load(&BEYOND)?, Tracer::load(&[])?);
    let has_bpftrace = Command::new("bpftrace").arg("--version").output().is_ok();
    if !has_bpftrace {
        println!("bpftrace is not installed (Debian: bpftrace): only ours is told");
    }
    let [mut none, mut own, mut all, mut prints, mut sums] = [(); 5].map(|()| Vec::new());
    alone(&mut exchanges)?;
    for _ in 0..rounds {
        none.push(alone(&mut exchanges)?);
        own.push(ours(&mut exchanges, &mut least)?);
        all.push(ours(&mut exchanges, &mut whole)?);
        if has_bpftrace {
            prints.push(theirs(&mut exchanges, PRINTS)?);
            sums.push(theirs(&mut exchanges, SUMS)?);
        }
    }
    let untraced = median(none.iter().map(|one| one.round_trip_ns)).unwrap_or_default();
    println!(
        "{rounds} rounds of {EXCHANGES} exchanges, untraced {:.1} µs; {EVENTS:.0} events a block",
        untraced / 1e3
    );
    told("ours, the same two", &own, &none);
    told("bpftrace, each time", &prints, &none);
    told("bpftrace, a histogram", &sums, &none);
    let tax = |of: &[Block]| {
        let shares = of.iter().zip(&none).map(|(one, none)| one.round_trip_ns / none.round_trip_ns - 1.0);
        Estimate::from_values(shares).map_or(f64::NAN, |share| 100.0 * share.median)
    };
    println!(
        "all eleven points of ours take {:+.1} % of a round trip; its two {:+.1} %",
        tax(&all),
        tax(&own)
    );
    for (name, of) in [("each time", &prints), ("a histogram", &sums)] {
        let ratios = of.iter().zip(&own).zip(&none).map(|((theirs, ours), none)| {
            (theirs.round_trip_ns - none.round_trip_ns) / (ours.round_trip_ns - none.round_trip_ns).max(1.0)
        });
        if let Some(ratio) = Estimate::from_values(ratios) {
            println!(
                "bpftrace, {name}: {:.1} times the cost of ours, {:+.1} % of a round trip",
                ratio.median,
                tax(of)
            );
        }
    }
    Ok(())
}
