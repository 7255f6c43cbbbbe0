//! What several tools wrote into one file, what a tool prints that measured nothing, and numbers that lost their plus.

use super::{Told, each, file, files, near, told, tool};
use linerate::vocabulary::{Quantity, Statistic, TOOLS};

fn text(name: &str) -> String {
    String::from_utf8(file(name)).unwrap()
}

/// The tool of each run.
fn tools(runs: &[Told]) -> Vec<&str> {
    runs.iter().map(|run| run.source.tool.as_str()).collect()
}

#[test]
fn the_log_of_a_script_is_a_recording_a_run() {
    let names = ["ping-loopback.txt", "iperf3-text.txt", "netperf-stream.txt", "qperf-tcp.txt"];
    let log: String = names.iter().map(|name| format!("== {name}\n{}", text(name))).collect();
    let runs = each(log.as_bytes(), None).unwrap();
    assert_eq!(tools(&runs), ["ping", "ping", "iperf3", "netperf", "qperf"]);
    // Each says what it says alone, from its line of the file, and nothing of the file is lost.
    for run in &runs[2..] {
        let name = names.iter().find(|name| tool(name) == run.source.tool).unwrap();
        let alone = Told::of(name);
        let values = |told: &Told| told.rows.iter().map(|row| row.values.clone()).collect::<Vec<_>>();
        assert_eq!(values(run), values(&alone), "{name}");
        let begins = log.lines().position(|line| line == text(name).lines().next().unwrap()).unwrap() + 1;
        assert!(
            run.source.facts["run"].ends_with(&format!("of 5 in its file, from line {begins}")),
            "{name}"
        );
        assert_eq!(run.source.doubts, alone.source.doubts, "{name}");
    }
    assert_eq!(runs.iter().map(|run| run.original.as_str()).collect::<String>(), log);
}

#[test]
fn each_tool_is_known_before_and_behind_another() {
    for (name, bytes) in files() {
        let is_ping = tool(&name) == "ping";
        // Rows without a word are known as a file's first lines only.
        let is_bare = tool(&name) == "netpipe";
        let ping = file("ping-loopback.txt");
        for (log, bare) in [([bytes.clone(), ping.clone()], false), ([ping, bytes], is_bare)] {
            let runs = each(&log.concat(), None).unwrap();
            let of_it = runs.iter().any(|run| run.source.tool == tool(&name));
            let of_ping = runs.iter().any(|run| run.source.tool == "ping");
            assert!(bare || is_ping || of_it && of_ping, "{name}: {:?}", tools(&runs));
        }
    }
}

#[test]
fn a_file_of_one_tool_is_of_no_other() {
    for (name, bytes) in files() {
        let runs = each(&bytes, None).unwrap();
        assert!(tools(&runs).iter().all(|one| *one == tool(&name)), "{name}: {:?}", tools(&runs));
        assert!(!runs[0].doubts("a part of it is not read"), "{name}: {:?}", runs[0].source.doubts);
    }
}

#[test]
fn what_is_not_read_of_a_log_is_told() {
    let failed = "iperf3: error - unable to connect to server: Connection refused\n";
    let netperf =
        "establish control: are you sure there is a netserver listening on 192.0.2.1 at port 12865?\n";
    let mtr = "HOST: vm                   Loss%   Snt   Last   Avg  Best  Wrst StDev\n  1.|-- h  0.0%  2  0.0  0.0  0.0  0.1  0.0\n";
    let log = [failed, &text("nuttcp-tcp.txt"), netperf, mtr].concat();
    let runs = each(log.as_bytes(), None).unwrap();
    assert_eq!(tools(&runs), ["nuttcp"]);
    for doubt in [
        "run 1 of 2 in its file, of iperf3, is left out: iperf3 measured nothing: error - unable to connect",
        "says: establish control: are you sure",
        "a part of it is not read: what mtr printed",
    ] {
        assert!(runs[0].doubts(doubt), "{doubt}: {:?}", runs[0].source.doubts);
    }
    // A document that breaks off ends where the next tool begins.
    let whole = text("iperf3-tcp.json");
    let cut = format!("{}\n{}", &whole[..whole.find("\"sum_sent\"").unwrap()], text("ping-loopback.txt"));
    let runs = each(cut.as_bytes(), None).unwrap();
    assert_eq!(tools(&runs), ["iperf3", "ping", "ping"]);
    assert!(runs[0].doubts("breaks off at line"), "{:?}", runs[0].source.doubts);
    // Of a tool that is named only that is read.
    let log = [text("ping-loopback.txt"), text("iperf3-text.txt")].concat();
    let named = each(log.as_bytes(), Some("iperf3")).unwrap();
    assert_eq!(tools(&named), ["iperf3"]);
    assert!(
        named[0].doubts("are of ping, and not read: --tool names iperf3"),
        "{:?}",
        named[0].source.doubts
    );
}

