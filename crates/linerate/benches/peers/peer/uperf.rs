//! uperf: a script of what its ends do; how far it has come, told again and again.
//!
//! Its ends work in processes of their own, so their CPU time is not told.

use super::super::process::{After, Launch, Ready, last_line, serve};
use super::super::testbed::Testbed;
use super::super::work::{Clocked, Kind, Outcome, Work};
use super::{Found, HERE, Peer, Play, limit, number_after, sleeps};

pub const UPERF: Peer = Peer {
    name: "uperf",
    programs: &["uperf"],
    about: "scripts of sends, receives and connections",
    get: "source, github.com/uperf/uperf; docs/performance.md has the commands",
    version: &["-V"],
    help: &[],
    plays: &[
        Play { tells_cpu: false, clocked: SAMPLED, ..Play::new(Kind::Stream, stream) },
        Play { fits: sleeps, clocked: SAMPLED, ..Play::new(Kind::RoundTrip, requests) },
        Play { fits: |work| work.flows <= 16, clocked: SAMPLED, ..Play::new(Kind::Requests, requests) },
    ],
};

/// The first sample is where the rate begins.
const SAMPLED: Clocked = Clocked::after(0.25);
const SAMPLE_S: &str = "0.25";

/// The script: every flow a thread that connects, works, and disconnects.
fn script(work: &Work, flowops: &str) -> String {
    let no_delay = if work.kind == Kind::Stream { "" } else { " tcp_nodelay" };
    let Work { flows, seconds, .. } = work;
    // Its parser wants each tag on a line of its own.
    format!(
        "<?xml version=\"1.0\"?>\n<profile name=\"race\">\n<group nthreads=\"{flows}\">\n\
         <transaction iterations=\"1\">\n\
         <flowop type=\"connect\" options=\"remotehost={HERE} protocol=tcp{no_delay}\"/>\n\
         </transaction>\n<transaction duration=\"{seconds}s\">\n{flowops}</transaction>\n\
         <transaction iterations=\"1\">\n<flowop type=\"disconnect\"/>\n</transaction>\n\
         </group>\n</profile>\n"
    )
}

/// Bytes and operations a second, between the first sample and the last one.
fn client_totals(work: &Work, testbed: &Testbed, flowops: &str) -> Result<[f64; 2], String> {
    let port = testbed.port();
    let at = port.to_string();
    let path = std::env::temp_dir().join(format!("linerate-bench-peers-{}-{port}.xml", std::process::id()));
    std::fs::write(&path, script(work, flowops)).map_err(|error| error.to_string())?;
    let server = Launch::new("uperf", work.cpus[1], ["-s", "-P", &at]);
    let words = ["-m", &path.to_string_lossy(), "-P", &at, "-R", "-i", SAMPLE_S];
    let client = Launch::new("uperf", work.cpus[0], words);
    let played = serve(&server, (Ready::Tcp(port), After::Stopped), &client, limit(work));
    let _ = std::fs::remove_file(&path);
    let [_, client] = played?;
    // "timestamp_ms:1234.5678 name:Txn2 nr_bytes:12345 nr_ops:12"
    let lines: Vec<&str> = client.output.lines().filter(|line| line.contains("name:Txn2 ")).collect();
    let (Some(first), Some(last)) = (lines.first(), lines.last()) else {
        return Err(last_line(&client.output).to_owned());
    };
    let between = |word: &str| Ok::<f64, String>(number_after(last, word)? - number_after(first, word)?);
    let seconds = between("timestamp_ms:")? / 1e3;
    if seconds <= 0.0 {
        return Err("it told of one moment only".into());
    }
    Ok([between("nr_bytes:")? / seconds, between("nr_ops:")? / seconds])
}

fn stream(_: &Found, work: &Work, testbed: &Testbed) -> Result<Outcome, String> {
    let flowop = format!("<flowop type=\"write\" options=\"size={}\"/>\n", work.bytes);
    let [bytes, _] = client_totals(work, testbed, &flowop)?;
    Ok(Outcome { bps: Some(8.0 * bytes), ..Outcome::default() })
}

/// A round trip is two operations: a write and a read.
fn requests(_: &Found, work: &Work, testbed: &Testbed) -> Result<Outcome, String> {
    let each = |does: &str| format!("<flowop type=\"{does}\" options=\"size={}\"/>\n", work.bytes);
    let [_, operations] = client_totals(work, testbed, &(each("write") + &each("read")))?;
    Ok(Outcome { per_s: Some(operations / 2.0), ..Outcome::default() })
}
