//! Help, error texts and exit codes, as a user meets them.

use std::process::{Command, Output};

fn linerate(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    // Nothing of this may reach the user's own history.
    let state = std::env::temp_dir().join(format!("linerate-state-{}", std::process::id()));
    command.env("LINERATE_STATE", state).args(arguments).output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn help_shows_worked_commands() {
    let output = linerate(&["--help"]);
    assert!(output.status.success());
    assert!(text(&output).matches("\n  linerate ").count() >= 5, "{}", text(&output));
    for hidden in ["agent", "worker", "builder"] {
        assert!(!text(&output).contains(&format!("\n  {hidden} ")), "{hidden} is no user's command");
    }
}

#[test]
fn what_is_wrong_is_said_with_what_to_try() {
    let cases: [(&[&str], i32, &str); 11] = [
        (&["run", "lob"], 2, "did you mean `lab`?"),
        (&["run", "node7"], 2, "try ssh://node7"),
        (&["run", "lab:mtu=12"], 2, "576"),
        (&["run", "lab", "--set", "socket.send-bufer=1"], 2, "socket.send-buffer"),
        (&["run", "lab", "--only", "network.tpc"], 2, "network.tcp"),
        (&["run", "lab", "--only", "network", "--skip", "network"], 2, "--skip"),
        (&["run", "lab", "--budget", "soon"], 2, "try 60s"),
        (&["run", "lab", "--profile", "fast"], 2, "quick"),
        (&["explain", "reciever-cpu"], 2, "did you mean `receiver-cpu`"),
        (&["report", "/nonexistent.jsonl"], 5, "No such file"),
        (&["report", "/proc/self/exe"], 6, "not a linerate recording"),
    ];
    for (arguments, code, part) in cases {
        let output = linerate(arguments);
        let printed = text(&output);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {printed}");
        assert!(printed.contains(part), "{arguments:?}: {printed}");
    }
}

#[test]
fn the_lists_are_the_tables() {
    let output = linerate(&["list"]);
    let printed = text(&output);
    for rung in linerate::vocabulary::RUNGS {
        assert!(printed.contains(rung.id));
    }
    for knob in linerate::vocabulary::KNOBS {
        assert!(printed.contains(knob.name));
    }
}

#[test]
fn explain_has_formula_source_and_remedy() {
    for (name, parts) in [
        ("half-round-trip", ["metric", "formula", "NetPIPE", "docs/method/half-round-trip.md"]),
        ("send-buffer", ["bound", "socket.send-buffer", "tcpi_sndbuf_limited", "try"]),
    ] {
        let output = linerate(&["explain", name]);
        assert!(output.status.success(), "{}", text(&output));
        for part in parts {
            assert!(text(&output).contains(part), "{part}: {}", text(&output));
        }
    }
    let all = text(&linerate(&["explain"]));
    assert!(all.contains("warnings") && all.contains("byte-mismatch"), "{all}");
}

#[test]
fn doctor_says_what_this_host_can_do() {
    let output = linerate(&["doctor"]);
    assert!(output.status.success(), "{}", text(&output));
    assert!(text(&output).contains("lab"), "{}", text(&output));
}

#[test]
fn a_folder_that_cannot_be_made_is_said() {
    let output = linerate(&["run", "lab", "--output", "/proc/nowhere"]);
    assert_eq!(output.status.code(), Some(5));
    assert!(text(&output).contains("/proc/nowhere"), "{}", text(&output));
    let output = linerate(&["run", "lab", "--output", "/proc/self/exe"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output).contains("--output"), "{}", text(&output));
}
