//! iperf 2: the rate that its server prints as CSV when the client is done.

use super::super::process::{After, Launch, Ready, serve};
use super::super::testbed::Testbed;
use super::super::work::{Kind, Outcome, Work};
use super::{Found, HERE, Peer, Play, cpu_of, limit};

pub const IPERF: Peer = Peer {
    name: "iperf",
    programs: &["iperf"],
    about: "iperf 2: streams, a thread each; bounce-back",
    get: "package iperf; newer: sourceforge.net/projects/iperf2",
    version: &["--version"],
    help: &[],
    plays: &[
        Play::new(Kind::Stream, stream),
        Play { least_bytes: 18, ..Play::new(Kind::Datagrams, datagrams) },
    ],
};

/// What its server wrote, the sum of all flows last, and the CPU time of both.
fn told(
    work: &Work,
    testbed: &Testbed,
    (server, client): (&[&str], &[&str]),
) -> Result<(String, Option<u64>), String> {
    let port = testbed.port();
    let ready = if server.contains(&"-u") { Ready::Udp(port) } else { Ready::Tcp(port) };
    let (at, bytes) = (port.to_string(), work.bytes.to_string());
    let (seconds, flows) = (work.seconds.to_string(), work.flows.to_string());
    let serves = ["-s", "-p", &at, "-l", &bytes, "-P", &flows, "-y", "C"];
    let server = Launch::new("iperf", work.cpus[1], serves).and(server.iter().copied());
    let words = ["-c", HERE, "-p", &at, "-l", &bytes, "-t", &seconds, "-P", &flows, "-y", "C"];
    let client = Launch::new("iperf", work.cpus[0], words).and(client.iter().copied());
    let ended = serve(&server, (ready, After::Stopped), &client, limit(work))?;
    let cpu_ns = cpu_of(&ended);
    let [server, _] = ended;
    Ok((server.output, cpu_ns))
}

/// The fields of the line that sums all flows; of a single flow the only one.
fn sum(text: &str) -> Result<Vec<f64>, String> {
    let fields = |line: &str| -> Vec<String> { line.split(',').map(str::to_owned).collect() };
    let lines: Vec<Vec<String>> = text.lines().map(fields).filter(|fields| fields.len() > 8).collect();
    // A sum has no identifier; it is -1.
    let summed = lines.iter().rev().find(|fields| fields[5] == "-1").or(lines.last());
    let summed = summed.ok_or("its server printed no result")?;
    Ok(summed.iter().skip(7).map(|field| field.parse().unwrap_or(f64::NAN)).collect())
}

fn stream(_: &Found, work: &Work, testbed: &Testbed) -> Result<Outcome, String> {
    let (text, cpu_ns) = told(work, testbed, (&[], &[]))?;
    let [bytes, bps, ..] = sum(&text)?[..] else { return Err("its server printed no rate".into()) };
    Ok(Outcome { bps: Some(bps), ..Outcome::default() }.with_cpu(cpu_ns, bytes))
}

fn datagrams(_: &Found, work: &Work, testbed: &Testbed) -> Result<Outcome, String> {
    let (text, _) = told(work, testbed, (&["-u"], &["-u", "-b", "100g"]))?;
    let [_, bps, ..] = sum(&text)?[..] else { return Err("its server printed no rate".into()) };
    let per_s = bps / 8.0 / work.bytes as f64;
    Ok(Outcome { per_s: Some(per_s), bps: Some(bps), cpu_ms_per_gb: None })
}

#[cfg(test)]
#[allow(dead_code, unused_imports, reason = "a bench compiles its tests and runs none: tests/races.rs does")]
mod tests {
    use super::*;

    #[test]
    fn the_sum_of_all_flows_is_taken() {
        let flow = "20261123084501,127.0.0.1,20001,127.0.0.1,41234,4,0.0-2.0,100,400\n";
        let sum_of_two = "20261123084501,127.0.0.1,20001,127.0.0.1,0,-1,0.0-2.0,300,1200\n";
        assert_eq!(sum(flow), Ok(vec![100.0, 400.0]));
        assert_eq!(sum(&format!("{flow}{sum_of_two}{flow}")), Ok(vec![300.0, 1200.0]));
        assert!(sum("connect failed\n").is_err());
    }
}
