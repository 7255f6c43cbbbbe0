//! How to keep for good what a search proved, and how to undo it: files for those who keep them, each with the proof.

use super::arms::ends;
use crate::analysis::{Tuned, TuningStep, tuned};
use crate::plan::{Plan, Setting, sysctl_value};
use crate::record::Recording;
use crate::unit::{Bytes, signed_percent};
use crate::vocabulary::{HostKnob, HostPlace, KeptIn, MPI_VARIABLES, MpiVariable, SysctlValue, Tunable};

/// A line of a file, of the value that is kept.
type Line = fn(&str) -> Option<String>;

/// Lines that keep a knob that is no host's own: of which file, and what is written there.
const LINES: &[(&str, &str, Line)] = &[
    ("tcp.congestion-control", SYSCTL, |value| Some(format!("net.ipv4.tcp_congestion_control = {value}"))),
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

const SYSCTL: &str = KeptIn::Sysctl.file();
const MPI_ENVIRONMENT: &str = "mpi.env";
const OPEN_MPI: &str = "openmpi-mca-params.conf";
const PROGRAM: &str = "program.txt";
const UNDO: &str = "undo.txt";

/// The library whose parameters a file has.
const FILED: &str = "openmpi";

/// The files, with what is to be done with each.
const FILES: &[(&str, &str)] = &[
    (SYSCTL, "# Put it into /etc/sysctl.d on both hosts; sysctl --system reads it.\n"),
    (
        KeptIn::Link.file(),
        "# Put it into /etc/systemd/network on both hosts, behind a [Match] of the interface:\n# [Match]\n# OriginalName=eth0\n",
    ),
    (
        KeptIn::Network.file(),
        "# Put the sections into the interface's file in /etc/systemd/network on both hosts. It stands at the root, as it was tried:\n\
         # net.core.default_qdisc would put one below each queue of an adapter that has several (mq), which was not.\n",
    ),
    (
        KeptIn::Ifupdown.file(),
        "# Put the lines into the interface's paragraph of /etc/network/interfaces on both hosts.\n",
    ),
    (
        KeptIn::NetworkManager.file(),
        "# Put the lines into the connection's file in /etc/NetworkManager/system-connections on both hosts, below the\n\
         # sections of the same names; nmcli connection reload reads it.\n",
    ),
    (
        KeptIn::Tmpfiles.file(),
        "# Put it into /etc/tmpfiles.d on both hosts; systemd-tmpfiles --create reads it.\n",
    ),
    (OPEN_MPI, "# Put it into ~/.openmpi/mca-params.conf on both hosts.\n"),
    (
        MPI_ENVIRONMENT,
        "# Set it in the job's environment, of the library that you have; none has a file of parameters.\n",
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
    let of_file = |(name, line): (&str, String)| (name == file).then_some(line);
    let mut said: Vec<String> = arm.settings.iter().flat_map(lines).filter_map(of_file).collect();
    if file == MPI_ENVIRONMENT {
        said.extend(arm.settings.iter().flat_map(variables));
    }
    let how = Tunable::with_level(&step.name).map_or("", |entry| entry.keep);
    if file == PROGRAM && !how.is_empty() {
        said.push(format!("{}: {how}", step.name));
    }
    (!said.is_empty()).then(|| format!("\n# {}\n{}\n", proof(found, step), said.join("\n")))
}

/// What keeps a setting: of which file, and what is written there.
fn lines(setting: &Setting) -> Vec<(&'static str, String)> {
    let value = setting.value.as_str();
    let Some(host) = HostKnob::named(&setting.knob) else {
        let of_knob = LINES.iter().filter(|(knob, ..)| *knob == setting.knob);
        return of_knob.filter_map(|(_, file, line)| Some((*file, line(value)?))).collect();
    };
    let lines = host.kept.iter().filter_map(|line| Some((line.file.file(), line.of_value(value)?)));
    lines.chain(sysctl(host, value).map(|line| (SYSCTL, line))).collect()
}

/// A file below `/proc/sys` as `sysctl.d` has it.
fn sysctl(host: &HostKnob, value: &str) -> Option<String> {
    let HostPlace::Sysctl(file, how) = host.place else { return None };
    let usual = if let SysctlValue::ThirdOf(usual) = how { usual } else { "" };
    Some(format!("{} = {}", file.replace('/', "."), sysctl_value(how, usual, value)?))
}

/// A setting as the variables of each library that is not told by a file.
fn variables(setting: &Setting) -> Vec<String> {
    let value = match setting.value.as_str() {
        "on" => "1".into(),
        "off" => "0".into(),
        other => bytes(other).map_or_else(|| other.to_owned(), |size| size.to_string()),
    };
    let of_knob = MPI_VARIABLES.iter().filter(|one| one.knob == setting.knob && one.maker != FILED);
    let lines = |one: &MpiVariable| {
        let of_maker = |name: &&str| format!("{name}={value} # {}", one.maker);
        one.variables.iter().map(of_maker).collect::<Vec<_>>()
    };
    of_knob.flat_map(lines).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::{Scope, TUNABLES};

    #[test]
    fn whatever_is_kept_has_a_line_in_some_file() {
        for entry in TUNABLES.iter().filter(|entry| entry.scope == Scope::Host) {
            for level in entry.levels.iter().flat_map(|level| level.split('+')) {
                let setting: Setting = level.parse().unwrap();
                assert!(!lines(&setting).is_empty(), "{level}");
            }
        }
    }

    /// What was tried is the root's; the kernel's default is each queue's, on adapters that have several.
    #[test]
    fn a_queueing_discipline_is_kept_at_the_root() {
        let texts = ["fq", "fq_codel", "pfifo"].map(|value| format!("host.queueing={value}"));
        let lines = texts.iter().flat_map(|text| lines(&text.parse().unwrap()));
        let kept: Vec<String> = lines.map(|(_, line)| line).collect();
        assert_eq!(kept.len(), 9);
        assert!(kept.iter().all(|text| text.contains("root") && !text.contains("default_qdisc")), "{kept:?}");
        assert!(kept[0].starts_with("[FairQueueing]\n"), "{kept:?}");
    }

    #[test]
    fn each_library_is_told_in_its_own_words() {
        let of = |text: &str| variables(&text.parse().unwrap()).join("\n");
        let eager = of("mpi.eager-limit=64KiB");
        assert!(eager.contains("UCX_RNDV_THRESH=65536 # mpich"), "{eager}");
        assert!(
            eager.contains("LAM_MPI_SSI_rpi_tcp_short=65536 # lam") && !eager.contains("OMPI"),
            "{eager}"
        );
        assert_eq!(of("mpi.progress-thread=on").lines().next(), Some("MPIR_CVAR_ASYNC_PROGRESS=1 # mpich"));
        assert_eq!(of("socket.send-buffer=1MiB"), "");
    }
}
