//! Files that linerate wrote itself, and those of tools whose output is not read: what they are, and what to do.

use super::{Read, head, refuse};
use crate::record::SCHEMA;

/// A kind of file that is not imported.
struct Kind {
    is_it: fn(&str) -> bool,
    what: &'static str,
    hint: &'static str,
}

/// Where a file says what it is.
const HEAD: usize = 4096;

const OF_ITS_RECORDING: &str = "give the recording that it was made of, a .jsonl: linerate report RECORDING, linerate compare RECORDING OTHER";

/// What this program writes.
const OWN: [Kind; 7] = [
    Kind {
        is_it: |text| {
            first(text).starts_with("{\"event\":")
                && first(text).contains(&format!("\"schema\":\"{SCHEMA}\""))
        },
        what: "it is a recording of linerate, and needs no import",
        hint: "look at it with linerate report FILE, or linerate compare FILE OTHER",
    },
    Kind {
        is_it: |text| {
            text.trim_start().starts_with('{')
                && ["\"linerate.report/", "\"linerate.compare/"]
                    .iter()
                    .any(|schema| head(text, HEAD).contains(schema))
        },
        what: "it is the JSON of linerate",
        hint: OF_ITS_RECORDING,
    },
    Kind {
        is_it: |text| text.contains("\"title\": \"linerate ") || text.contains("\"title\":\"linerate "),
        what: "it is a run of linerate in iperf3's form",
        hint: OF_ITS_RECORDING,
    },
    Kind {
        is_it: |text| {
            head(text, HEAD).trim_start().to_lowercase().starts_with("<!doctype html")
                && head(text, HEAD).contains("linerate")
        },
        what: "it is a page of linerate",
        hint: OF_ITS_RECORDING,
    },
    Kind {
        is_it: |text| first(text).starts_with("# TYPE linerate_"),
        what: "it is the OpenMetrics text of linerate",
        hint: OF_ITS_RECORDING,
    },
    Kind { is_it: |text| is_table(first(text)), what: "it is a table of linerate", hint: OF_ITS_RECORDING },
    Kind {
        is_it: |text| {
            text.lines()
                .any(|line| line.trim_start().starts_with("rung ") && line.contains("half round trip"))
                || text.contains("  rung  ") && text.contains("half round trip")
        },
        what: "it is a report of linerate as text",
        hint: OF_ITS_RECORDING,
    },
];

/// What has the output of another program in it.
const WRAPPERS: [Kind; 1] = [Kind {
    is_it: |text| text.trim_start().starts_with('{') && has_key(text, &["stdout_lines", "stdout"]),
    what: "it is a result of Ansible or its like, which has what the tool printed as a string of JSON",
    hint: "take that out on the way: jq -r .stdout FILE | linerate import -",
}];

/// What is read of the same path.
const STREAM: &str = "for its path run iperf3 -c HOST -J > FILE, and import that";
const ROUND_TRIPS: &str = "run ping -c 100 -i 0.2 HOST > FILE on Linux, and import that";

