//! Errors and their hints, as a user meets them.

use super::support::{Desk, PROGRAM, snapshot};
use std::fmt::Write;

/// What is said of each of these command lines.
fn page(desk: &Desk, lines: &[&[&str]]) -> String {
    lines.iter().map(|line| desk.told(line)).collect::<Vec<_>>().join("\n")
}

/// One sentence, at most one hint, nothing else.
fn assert_short(page: &str) {
    for case in page.split("\n\n") {
        let said: Vec<&str> =
            case.lines().filter(|line| !line.starts_with("$ ") && !line.starts_with("exit ")).collect();
        let hints = said.iter().filter(|line| line.starts_with("hint: ")).count();
        assert!(
            said.len() == 2 && hints == 1 && said[0].starts_with("linerate: "),
            "not one sentence and one hint:\n{case}"
        );
    }
}

#[test]
fn a_wrong_command_line_is_told() {
    let page = page(
        &Desk::new(),
        &[
            &["rnu", "lab"],
            &["measure"],
            &["run"],
            &["run", "lab", "lab"],
            &["run", "lab", "--prfile", "quick"],
            &["run", "lab", "--zzz"],
            &["run", "lab", "--profile"],
            &["run", "lab", "--profile", "quik"],
            &["run", "lab", "--profile", "fast"],
            &["run", "lab", "--only"],
            &["run", "lab", "--passes", "0"],
            &["run", "lab", "--passes", "many"],
            &["run", "lab", "--passes", "6", "--budget", "60s"],
            &["run", "lab", "--profile", "quick", "--profile", "quick"],
            &["run", "lab", "--seed", "-1"],
            &["run", "lab", "--budget", "soon"],
            &["run", "lab", "--budget", "10ms"],
            &["run", "lab", "--budget", "-5s"],
            &["run", "lab", "--budget", "nan"],
            &["run", "lab", "--budget", ""],
            &["run", "lab", "--budget", "60"],
            &["run", "lab", "--budget", "1e9"],
            &["run", "lab", "--budget", "1000h"],
            &["run", "lab", "--passes", "-1"],
            &["run", "lab", "--passes", "1,000"],
            &["run", "lab", "--sizes", "1gb"],
            &["run", "lab", "--sizes", "1Gb/s"],
            &["run", "lab", "--sizes", "2GiB"],
            &["run", "lab", "--only", "network.tpc"],
            &["run", "lab", "--only", "wire"],
            &["run", "lab", "--only", "network", "--skip", "network"],
            &["run", "lab", "--set", "tcp.no-delay"],
            &["run", "lab", "--set", "tcp.no-dely=on"],
            &["run", "lab", "--set", "tcp.no-delay=maybe"],
            &["run", "lab", "--set", "netwrk:tcp.no-delay=on"],
            &["run", "lab", "--set", "socket.send-buffer=2GiB"],
            &["run", "lab", "--set", "tcp.pacing-rate=1gb/s"],
            &["run", "lab", "--set", "tcp.mss=536", "--set", "tcp.mss=900"],
            &["run", "lab", "--set", "link.mtu=1000"],
            &["run", "lab", "--set", "link.coalesce=64us"],
            &["run", "lab", "--fault", "b:slow-disk=200MB"],
            &["run", "lab", "--plan", "nosuch.toml"],
            &["run", "lab", "--address", "b=192.0.2.7", "--address", "b=192.0.2.8"],
            &["run", "lab", "--address", "c=192.0.2.7"],
            &["run", "lab", "--address", "b=node7"],
            &["ab", "lab"],
            &["ab", "lab", "--set", "tcp.no-delay=on,tcp.no-delay=on"],
            &["ab", "lab", "--set", "tcp.no-delay=on", "--margin", "0.1%"],
            &["ab", "lab", "--set", "tcp.no-delay=on", "--blocks", "5"],
            &["ab", "lab", "--set", "tcp.no-delay=on", "--only", "memory"],
            &["ab", "lab", "--set", "tcp.no-delay=on", "--rung", "in-host.unix"],
            &["list", "knob"],
            &["explain", "reciever-cpu"],
            &["explain", "zzzzzzzz"],
            &["completions", "bsh"],
        ],
    );
    assert_short(&page);
    snapshot("errors-command-line.txt", &page);
}

#[test]
fn a_target_that_is_typed_wrong_is_told() {
    let targets = [
        "lob",
        "node7",
        "simulatd",
        "ssh:node7",
        "ssh://",
        "ftp://a",
        "ssh://a,ssh://b,ssh://c",
        "ssh://-oProxyCommand=x",
        "lab:mtu=12",
        "lab:mtu",
        "lab:rat=1Gb/s",
        "lab:speed=1",
        "lab:rate=fast",
        "lab:rate=1mb/s",
        "lab:rate=1Gb/s,rate=2Gb/s",
        "lab:loss=100%",
        "lab:mtu=9,000",
        "lab:coalesce=64",
        "lab:coalesce-frames=8",
        "lab:coalesce=64us,wire=netem",
        "lab:metr",
        "lab:a-b.los=1%",
        "lab:a-c.loss=1%",
        "lab:no-such.toml",
        "lab:metro,wire=tbf",
        "simulated:noise=much",
        "simulated:noises=1%",
    ];
    let desk = Desk::new();
    let page = targets.map(|target| desk.told(&["run", target])).join("\n");
    assert_short(&page);
    snapshot("errors-target.txt", &page);
}