/// What a tool printed that measured nothing, the tool, and a word of what to try.
const FAILED: &[(&str, &str, &str)] = &[
    ("iperf3: error - unable to connect to server: Connection refused\n", "iperf3", "start iperf3 -s"),
    ("iperf3: error - the server is busy running a test. try again later\n", "iperf3", "wait until"),
    (
        "{\"start\":{},\"end\":{},\"x\":\"iperf 3\",\"error\":\"unable to connect to server: No route to host\"}",
        "iperf3",
        "ip route get",
    ),
    ("Usage: iperf3 [-s|-c host] [options]\n       iperf3 [-h|--help] [-v|--version]\n", "iperf3", "option"),
    ("Usage: iperf [-s|-c host] [options]\nTry `iperf --help' for more information.\n", "iperf2", "option"),
    ("tcp connect failed: Connection refused\n", "iperf2", "start iperf -s"),
    (
        "Client connecting to 192.0.2.1, TCP port 9\ntcp connect failed: Connection refused\n",
        "iperf2",
        "start iperf -s",
    ),
    (
        "establish control: are you sure there is a netserver listening on h at port 12865?\n",
        "netperf",
        "start netserver",
    ),
    ("tcp_bw:\n192.0.2.1: failed to connect\n", "qperf", "start qperf"),
    (
        "sockperf: == version #3.7 == \nsockperf: ERROR: Can`t connect socket (errno=111 Connection refused)\n",
        "sockperf",
        "start sockperf server",
    ),
    (
        "Send and receive buffers are 16384 and 131072 bytes\nClient: Cannot Connect! errno=111\n",
        "netpipe",
        "start NPtcp",
    ),
    (
        "Couldn't connect to 192.0.2.1:18515\nUnable to init the socket connection\n",
        "perftest",
        "start the same program",
    ),
    ("ping: nosuch.invalid: Name or service not known\n", "ping", "how the host is called"),
    ("fping: can't create socket (must run as root?)\n", "fping", "fping -c"),
    ("nuttcp-t: v6.1.2: Error: connect: Connection refused\n", "nuttcp", "start nuttcp -S"),
    ("FATAL connect: Connection refused\n", "neper", "start tcp_rr"),
    ("bash: iperf3: command not found\n", "iperf3", "install it"),
];

#[test]
fn a_tool_that_measured_nothing_is_told_with_what_to_try() {
    for (printed, name, try_it) in FAILED {
        let refusal =
            told(printed.as_bytes(), None).err().unwrap_or_else(|| panic!("it was read: {printed}"));
        assert!(refusal.what.contains(name), "{printed}{refusal}");
        assert!(refusal.hint.contains(try_it), "{printed}{refusal}: {}", refusal.hint);
        let again = TOOLS.iter().find(|tool| tool.name == *name).unwrap().again;
        assert!(refusal.hint.contains(again), "{printed}{}", refusal.hint);
    }
    for printed in [
        "There are not enough slots available in the system to satisfy the 2\n",
        "srun: error: Unable to allocate resources: Invalid account\n",
        "ssh: connect to host node7 port 22: Connection refused\n",
    ] {
        let refusal = told(printed.as_bytes(), None).err().unwrap();
        assert!(refusal.what.contains(printed.trim_end()), "{refusal}");
        assert!(refusal.hint.contains("then import what it prints"), "{}", refusal.hint);
    }
}

#[test]
fn a_lost_plus_is_put_back_and_told() {
    let table = |rate: &str| {
        format!(
            "MIGRATED TCP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to h () port 0 AF_INET\n\
             Recv   Send    Send\nSocket Socket  Message  Elapsed\nSize   Size    Size     Time     Throughput\n\
             bytes  bytes   bytes    secs.    10^6bits/sec\n\n131072  16384  16384    10.00    {rate}\n"
        )
    };
    for (rate, has_lost) in [("9.406e+03", false), ("9.406e 03", true), ("9.406E 03", true), ("9406", false)]
    {
        let told = told(table(rate).as_bytes(), None).unwrap();
        near(told.value(Quantity::Throughput, Statistic::Mean, None), 9406e6);
        assert_eq!(told.doubts("the plus of 1 number was lost"), has_lost, "{rate}");
    }
    let json = text("iperf3-tcp.json").replacen(
        "\"bits_per_second\":\t",
        "\"bits_per_second\":\t1.25e 06, \"was\":\t",
        1,
    );
    assert!(each(json.as_bytes(), None).unwrap()[0].doubts("the plus of 1 number was lost"));
}

