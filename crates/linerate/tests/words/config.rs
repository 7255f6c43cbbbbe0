//! Defaults from a file.

use super::support::{Desk, PROGRAM, snapshot, text};
use serde_json::Value;

const FILE: &str = ".config/linerate/config.toml";

/// The first line of the recording that a run with these arguments makes.
fn header(desk: &Desk, arguments: &[&str], environment: &[(&str, &str)]) -> Value {
    let mut command = desk.command(PROGRAM);
    let output = command.args(arguments).envs(environment.iter().copied()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let path = text(&output).lines().last().unwrap().to_owned();
    let recording = std::fs::read_to_string(desk.folder.path().join(path)).unwrap();
    serde_json::from_str(recording.lines().next().unwrap()).unwrap()
}

#[test]
fn the_command_line_wins_over_both_tables() {
    let desk = Desk::new();
    let file = desk.write(
        FILE,
        "[default]\noutput = 'shared'\nseed = 1\n[run]\nseed = 2\nonly = ['memory']\npasses = 1\n",
    );
    let run = header(&desk, &["run", "simulated"], &[]);
    assert_eq!((&run["plan"]["seed"], &run["plan"]["profile"]["passes"]), (&2.into(), &1.into()));
    assert_eq!(run["plan"]["rungs"].as_array().unwrap().len(), 3);
    assert_eq!(run["defaults"]["file"], file.to_str().unwrap());
    let added = ["--output=shared", "--seed=2", "--only=memory", "--passes=1"];
    assert_eq!(run["defaults"]["arguments"], serde_json::json!(added));
    let line = [&[PROGRAM, "run"][..], &added, &["simulated"]].concat();
    assert_eq!(run["command"], serde_json::json!(line), "the line in force can be run again anywhere");

    // A list on the line replaces the file's; what excludes a key of the file takes it out.
    let run =
        header(&desk, &["run", "simulated", "--seed", "3", "--only", "memory.copy", "--budget", "20s"], &[]);
    assert_eq!(
        (&run["plan"]["seed"], &run["plan"]["rungs"]),
        (&3.into(), &serde_json::json!(["memory.copy"]))
    );
    assert_eq!(run["defaults"]["arguments"], serde_json::json!(["--output=shared"]));
}

#[test]
fn a_commands_table_excludes_shared_settings() {
    let desk = Desk::new();
    desk.write(FILE, "[default]\nbudget = '60s'\nonly = 'memory.copy'\n[run]\npasses = 1\n");
    let run = header(&desk, &["run", "simulated"], &[]);
    assert_eq!(run["defaults"]["arguments"], serde_json::json!(["--only=memory.copy", "--passes=1"]));
}

#[test]
fn what_a_command_needs_may_come_from_the_file() {
    let desk = Desk::new();
    desk.write(FILE, "[ab]\nset = ['tcp.no-delay=off']\nblocks = 6\nno-extend = true\n");
    let output = desk.linerate(&["ab", "simulated", "--seed", "1"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!([0, 10, 11].contains(&output.status.code().unwrap()), "{said}");
    assert!(text(&output).contains("tcp.no-delay=off"), "{}", text(&output));
}

#[test]
fn the_environment_wins_over_the_file() {
    let desk = Desk::new();
    desk.write(FILE, "[default]\nssh = 'from-file'\n");
    let run = ["run", "ssh://nosuch", "--quiet"];
    let told = |name: &str, value: &str| {
        let output = desk.command(PROGRAM).args(run).env(name, value).output().unwrap();
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(told("OTHER", "").contains("start from-file:"));
    assert!(told("LINERATE_SSH", "from-environment").contains("start from-environment:"));
    assert!(told("LINERATE_CONFIG", "").contains("nosuch"));
}

#[test]
fn without_a_file_the_line_is_kept_as_given() {
    let desk = Desk::new();
    let given = ["run", "simulated", "--profile", "quick", "--only", "memory.copy"];
    let run = header(&desk, &given, &[]);
    assert_eq!(run["command"], serde_json::json!([&[PROGRAM], &given[..]].concat()));
    assert!(run.get("defaults").is_none());
}

#[test]
fn the_file_and_what_it_does_are_shown() {
    let desk = Desk::new();
    let shown = |desk: &Desk| desk.plain(&text(&desk.linerate(&["config"])));
    let mut page = shown(&desk);
    desk.write(FILE, "# mine\n[default]\nquiet = true\n\n[run]\nprofile = 'quick'\nonly = ['network', 'memory']\nseed = 7\n\n[ab]\nquiet = false\n");
    page += &format!("\n{}", shown(&desk));
    snapshot("config.txt", &page);
    let json: Value = serde_json::from_str(&text(&desk.linerate(&["config", "--format", "json"]))).unwrap();
    assert_eq!((&json["exists"], &json["from"]), (&true.into(), &"HOME".into()));
    assert_eq!(json["commands"]["calibrate"], serde_json::json!(["--quiet"]));
    assert_eq!(json["commands"]["ab"], Value::Null, "switched off again");
}

#[test]
fn the_example_sets_nothing_and_has_every_key() {
    let desk = Desk::new();
    let example = text(&desk.linerate(&["config", "--example"]));
    snapshot("config-example.toml.txt", &desk.plain(&example));
    desk.write(FILE, &example);
    let shown = text(&desk.linerate(&["config"]));
    assert!(shown.contains("sets      nothing"), "{shown}");
    for key in ["profile", "only", "set", "quiet", "format", "margin", "no-extend", "runs"] {
        assert!(example.contains(&format!("\n#{key} = ")), "{key}: {example}");
    }
}

#[test]
fn an_error_in_the_file_is_told_with_its_line() {
    let desk = Desk::new();
    let files = [
        "quiet = true\n",
        "[run\n",
        "[runn]\n",
        "[agent]\n",
        "[config]\nformat = 'json'\n",
        "\n[run]\nprofil = 'quick'\n",
        "[default]\nprofil = 'quick'\n",
        "[run]\nprofile = 'quik'\n",
        "[run]\nprofile = ['quick']\n",
        "[run]\nonly = ['network', 'netwrk']\n",
        "[run]\nset = ['tcp.no-delay=maybe']\n",
        "[run]\nquiet = 'yes'\n",
        "[run]\nbudget = '60s'\npasses = 3\n",
        "[default]\nformat = 'csv'\n",
        "[run]\nseed = 1\nseed = 2\n",
    ];
    let mut page = String::new();
    for file in files {
        desk.write(FILE, file);
        let quoted: String = file.lines().map(|line| format!("| {line}\n")).collect();
        page += &format!("{quoted}{}\n", desk.told(&["run", "simulated"]));
    }
    desk.write(FILE, &"#".repeat(70_000));
    page += &desk.told(&["run", "simulated"]);
    snapshot("errors-config.txt", &page);
    let help = desk.linerate(&["run", "--help"]);
    assert!(help.status.success(), "help is there whatever the file says");
    let missing = desk.command(PROGRAM).arg("config").env("LINERATE_CONFIG", "nosuch").output().unwrap();
    assert_eq!(missing.status.code(), Some(2), "{}", String::from_utf8_lossy(&missing.stderr));
}