/// Tools that people have beside those that are read.
const OTHERS: [Kind; 15] = [
    Kind {
        is_it: |text| {
            let is_state = |line: &str| line.ends_with(" is alive") || line.ends_with(" is unreachable");
            text.lines().any(|line| is_state(line.trim_end()))
        },
        what: "it is what fping printed without times",
        hint: "run fping -c 100 -p 200 HOST ... > FILE 2>&1",
    },
    Kind {
        is_it: |text| text.contains(" times -->") && text.contains(" in "),
        what: "it is what NetPIPE prints, and not the file that it writes",
        hint: "run NPtcp -h HOST -o FILE and import FILE",
    },
    Kind {
        is_it: |text| {
            text.contains("Throughput")
                && (text.contains("Receiver Throughput") || text.contains("Current Window"))
        },
        what: "it is what pScheduler prints for readers",
        hint: "run pscheduler task --format json throughput --dest HOST > FILE",
    },
    Kind {
        is_it: |text| text.contains("Txn1") && text.contains("Txn2"),
        what: "it is what uperf printed",
        hint: STREAM,
    },
    Kind {
        is_it: |text| text.trim_start().starts_with("<ntttcp"),
        what: "it is what ntttcp wrote",
        hint: STREAM,
    },
    Kind {
        is_it: |text| {
            has_key(text, &["BW_average", "t_typical", "bw_avg", "msgRate_avg", "avg_lat", "tps_average"])
        },
        what: "it is the JSON of perftest (--out_json), which does not say its units",
        hint: "import what the same run printed, from its title on: ib_write_bw -a HOST > FILE",
    },
    Kind {
        is_it: |text| has_key(text, &["bus_bw"]),
        what: "it is the JSON of nccl-tests (-J)",
        hint: "import what the same run printed, which has the same numbers: all_reduce_perf -b 8 -e 1G -f 2 -g 2 > FILE",
    },
    Kind {
        // In any language it writes TTL in capitals, where others do not.
        is_it: |text| text.contains(" TTL=") || text.contains("Pinging ") && text.contains("Sent = "),
        what: "it is what ping of Windows printed, in whole milliseconds",
        hint: ROUND_TRIPS,
    },
    Kind {
        is_it: |text| (text.contains("Loss%") || text.contains("<Loss>")) && text.contains("Wrst"),
        what: "it is what mtr printed, whose hops are no measurement between two hosts",
        hint: ROUND_TRIPS,
    },
    Kind {
        is_it: |text| text.trim_start().starts_with("x 0 ") && text.contains("\np "),
        what: "it is the raw output of mtr, whose hops are no measurement between two hosts",
        hint: ROUND_TRIPS,
    },
    Kind {
        is_it: |text| text.contains("Requests/sec:") || text.contains("Requests per second:"),
        what: "it is what a load generator of HTTP printed (wrk, hey, ab): a server's work is in it",
        hint: STREAM,
    },
    Kind {
        is_it: |text| text.contains("packets outgoing") && text.contains("bytes outgoing"),
        what: "it is what trafgen printed, which does not know what arrived",
        hint: STREAM,
    },
    Kind {
        is_it: |text| {
            let has = |name: &str| text.contains(name);
            has("Protocol    Interval") && ["Bits/s", "Conn/s", "Pkts/s"].iter().any(|name| has(name))
                || has("ServerAddress") && has("Bits/s")
        },
        what: "it is what ethr printed",
        hint: STREAM,
    },
    Kind {
        is_it: |text| text.contains("99.9%") && text.contains("99.99%") && text.contains("Avg      Min"),
        what: "it is what ethr printed of latencies",
        hint: "run sockperf ping-pong -i HOST --tcp > FILE, and import that",
    },
    Kind {
        is_it: |text| text.contains("\"Type\":\"TestResult\"") || text.contains("\"Type\":\"LatencyResult\""),
        what: "it is the log of ethr",
        hint: STREAM,
    },
];

/// Whether a JSON has one of these keys, with any blanks before its colon.
fn has_key(text: &str, keys: &[&str]) -> bool {
    keys.iter().any(|key| {
        let quoted = format!("\"{key}\"");
        text.split(&quoted).skip(1).any(|rest| rest.trim_start().starts_with(':'))
    })
}

/// The first line.
fn first(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// Whether a line has the heads of a table of ours: dotted and underscored words with the names of our JSON.
fn is_table(line: &str) -> bool {
    const NAMES: [&str; 12] = [
        "cpu_model,cpus,host,kernel",
        "ns.median",
        "throughput_bps",
        "half_round_trip_ns",
        "run.plan_hash",
        "summary.alpha_ns",
        "relative_residual",
        "disturbed",
        "autocorrelation",
        "ideal_ns",
        "latency_bytes",
        "steady_bps",
    ];
    const WHOLE: [&str; 3] = [
        "direction,exchanges,host,id,message_bytes,wait",
        "pattern,wait,at_s,ratio",
        "code,detail,evidence.hosts,hint,text",
    ];
    let is_heads = line.contains(',') && !line.contains(' ');
    is_heads && (WHOLE.contains(&line) || NAMES.iter().any(|name| line.contains(name)))
}

/// Refuses what is known to be no result that is imported.
pub(super) fn refuse_known(text: &str) -> Read<()> {
    let known = OWN.iter().chain(&WRAPPERS).find(|kind| (kind.is_it)(text));
    known.map_or(Ok(()), |kind| refuse(kind.what, kind.hint))
}

/// Refuses what another tool wrote that is not read.
pub(super) fn refuse_others(text: &str) -> Read<()> {
    let known = OTHERS.iter().find(|kind| (kind.is_it)(text));
    known.map_or(Ok(()), |kind| refuse(kind.what, kind.hint))
}

/// What another tool wrote that is not read, beside what is.
pub(super) fn beside(text: &str) -> Vec<String> {
    let known = OTHERS.iter().filter(|kind| (kind.is_it)(text));
    known
        .map(|kind| format!("a part of it is not read: {}", kind.what.trim_start_matches("it is ")))
        .collect()
}