#[test]
fn empty_output_says_so() {
    for bytes in [&b""[..], b"\n \n", b"\xef\xbb\xbf\r\n"] {
        let refusal = told(bytes, None).err().unwrap();
        assert!(refusal.what.contains("it is empty") && refusal.hint.contains("ended well"), "{refusal}");
    }
}

/// Lines of two, each behind its mark, one after the other.
fn beside([one, other]: [&str; 2], marks: [&str; 2]) -> String {
    let (mut one, mut other) = (one.lines(), other.lines());
    let mut log = String::new();
    loop {
        let pair = [one.next(), other.next()];
        if pair == [None, None] {
            return log;
        }
        for (line, mark) in pair.iter().zip(marks) {
            line.iter().for_each(|line| log += &format!("{mark}{line}\n"));
        }
    }
}

#[test]
fn lines_of_two_hosts_are_two_recordings() {
    let [one, other] = [text("iperf3-text.txt"), text("iperf3-udp.txt")];
    let values = |told: &Told| told.rows.iter().map(|row| row.values.clone()).collect::<Vec<_>>();
    let alone = [&one, &other].map(|text| values(&told(text.as_bytes(), None).unwrap()));
    for marks in [
        ["node7: ", "node8: "],
        ["client-1  | ", "server-1  | "],
        ["[pod/a-1/c] ", "[pod/b-1/c] "],
        ["client-1  | 2026-11-27T09:00:00.123456789Z ", "server-1  | 2026-11-27T09:00:00.123456789Z "],
    ] {
        let log = beside([&one, &other], marks);
        let runs = each(log.as_bytes(), None).unwrap();
        assert_eq!(runs.iter().map(values).collect::<Vec<_>>(), alone, "{marks:?}");
        let name = &runs[1].source.facts["lines of"];
        assert!(marks[1].contains(name.as_str()), "{name}");
    }
    // What a tool calls itself is no host, and neither are ranks of one program.
    let log = beside(["a", "b"], ["nuttcp-t: v6.1.2: ", "nuttcp-r: v6.1.2: "]) + &text("nuttcp-verbose.txt");
    assert_eq!(each(log.as_bytes(), None).unwrap().len(), 1);
    let ranks = beside([&text("osu-latency.txt"), "a note"], ["[1,0]<stdout>:", "[1,1]<stdout>:"]);
    assert_eq!(each(ranks.as_bytes(), None).unwrap().len(), 1);
}

/// The values of all rows of each run.
fn values(runs: &[Told]) -> Vec<Vec<Vec<f64>>> {
    runs.iter().map(|run| run.rows.iter().map(|row| row.values.clone()).collect()).collect()
}

#[test]
fn what_nobody_marked_is_no_host_s() {
    let [one, other, alone] = ["iperf3-text.txt", "iperf3-udp.txt", "ping-loopback.txt"].map(text);
    let log = alone.clone() + &beside([&one, &other], ["[pod/a-1/c] ", "[pod/b-1/c] "]);
    let runs = each(log.as_bytes(), None).unwrap();
    assert_eq!(tools(&runs), ["ping", "ping", "iperf3", "iperf3"]);
    assert_eq!(runs.iter().filter(|run| run.source.facts.contains_key("lines of")).count(), 2);
    assert_eq!(values(&runs[..2]), values(&each(alone.as_bytes(), None).unwrap()));
    // What is no tool's is not told of.
    let note = "Attaching to a-1, b-1\n".to_owned() + &log[alone.len()..];
    for tool in [None, Some("iperf3")] {
        let runs = each(note.as_bytes(), tool).unwrap();
        assert_eq!(tools(&runs), ["iperf3", "iperf3"]);
        assert!(!runs[0].doubts("left out"), "{:?}", runs[0].source.doubts);
    }
}

