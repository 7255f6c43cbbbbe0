//! nuttcp: the receiver's rate, in words for programs.

use super::super::process::{After, Launch, Ready, serve};
use super::super::testbed::Testbed;
use super::super::work::{Kind, Outcome, Work};
use super::{Found, HERE, Peer, Play, cpu_of, limit, number_after};

pub const NUTTCP: Peer = Peer {
    name: "nuttcp",
    programs: &["nuttcp"],
    about: "streams, all flows in one process",
    get: "package nuttcp",
    version: &["-V"],
    help: &[],
    plays: &[
        Play::new(Kind::Stream, stream),
        Play { least_bytes: 18, ..Play::new(Kind::Datagrams, datagrams) },
    ],
};

/// What its client prints, and the CPU time of both.
fn client_output(work: &Work, testbed: &Testbed, more: &[&str]) -> Result<(String, Option<u64>), String> {
    let (control, data) = (testbed.port(), testbed.port());
    let (at, to) = (format!("-P{control}"), format!("-p{data}"));
    let server = Launch::new("nuttcp", work.cpus[1], ["-S", "--nofork", &at]);
    let (bytes, seconds) = (format!("-l{}", work.bytes), format!("-T{}", work.seconds));
    let flows = format!("-N{}", work.flows);
    let client = Launch::new("nuttcp", work.cpus[0], ["-t", &at, &to, &bytes, &seconds, "-fparse"]);
    // One flow is not said: it would be taken for the first of several.
    let client = if work.flows > 1 { client.and([flows]) } else { client };
    let client = client.and(more.iter().copied()).and([HERE]);
    let ended = serve(&server, (Ready::Tcp(control), After::Stopped), &client, limit(work))?;
    let cpu_ns = cpu_of(&ended);
    let [_, client] = ended;
    Ok((client.output, cpu_ns))
}

fn stream(_: &Found, work: &Work, testbed: &Testbed) -> Result<Outcome, String> {
    let (text, cpu_ns) = client_output(work, testbed, &[])?;
    let mbps = number_after(&text, "rate_Mbps=")?;
    let bytes = number_after(&text, "megabytes=")? * f64::from(1 << 20);
    Ok(Outcome { bps: Some(mbps * 1e6), ..Outcome::default() }.with_cpu(cpu_ns, bytes))
}

fn datagrams(_: &Found, work: &Work, testbed: &Testbed) -> Result<Outcome, String> {
    let (text, _) = client_output(work, testbed, &["-u", "-Ru"])?;
    let bps = number_after(&text, "rate_Mbps=")? * 1e6;
    Ok(Outcome { per_s: Some(bps / 8.0 / work.bytes as f64), bps: Some(bps), cpu_ms_per_gb: None })
}