#[test]
fn a_recording_that_cannot_be_used_is_told() {
    let desk = Desk::new();
    let measured =
        desk.linerate(&["run", "simulated", "--profile", "quick", "--only", "memory.copy", "--seed", "1"]);
    let path = super::support::text(&measured).lines().last().unwrap().to_owned();
    let whole = std::fs::read_to_string(desk.folder.path().join(path)).unwrap();
    desk.write("empty.jsonl", "");
    desk.write("notes.txt", "what I measured\n");
    desk.write("newer.jsonl", &whole.replacen("linerate.recording/1", "linerate.recording/7", 1));
    desk.write("folder/one.txt", "");
    let page = page(
        &desk,
        &[
            &["report", "nosuch.jsonl"],
            &["report", "folder"],
            &["report", "empty.jsonl"],
            &["report", "notes.txt"],
            &["report", "newer.jsonl"],
            &["report", "/proc/self/mem"],
            &["compare", "nosuch/", "folder"],
            &["compare", "folder", "folder"],
            &["compare", "newer.jsonl", "newer.jsonl"],
        ],
    );
    assert_short(&page);
    snapshot("errors-recording.txt", &page);

    // What was cut off, or spoilt in the middle, is read as far as it goes.
    desk.write("cut.jsonl", &whole[..whole.len() - 20]);
    desk.write("spoilt.jsonl", &whole.replacen("{\"event\":\"host\"", "{\"event\":\"hots\"", 1));
    let page = [desk.told(&["report", "cut.jsonl"]), desk.told(&["report", "spoilt.jsonl"])].join("\n");
    let page: String =
        page.lines().map(|line| line.split(", expected one of").next().unwrap().to_owned() + "\n").collect();
    snapshot("recording-in-part.txt", &page);
}

#[test]
fn a_place_that_cannot_be_used_is_told() {
    let desk = Desk::new();
    desk.write("file", "");
    let page = page(
        &desk,
        &[
            &["run", "simulated", "--output", "/proc/nowhere"],
            &["run", "simulated", "--output", "file"],
            &["run", "simulated", "--output", "file/below"],
            &[
                "calibrate",
                "simulated",
                "--runs",
                "3",
                "--only",
                "memory.copy",
                "--quiet",
                "--state",
                "/proc/nowhere",
            ],
            &["man", "file"],
        ],
    );
    assert_short(&page);
    snapshot("errors-place.txt", &page);
}

/// Something in place of ssh, and what it says before it fails.
const SSH: &[(&str, &str)] = &[
    ("no-such-host", "ssh: Could not resolve hostname nosuch: Name or service not known"),
    ("refused", "ssh: connect to host nosuch port 22: Connection refused"),
    (
        "unknown-key",
        "No ED25519 host key is known for nosuch and you have requested strict checking.\nHost key verification failed.",
    ),
    ("not-allowed", "Welcome to nosuch.\nme@nosuch: Permission denied (publickey,password)."),
    ("silent", ""),
];

#[test]
fn a_host_that_cannot_be_reached_is_told() {
    let desk = Desk::new();
    let mut lines = String::new();
    for (name, says) in SSH {
        desk.write(name, &format!("cat >&2 <<'END'\n{says}\nEND\nexit 255\n"));
        writeln!(lines, "{}", desk.told(&["run", "ssh://me@nosuch", "--ssh", &format!("sh {name}")]))
            .unwrap();
    }
    // Another machine, another version, one that ends at once.
    desk.write("machine", "echo Linux sparc64\n");
    let present = "case \"$*\" in *uname*) echo present;; *)";
    let answer = "{\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{\"protocol\":\"linerate/0\"}}";
    let script = format!(
        "read -r line; id=$(echo \"$line\" | sed 's/.*\"id\":\\([0-9]*\\).*/\\1/'); echo '{answer}' | sed s/ID/$id/"
    );
    desk.write("version", &format!("{present} {script};; esac\n"));
    desk.write("ended", &format!("{present} exit 0;; esac\n"));
    for name in ["machine", "version", "ended"] {
        writeln!(lines, "{}", desk.told(&["run", "ssh://nosuch", "--ssh", &format!("sh {name}")])).unwrap();
    }
    lines += &desk.told(&["run", "ssh://nosuch", "--ssh", "nosuch-ssh -v"]);
    lines += "\n";
    lines += &desk.told(&["run", "ssh://nosuch", "--ssh", ""]);
    assert_short(&lines);
    snapshot("errors-host.txt", &lines.replace(std::env::consts::ARCH, "ARCH"));
}

#[test]
fn a_full_disk_leaves_a_recording() {
    let desk = Desk::new();
    desk.write("full/empty", "");
    let script = format!(
        "mount -t tmpfs -o size=512k none full && \
         {PROGRAM} run simulated --only network.tcp --seed 1 --output full >out 2>err; echo $? >code; \
         {PROGRAM} report full/*.jsonl >kept 2>spoilt; echo $? >again"
    );
    let made =
        desk.command("unshare").args(["--user", "--map-root-user", "--mount", "sh", "-c", &script]).output();
    let read = |name: &str| std::fs::read_to_string(desk.folder.path().join(name)).unwrap_or_default();
    if read("code").is_empty() {
        println!("SKIP: words::errors::a_full_disk: no mount namespace: {made:?}");
        return;
    }
    let page =
        format!("$ linerate run simulated --output full\n{}exit {}", desk.plain(&read("err")), read("code"));
    assert_short(page.trim_end());
    snapshot("errors-full-disk.txt", &page);
    assert_eq!((read("again").as_str(), read("spoilt").as_str()), ("0\n", ""), "whole lines are left");
    assert!(read("kept").contains("network.tcp"), "{}", read("kept"));
    assert!(read("out").contains("network.tcp"), "what was measured is reported: {}", read("out"));
}
