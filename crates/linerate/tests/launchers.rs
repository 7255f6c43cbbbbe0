//! Agents that launchers start and that call back: a command for each host, an MPI's launcher, Slurm.

mod clocks;
mod slurm;
mod world;

use crate::user::runs::{
    PROGRAM, agents, await_condition, code, failed_hosts, processes, recording, report, signal,
};
use rustix::process::Signal;
use std::process::Command;
use world::{World, said};

/// Nothing of a run is left, on any host.
fn await_none() {
    await_condition("the end of what the run started", || processes().is_empty());
}

fn kill(pid: u32) {
    signal(pid, Signal::KILL);
}

#[test]
fn named_hosts_call_back_and_one_that_does_not_is_a_line() {
    let world = World::new(3);
    // What greets and what complains is no answer.
    let launch = format!("seq 20000; {} {{host}}", world.enter());
    let what = ["--only", "network.tcp", "--sizes", "1KiB", "--passes", "1"];
    let output = world.run("launch:h0,gone,h1", &launch, &what).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let missing: Vec<String> =
        said(&output).lines().filter(|line| line.contains("gone")).map(String::from).collect();
    assert!(missing.len() == 1 && missing[0].contains("no call of gone; "), "{missing:?}");
    assert!(missing[0].contains("no host is called gone"), "what the command said: {missing:?}");
    let path = recording(&world.out());
    let text = std::fs::read_to_string(&path).unwrap();
    for host in &world.lab.hosts()[..2] {
        assert!(text.contains(&format!(r#""address":"{}""#, host.address)), "the route to the controller");
    }
    assert_eq!(text.matches(r#""reached":"launch://"#).count(), 2);
    let rung = &report(&path)["ladder"][0];
    assert!(rung["throughput_bps"]["median"].as_f64().unwrap() > 0.0, "{rung}");
    await_none();
}

/// Three of four call: one is a name that the command does not know.
#[test]
fn a_matrix_goes_on_without_who_does_not_call() {
    let world = World::new(4);
    let launch = format!("{} {{host}}", world.enter());
    let out = world.out();
    let arguments = ["matrix", "launch:h0,gone,h1,h2", "--launch", &launch, "--trial", "50ms", "--no-page"];
    let output = world.command(&arguments).arg("--output").arg(&out).output().unwrap();
    assert_eq!(output.status.code(), Some(11), "{}", said(&output));
    let matrix = report(&recording(&out))["matrix"].clone();
    let failed = failed_hosts(&matrix);
    assert_eq!(failed.iter().map(Option::is_some).collect::<Vec<_>>(), [false, true, false, false]);
    assert!(failed[1].unwrap().contains("no host is called gone"), "{failed:?}");
    assert_eq!(matrix["cells"].as_array().unwrap().len(), 6, "{matrix:#}");
    await_none();
}

#[test]
fn what_launches_nothing_is_refused_with_a_hint() {
    let world = World::new(1);
    let refused = |target: &str, launch: &str, exit: i32, parts: &[&str]| {
        let output =
            world.run(target, launch, &["--only", "network.tcp", "--launch-wait", "1s"]).output().unwrap();
        assert_eq!(output.status.code(), Some(exit), "{}", said(&output));
        let text = said(&output);
        parts.iter().for_each(|part| assert!(text.contains(part), "{part}: {text}"));
        assert!(!world.out().exists(), "a run that is refused leaves nothing");
    };
    refused("slurm:-N2", "/no/such/srun", 3, &["there is no `/no/such/srun`", "is slurm installed here?"]);
    refused(
        "launch:h0,h1",
        "ssh h0",
        2,
        &["does not say where {host} goes", "hint: try --launch 'ssh {host}'"],
    );
    refused(
        "launch:h0,h1",
        "echo away is {host}; exit 7; :",
        4,
        &["no call of h0; sh, process ", "ended with exit status: 7; it said: away is h1", "--listen"],
    );
    refused("mpirun:-n 2", "sleep 600; exit", 4, &["no call of task 0 of mpirun, task 1 of mpirun"]);
    await_none();
}

#[test]
fn two_that_answer_as_one_host_are_told_apart() {
    let world = World::new(1);
    // Called as mpirun is: `-n 2 PROGRAM agent …`.
    let fake = world.script("fake", "shift 2\nPMI_RANK=0 \"$@\" & PMI_RANK=0 \"$@\" & wait");
    let output = world.run("mpirun", &fake, &["--launch-wait", "2s"]).output().unwrap();
    let text = said(&output);
    assert_eq!(output.status.code(), Some(4), "{text}");
    assert!(text.contains("answers as task 0 of mpirun, which another one does already"), "{text}");
    assert!(text.contains("no call of task 1 of mpirun"), "{text}");
    await_none();
}

#[test]
fn an_agent_without_the_secret_gets_nothing() {
    let folder = tempfile::TempDir::new().unwrap();
    let file = folder.path().join("secret");
    std::fs::write(&file, "0123456789abcdef0123456789abcdef\n").unwrap();
    let agent = |arguments: &[&str]| {
        let mut command = Command::new(PROGRAM);
        command.args(["agent", "--join", "127.0.0.1:9"]).args(arguments).env_remove("LINERATE_JOIN_SECRET");
        command.output().unwrap()
    };
    let path = file.to_str().unwrap();
    for (arguments, part) in [
        (&[][..], "no secret is given"),
        (&["--secret-file", path], "others may read it"),
        (&["--secret-file", "/no/such/file"], "there is no such file"),
    ] {
        let output = agent(arguments);
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(said(&output).contains(part), "{}", said(&output));
    }
}

#[test]
fn a_killed_controller_leaves_nothing_and_resume_goes_on() {
    let world = World::new(3);
    let launch = format!("{} {{host}}", world.enter());
    let what = ["--only", "network.tcp", "--sizes", "1KiB", "--passes", "2"];
    let mut run = world.run("launch:h0,h1", &launch, &what).spawn().unwrap();
    world.await_trial();
    // The secret is in nobody's arguments.
    for (pid, _) in processes() {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let words = line.split(|byte| *byte == 0);
        assert!(words.into_iter().all(|word| word.len() < 60
            || word.starts_with(b"/")
            || !word.iter().all(u8::is_ascii_hexdigit)));
    }
    assert_eq!(processes().iter().filter(|(_, role)| role == "agent").count(), 2);
    kill(run.id());
    assert_eq!(code(&mut run), None);
    await_none();
    let cut = recording(&world.out());
    let arguments = |more: &[&str]| {
        let resumed = world.folder.path().join("resumed");
        let mut command = world.command(&[&["resume"], more].concat());
        command.arg(&cut).arg("--output").arg(&resumed);
        (command.output().unwrap(), resumed)
    };
    // Whose command it is has to be said.
    let (output, _) = arguments(&[]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains(&format!("it calls: {launch}, for launch:h0,h1")), "{}", said(&output));
    let (output, resumed) = arguments(&["--trust"]);
    assert!(output.status.success(), "{}", said(&output));
    let report = report(&recording(&resumed));
    let ladder = report["ladder"].as_array().unwrap();
    assert!(
        ladder.iter().all(|entry| entry["throughput_bps"]["n"].as_u64().is_none_or(|n| n == 2)),
        "{ladder:#?}"
    );
    await_none();
}

/// It is stopped, and stays at its host: the agent that takes its place ends it first.
#[test]
fn a_stopped_agent_ends_before_there_is_another_one() {
    let world = World::new(4);
    let launch = format!("{} {{host}}", world.enter());
    let out = world.out();
    let arguments = ["matrix", "launch:h0,h1,h2", "--launch", &launch, "--trial", "100ms", "--no-page"];
    let mut run = world.command(&arguments).arg("--output").arg(&out).spawn().unwrap();
    world.await_trial();
    let stopped = agents()[0];
    signal(stopped, Signal::STOP);
    assert_eq!(code(&mut run), Some(11), "three hosts are too few to name one");
    let path = recording(&out);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("does not answer any more") && text.contains(r#""process":true"#), "{text}");
    let matrix = report(&path)["matrix"].clone();
    assert!(matrix["hosts"].as_array().unwrap().iter().all(|host| host["failed"].is_null()), "{matrix:#}");
    assert_eq!(matrix["cells"].as_array().unwrap().len(), 6, "{matrix:#}");
    await_none();
}

/// Each row has every pass but what the recording says was lost on the way.
#[track_caller]
fn has_all_but_what_was_lost(recording: &std::path::Path, passes: u64) {
    let (report, lost) = (report(recording), failures(recording));
    let rows = report["ladder"].as_array().unwrap().iter();
    let counts: Vec<u64> = rows.filter_map(|entry| entry["throughput_bps"]["n"].as_u64()).collect();
    let missing: u64 = counts.iter().map(|count| passes.checked_sub(*count).unwrap()).sum();
    assert!(!counts.is_empty() && missing <= lost.len() as u64, "{counts:?}, {lost:?}");
}

/// What failed on the way.
fn failures(recording: &std::path::Path) -> Vec<String> {
    let text = std::fs::read_to_string(recording).unwrap();
    let lines = text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let failed = lines.filter(|line| line["event"] == "unavailable" && line["kind"] == "failed");
    failed.map(|line| line["why"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn an_agent_that_dies_is_started_again() {
    let world = World::new(3);
    let launch = format!("{} {{host}}", world.enter());
    let what = ["--only", "network.tcp", "--sizes", "1KiB", "--passes", "2"];
    let mut run = world.run("launch:h0,h1", &launch, &what).spawn().unwrap();
    world.await_trial();
    kill(agents()[0]);
    assert_eq!(code(&mut run), Some(0));
    let whole = recording(&world.out());
    let failures = failures(&whole);
    assert!(failures.iter().any(|why| why.contains("ended its connection")), "the gap: {failures:?}");
    has_all_but_what_was_lost(&whole, 2);
    await_none();
}

/// Its command knows it no more: of many hosts it is a line.
#[test]
fn a_host_that_does_not_come_back_is_a_line() {
    let world = World::new(5);
    let launch = format!("{} {{host}}", world.enter());
    let arguments = ["matrix", "launch:h0,h1,h2,h3", "--launch", &launch, "--trial", "100ms", "--no-page"];
    let out = world.out();
    let mut run = world.command(&arguments).arg("--output").arg(&out).spawn().unwrap();
    world.await_trial();
    std::fs::remove_file(world.folder.path().join("h1.pid")).unwrap();
    let is_of_h1 = |pid: &u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let words: Vec<&[u8]> = line.split(|byte| *byte == 0).collect();
        words.windows(2).any(|two| two[0] == b"--place" && two[1] == b"1")
    };
    kill(agents().into_iter().find(is_of_h1).expect("an agent of h1"));
    assert_eq!(code(&mut run), Some(11));
    let matrix = report(&recording(&out))["matrix"].clone();
    let failed = failed_hosts(&matrix);
    assert_eq!(failed.iter().map(Option::is_some).collect::<Vec<_>>(), [false, true, false, false]);
    assert!(failed[1].unwrap().contains("it does not come back: "), "{failed:?}");
    await_none();
}

#[test]
fn a_launcher_that_ends_with_its_agents_is_not_called_again() {
    let world = World::new(1);
    // Called as mpirun is: `-n 2 PROGRAM agent …`.
    let fake = world.script("fake", "shift 2\nPMI_RANK=0 \"$@\" & PMI_RANK=1 \"$@\" & wait");
    let what = ["--only", "network.tcp", "--sizes", "1KiB", "--passes", "3"];
    let mut run = world.run("mpirun", &fake, &what).spawn().unwrap();
    world.await_trial();
    kill(agents()[0]);
    assert_eq!(code(&mut run), Some(4));
    let mut text = String::new();
    std::io::Read::read_to_string(&mut run.stderr.take().unwrap(), &mut text).unwrap();
    assert!(text.contains("mpirun ends its agents together, and is not called again"), "{text}");
    await_none();
}

#[test]
fn an_mpis_own_launcher_starts_agents() {
    let world = World::new(3);
    let shell = world.enter();
    let home = world.lab.hosts()[2].address;
    let launchers = [
        (
            "mpirun.openmpi",
            format!("mpirun.openmpi --mca plm rsh --mca plm_rsh_agent {shell}"),
            "-host h0,h1 -n 2",
        ),
        (
            "mpiexec.mpich",
            format!("mpiexec.mpich -launcher ssh -launcher-exec {shell}"),
            &format!("-hosts h0,h1 -ppn 1 -localhost {home}"),
        ),
    ];
    for (program, launch, options) in launchers {
        if Command::new(program).arg("--version").output().is_err() {
            println!("SKIP: launchers::an_mpis_own_launcher_starts_agents: {program} is not installed");
            continue;
        }
        let plan = world.plan();
        let mut run = world.run(&format!("mpirun:{options}"), &launch, &["--plan", &plan, "--passes", "1"]);
        run.envs([("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")]);
        let output = run.output().unwrap();
        assert!(output.status.success(), "{program}: {}", said(&output));
        let text = std::fs::read_to_string(recording(&world.out())).unwrap();
        assert_eq!(text.matches(r#""reached":"mpirun://"#).count(), 2, "{program}");
        for host in &world.lab.hosts()[..2] {
            assert!(text.contains(&format!(r#""address":"{}""#, host.address)), "{program}");
        }
        std::fs::remove_dir_all(world.out()).unwrap();
    }
    await_none();
}
