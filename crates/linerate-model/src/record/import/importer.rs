//! Who reads the output of a tool, and how it is known.

use super::{Draft, Read, Run, failed, own, refuse};
use super::{
    fping, imb, interval, iperf2, iperf3, json, nccl, neper, netperf, netpipe, nuttcp, osu, perftest, ping,
    pscheduler, qperf, sockperf, xfr,
};

/// Who reads the files of a tool.
pub(super) struct Importer {
    pub tool: &'static str,
    /// Whether a text looks like one of that tool's.
    pub recognises: fn(&str) -> bool,
    /// Whether a line alone is of that tool's beginning; none where no line of it tells, or all of it is JSON.
    pub begins: Option<fn(&str) -> bool>,
    /// Whether a line alone is that tool's where it was there before, and so is none of its beginning: what two write at once
    /// stands line by line.
    pub goes_on: Option<fn(&str) -> bool>,
    /// Where runs begin in a text, beside the first.
    pub runs: fn(&str) -> Vec<usize>,
    pub read: fn(&Run) -> Read<Draft>,
}

/// Of a tool whose output does not tell where a run begins.
fn never_begins(_: &str) -> Vec<usize> {
    Vec::new()
}

/// One a tool; the first that recognises a text reads it.
pub(super) const IMPORTERS: &[Importer] = &[
    Importer {
        tool: "pscheduler",
        recognises: pscheduler::recognises,
        begins: None,
        goes_on: None,
        runs: json::starts,
        read: pscheduler::read,
    },
    Importer {
        tool: "iperf3",
        recognises: iperf3::recognises,
        begins: Some(iperf3::begins),
        goes_on: Some(interval::is_line),
        runs: iperf3::runs,
        read: iperf3::read,
    },
    Importer {
        tool: "xfr",
        recognises: xfr::recognises,
        begins: None,
        goes_on: None,
        runs: json::starts,
        read: xfr::read,
    },
    Importer {
        tool: "sockperf",
        recognises: sockperf::recognises,
        begins: Some(sockperf::begins),
        goes_on: None,
        runs: never_begins,
        read: sockperf::read,
    },
    Importer {
        tool: "osu",
        recognises: osu::recognises,
        begins: Some(osu::recognises),
        goes_on: None,
        runs: never_begins,
        read: osu::read,
    },
    Importer {
        tool: "imb",
        recognises: imb::recognises,
        begins: Some(imb::begins),
        goes_on: None,
        runs: never_begins,
        read: imb::read,
    },
    Importer {
        tool: "neper",
        recognises: neper::recognises,
        begins: Some(neper::begins),
        goes_on: None,
        runs: neper::runs,
        read: neper::read,
    },
    Importer {
        tool: "nuttcp",
        recognises: nuttcp::recognises,
        begins: Some(nuttcp::recognises),
        goes_on: None,
        runs: nuttcp::runs,
        read: nuttcp::read,
    },
    Importer {
        tool: "iperf2",
        recognises: iperf2::recognises,
        begins: Some(iperf2::recognises),
        goes_on: Some(interval::is_line),
        runs: iperf2::runs,
        read: iperf2::read,
    },
    Importer {
        tool: "netperf",
        recognises: netperf::recognises,
        begins: Some(netperf::recognises),
        goes_on: None,
        runs: never_begins,
        read: netperf::read,
    },
    Importer {
        tool: "qperf",
        recognises: qperf::recognises,
        begins: Some(qperf::begins),
        goes_on: None,
        runs: never_begins,
        read: qperf::read,
    },
    Importer {
        tool: "perftest",
        recognises: perftest::recognises,
        begins: Some(perftest::begins),
        goes_on: None,
        runs: never_begins,
        read: perftest::read,
    },
    Importer {
        tool: "nccl",
        recognises: nccl::recognises,
        begins: Some(nccl::begins),
        goes_on: None,
        runs: never_begins,
        read: nccl::read,
    },
    Importer {
        tool: "ping",
        recognises: ping::recognises,
        begins: Some(ping::begins),
        goes_on: Some(ping::goes_on),
        runs: ping::runs,
        read: ping::read,
    },
    Importer {
        tool: "fping",
        recognises: fping::recognises,
        begins: Some(fping::recognises),
        goes_on: None,
        runs: never_begins,
        read: fping::read,
    },
    Importer {
        tool: "netpipe",
        recognises: netpipe::recognises,
        begins: None,
        goes_on: None,
        runs: never_begins,
        read: netpipe::read,
    },
];

/// The importer that was asked for, else the one that knows the text.
pub(super) fn importer(text: &str, tool: Option<&str>) -> Read<&'static Importer> {
    if let Some(name) = tool {
        let named = IMPORTERS.iter().find(|importer| importer.tool == name);
        return named.map_or_else(
            || refuse(format!("no tool that is read here is called {name}"), "linerate list tools"),
            Ok,
        );
    }
    own::refuse_known(text)?;
    if let Some(importer) = IMPORTERS.iter().find(|importer| (importer.recognises)(text)) {
        return Ok(importer);
    }
    own::refuse_others(text)?;
    failed::refuse_failed(text)?;
    let names: Vec<&str> = IMPORTERS.iter().map(|importer| importer.tool).collect();
    refuse(
        "it looks like the output of no tool that is read here",
        format!(
            "name the tool with --tool ({}); `linerate list tools` tells how each is to be run",
            names.join(", ")
        ),
    )
}
