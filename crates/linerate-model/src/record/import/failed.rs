//! Output of a tool that measured nothing: which tool it is by its words, what it says, and what to try.

use super::{Read, complains, refuse, start};
use crate::vocabulary::TOOLS;

/// What a tool prints where it does not come to measure.
struct Sign {
    tool: &'static str,
    /// How a line of it begins, or what is in it.
    words: &'static [&'static str],
    /// What is to run at the other host.
    server: &'static str,
}

const SIGNS: &[Sign] = &[
    Sign { tool: "iperf3", words: &["iperf3: ", "Usage: iperf3 "], server: "iperf3 -s" },
    Sign {
        tool: "nuttcp",
        words: &["nuttcp-t: ", "nuttcp-r: ", "invalid ctlport", "invalid format option", "Usage: nuttcp"],
        server: "nuttcp -S",
    },
    Sign {
        tool: "iperf2",
        words: &["tcp connect failed: ", "connect failed: ", "read failed: ", "Usage: iperf ", "iperf: "],
        server: "iperf -s",
    },
    Sign {
        tool: "netperf",
        words: &["establish control", "netperf: ", "Usage: netperf ", "netserver listening on"],
        server: "netserver",
    },
    Sign { tool: "sockperf", words: &["sockperf: ", "Usage: sockperf "], server: "sockperf server --tcp" },
    Sign {
        tool: "qperf",
        words: &[": failed to connect", "qperf SERVERNODE", "qperf: ", ": failed to receive"],
        server: "qperf",
    },
    Sign { tool: "netpipe", words: &["Client: Cannot Connect", "NETPIPE USAGE", "NPtcp: "], server: "NPtcp" },
    Sign {
        tool: "perftest",
        words: &[
            "Couldn't connect to ",
            "Unable to init the socket connection",
            "  ib_write_bw ",
            "IB device",
            "ib_send_lat ",
        ],
        server: "the same program without a host",
    },
    Sign { tool: "neper", words: &["FATAL connect", "FATAL getaddrinfo", "tcp_rr: "], server: "tcp_rr" },
    Sign { tool: "fping", words: &["fping: ", "Usage: fping "], server: "" },
    Sign { tool: "ping", words: &["ping: ", "ping6: ", "Usage: ping ", "  ping [options] "], server: "" },
    Sign { tool: "xfr", words: &["xfr: ", "Usage: xfr "], server: "xfr serve" },
];

/// What is said, in small letters, and what to try; `{server}` is what runs at the other host.
const CAUSES: &[(&[&str], &str)] = &[
    (&["not found", "not recognized"], "install it, or run it where it is"),
    (&["busy"], "wait until its server is free"),
    (
        &["name or service", "unknown host", "name resolution", "could not be resolved"],
        "see how the host is called",
    ),
    (&["unreachable", "no route"], "see which way leads there: ip route get HOST"),
    (
        &[
            "refused",
            "cannot connect",
            "couldn't connect",
            "failed to connect",
            "are you sure",
            "could not establish",
            "unable to init",
        ],
        "start {server} at the other host, and see that its port is open",
    ),
    (
        &["timed out", "timeout", "no messages were received"],
        "see that {server} runs at the other host, and that no packet filter drops its port",
    ),
    (&["usage", "synopsis", "option", "parameter", "invalid"], "an option of it was wrong or missing"),
    (&["permission", "not permitted"], "see who may run it"),
];

/// What stands in a file where a tool was to run and did not, and what to try.
const NOT_RUN: &[(&str, &str)] = &[
    ("command not found", "install it, or run it where it is"),
    (": not found", "install it, or run it where it is"),
    ("is not recognized as an internal or external command", "install it, or run it where it is"),
    ("No such file or directory", "see what it is called, and where it is"),
    (
        "not enough slots available",
        "ask for fewer ranks, or name hosts that have more: --oversubscribe, --hostfile",
    ),
    ("srun: error:", "see what the scheduler refuses: srun --test-only"),
    ("sbatch: error:", "see what the scheduler refuses: sbatch --test-only"),
    ("slurmstepd: error:", "see the end of the job: sacct -j JOB"),
    ("ssh: ", "see that ssh reaches the host: ssh HOST true"),
    ("Permission denied (publickey", "see that ssh reaches the host: ssh HOST true"),
    ("Name or service not known", "see how the host is called"),
    ("Connection refused", "start its server at the other host"),
    ("mpirun was unable to", "run it as it says, or on fewer hosts"),
    ("mpiexec was unable to", "run it as it says, or on fewer hosts"),
];

/// Whether what stands there where a tool did not run begins with a name and a colon, as of a scheduler.
pub(super) fn begins_with(name: &str) -> bool {
    NOT_RUN.iter().any(|(word, _)| word.strip_prefix(name).is_some_and(|rest| rest.starts_with(':')))
}

/// The longest part of a line that is repeated.
const LONGEST: usize = 160;

/// Far more than a tool that failed prints, its usage included.
const MOST_BYTES: usize = 64 << 10;

/// Refuses what a tool printed that did not come to measure.
pub(super) fn refuse_failed(text: &str) -> Read<()> {
    if text.len() > MOST_BYTES {
        return Ok(());
    }
    let of = |line: &str| SIGNS.iter().find(|sign| sign.words.iter().any(|word| line.contains(word)));
    let Some(sign) = text.lines().find_map(of) else { return refuse_not_run(text) };
    let its = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    // What it says of a failure, else its first line of those.
    let said = its().find(|line| complains(line) && of(line).is_some());
    let said = said.or(its().find(|line| of(line).is_some())).unwrap_or_default();
    refuse(format!("{} measured nothing: {}", sign.tool, start(said, LONGEST)), again(sign.tool, said))
}

fn refuse_not_run(text: &str) -> Read<()> {
    let of = |line: &str| NOT_RUN.iter().find(|(word, _)| line.contains(word));
    let found = text.lines().find_map(|line| Some((line.trim(), of(line)?)));
    found.map_or(Ok(()), |(line, (_, hint))| {
        refuse(
            format!("nothing was measured: {}", start(line, LONGEST)),
            format!("{hint}; then import what it prints"),
        )
    })
}

/// What to try where a tool says so, and how to run it again.
pub(super) fn again(tool: &str, said: &str) -> String {
    let again = TOOLS.iter().find(|known| known.name == tool).map_or("", |known| known.again);
    let said = said.to_lowercase();
    let cause = CAUSES.iter().find(|(words, _)| words.iter().any(|word| said.contains(word)));
    let server = SIGNS.iter().find(|sign| sign.tool == tool).map_or("", |sign| sign.server);
    match cause {
        Some((_, cause)) if !(server.is_empty() && cause.contains("{server}")) => {
            format!("{}; then {again}", cause.replace("{server}", server))
        }
        _ => again.into(),
    }
}
