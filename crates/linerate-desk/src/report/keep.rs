//! How to keep for good what a search proved, and how to undo it: files for those who keep them, each with the proof.

use super::arms::ends;
use crate::analysis::{Tuned, TuningStep, tuned};
use crate::plan::{Plan, Setting};
use crate::record::Recording;
use crate::unit::{Bytes, signed_percent};
use crate::vocabulary::{LINK_MTU, LINK_OFFLOAD, Tunable};

/// A line of a file, of the value that is kept.
type Line = fn(&str) -> Option<String>;

/// Lines that keep a knob: of which file, and what is written there.
const LINES: &[(&str, &str, Line)] = &[
    ("host.tcp-receive-buffer", SYSCTL, |value| {
        Some(format!("net.ipv4.tcp_rmem = 4096 131072 {}", bytes(value)?))
    }),
    ("host.tcp-send-buffer", SYSCTL, |value| {
        Some(format!("net.ipv4.tcp_wmem = 4096 16384 {}", bytes(value)?))
    }),
    ("host.receive-buffer-limit", SYSCTL, |value| Some(format!("net.core.rmem_max = {}", bytes(value)?))),
    ("host.send-buffer-limit", SYSCTL, |value| Some(format!("net.core.wmem_max = {}", bytes(value)?))),
    ("host.slow-start-after-idle", SYSCTL, |value| {
        Some(format!("net.ipv4.tcp_slow_start_after_idle = {}", u8::from(value == "on")))
    }),
    ("host.mtu-probing", SYSCTL, |value| Some(format!("net.ipv4.tcp_mtu_probing = {value}"))),
    ("host.metrics-save", SYSCTL, |value| {
        Some(format!("net.ipv4.tcp_no_metrics_save = {}", u8::from(value != "on")))
    }),
    ("tcp.congestion-control", SYSCTL, |value| Some(format!("net.ipv4.tcp_congestion_control = {value}"))),
    (LINK_MTU.name, LINK, |value| Some(format!("[Link]\nMTUBytes={value}"))),
    (LINK_MTU.name, IFUPDOWN, |value| Some(format!("    mtu {value}"))),
    (LINK_OFFLOAD.name, LINK, |value| {
        let is_on = value == "on";
        let name = |key: &str| format!("{key}={is_on}\n");
        Some(format!(
            "[Link]\n{}",
            ["TCPSegmentationOffload", "GenericSegmentationOffload", "GenericReceiveOffload"]
                .map(name)
                .concat()
        ))
    }),
    (LINK_OFFLOAD.name, IFUPDOWN, |value| {
        Some(format!("    up ethtool -K $IFACE tso {value} gso {value} gro {value}"))
    }),
    ("mpi.eager-limit", OPEN_MPI, |value| {
        let size = bytes(value)?;
        Some(format!("btl_tcp_eager_limit = {size}\nbtl_tcp_rndv_eager_limit = {size}"))
    }),
    ("mpi.socket-buffer", OPEN_MPI, |value| {
        let size = bytes(value)?;
        Some(format!("btl_tcp_sndbuf = {size}\nbtl_tcp_rcvbuf = {size}"))
    }),
    ("mpi.progress-thread", OPEN_MPI, |value| {
        Some(format!("btl_tcp_progress_thread = {}", u8::from(value == "on")))
    }),
];

const SYSCTL: &str = "90-linerate.conf";
const LINK: &str = "10-linerate.link";
const IFUPDOWN: &str = "interfaces";
const OPEN_MPI: &str = "openmpi-mca-params.conf";
const PROGRAM: &str = "program.txt";
const UNDO: &str = "undo.txt";

/// The files, with what is to be done with each.
const FILES: &[(&str, &str)] = &[
    (SYSCTL, "# Put it into /etc/sysctl.d on both hosts; sysctl --system reads it.\n"),
    (
        LINK,
        "# Put it into /etc/systemd/network on both hosts, behind a [Match] of the interface:\n# [Match]\n# OriginalName=eth0\n",
    ),
    (IFUPDOWN, "# Put the lines into the interface's paragraph of /etc/network/interfaces on both hosts.\n"),
    (
        OPEN_MPI,
        "# Put it into ~/.openmpi/mca-params.conf. Other libraries have other names: linerate list knobs.\n",
    ),
    (PROGRAM, "What the program itself is to ask for; no file of the host does it.\n"),
];

/// The files of what is proved; none where nothing is.
pub fn files(recording: &Recording) -> Vec<(&'static str, String)> {
    let (Some(plan), Some(found)) = (recording.plan(), tuned(recording)) else { return Vec::new() };
    if found.kept().is_empty() {
        return Vec::new();
    }
    let mut written: Vec<(&'static str, String)> = Vec::new();
    for (name, head) in FILES {
        let parts: Vec<String> =
            found.kept().into_iter().filter_map(|step| part(name, plan, &found, step)).collect();
        if !parts.is_empty() {
            written.push((name, format!("{head}{}", parts.concat())));
        }
    }
    written.push((UNDO, undoing(&written)));
    written
}

/// What a step has to say in a file, behind its proof.
fn part(file: &str, plan: &Plan, found: &Tuned, step: &TuningStep) -> Option<String> {
    let arm = plan.arms.get((step.arm as usize).checked_sub(1)?)?;
    let lines = |setting: &Setting| {
        let of_file = LINES.iter().filter(|(knob, name, _)| *knob == setting.knob && *name == file);
        of_file.filter_map(|(.., line)| line(&setting.value)).collect::<Vec<_>>()
    };
    let mut said: Vec<String> = arm.settings.iter().flat_map(lines).collect();
    let how = Tunable::with_level(&step.name).map_or("", |entry| entry.keep);
    if file == PROGRAM && !how.is_empty() {
        said.push(format!("{}: {how}", step.name));
    }
    (!said.is_empty()).then(|| format!("\n# {}\n{}\n", proof(found, step), said.join("\n")))
}

/// `socket.send-buffer=4MiB: throughput +310 % [+290 %, +330 %] in 6 fresh blocks, network.tcp a>b`.
fn proof(found: &Tuned, step: &TuningStep) -> String {
    format!(
        "{}: {} {} {} in {} fresh blocks, {} {}>{}",
        step.name,
        found.metric,
        signed_percent(step.gain.estimate),
        ends(&step.gain),
        step.gain.n,
        found.rung,
        found.from,
        found.to
    )
}

fn undoing(written: &[(&'static str, String)]) -> String {
    let names: Vec<&str> = written.iter().map(|(name, _)| *name).collect();
    format!(
        "What was left in force: linerate undo, on each host, as the user who searched. A start of the host undoes it too.\n\
         What was put into files: remove it there again ({}), then sysctl --system, or bring the interface up anew.\n",
        names.join(", ")
    )
}

fn bytes(value: &str) -> Option<u64> {
    value.parse::<Bytes>().ok().map(|size| size.0)
}