#[test]
fn marks_without_a_line_are_empty() {
    for tool in [None, Some("ping")] {
        let refusal = each(b"a | \nb | \n", tool).err().unwrap();
        assert!(!refusal.hint.is_empty(), "{refusal}");
    }
    let refusal = each(b"a | \nb | \n", Some("ping")).err().unwrap();
    assert!(refusal.what.contains("empty but for marks"), "{refusal}");
}

#[test]
fn a_scheduler_s_errors_are_no_host_s() {
    for line in
        ["srun: error: node7: task 0: Exited with exit code 1", "ssh: connect to host h port 22: timed out"]
    {
        let refusal = each(format!("{line}\n{line}\n").as_bytes(), None).err().unwrap();
        assert!(refusal.what.contains(line), "{refusal}");
    }
}

#[test]
fn two_tools_at_once_keep_their_lines() {
    let [one, other] = ["iperf3-text.txt", "ping-loopback.txt"].map(text);
    let ping = other.split_once("\n\nPING").map_or(other.as_str(), |(first, _)| first);
    for log in [beside([&one, ping], [""; 2]), beside([ping, &one], [""; 2])] {
        let runs = each(log.as_bytes(), None).unwrap();
        let of = |tool: &str| {
            runs.iter()
                .filter(|run| run.source.tool == tool)
                .flat_map(|run| values(std::slice::from_ref(run)))
                .collect::<Vec<_>>()
        };
        assert_eq!(of("iperf3"), values(&each(one.as_bytes(), None).unwrap()));
        assert!(!of("ping").is_empty());
    }
}

#[test]
fn an_indented_document_is_one() {
    let log = text("ping-loopback.txt")
        .lines()
        .chain(text("iperf3-tcp.json").lines())
        .map(|line| format!("node7: {line}\n"))
        .collect::<String>();
    assert_eq!(tools(&each(log.as_bytes(), None).unwrap()), ["ping", "ping", "iperf3"]);
}

#[test]
fn many_parts_of_others_are_counted() {
    let pair = text("iperf3-text.txt") + &text("ping-loopback.txt");
    let runs = each(pair.repeat(30).as_bytes(), Some("iperf3")).unwrap();
    assert!(runs[0].doubts("20 more parts of other tools are not read"), "{:?}", runs[0].source.doubts);
}

#[test]
fn a_time_before_each_line_is_no_part_of_it() {
    for name in ["iperf3-text.txt", "netperf-stream.txt", "ping-loopback.txt", "nuttcp-tcp.txt"] {
        let alone = each(&file(name), None).unwrap();
        for mark in [
            "[2026-11-27 21:10:43] ",
            "2026-11-27 21:10:43.123 ",
            "2026-11-27T21:10:43+0000 host tool[1]: ",
            "Nov 27 21:10:43 host tool[1]: ",
            "node7: ",
        ] {
            let log: String = text(name).lines().map(|line| format!("{mark}{line}\n")).collect();
            let runs =
                each(log.as_bytes(), None).unwrap_or_else(|refusal| panic!("{name} {mark}: {refusal}"));
            let values = |runs: &[Told]| {
                runs.iter().flat_map(|run| &run.rows).map(|row| row.values.clone()).collect::<Vec<_>>()
            };
            assert_eq!(values(&runs), values(&alone), "{name} {mark}");
        }
    }
}

#[test]
fn commas_of_a_language_are_points() {
    let points = text("ping-loopback.txt");
    let commas: String = points
        .lines()
        .map(|line| if line.contains("ms") { line.replace('.', ",").replace("127,0,0,1", "127.0.0.1") } else { line.into() } + "\n")
        .collect();
    assert_ne!(points, commas);
    assert_eq!(told(commas.as_bytes(), None).unwrap().rows, told(points.as_bytes(), None).unwrap().rows);
}

#[test]
fn what_hides_a_tool_s_output_is_named() {
    let task = r#"{"changed": true, "cmd": ["iperf3"], "rc": 0, "stdout": "Connecting to host h", "stdout_lines": ["Connecting to host h"]}"#;
    let refusal = told(task.as_bytes(), None).err().unwrap();
    assert!(
        refusal.what.contains("Ansible") && refusal.hint.contains("jq -r .stdout"),
        "{refusal}: {}",
        refusal.hint
    );
    let alive = told(b"192.0.2.1 is alive\n192.0.2.2 is unreachable\n", None).err().unwrap();
    assert!(
        alive.what.contains("without times") && alive.hint.contains("fping -c"),
        "{alive}: {}",
        alive.hint
    );
}
