//! The table: how each kind of documented command is run, and which exit codes are right.

/// How a command is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// As it stands.
    Stands,
    /// Its hosts are replaced by a made-up machine; as it stands it must be accepted, up to the recording.
    Simulated,
    /// Between real hosts, with something added that makes it short.
    Live,
    /// With the lab up that it needs, and all labs down afterwards.
    Lab,
    /// The same, until Ctrl-C.
    Interrupted,
    /// On a made-up machine, and on a terminal.
    Terminal,
    /// Not at all, for this reason.
    NotRun(&'static str),
}

/// Commands that begin in one way and hold a text, and how they are run.
#[derive(Debug)]
pub struct Rule {
    /// How they begin; all that they are, where a `$` ends it.
    pub starts: &'static str,
    pub holds: &'static str,
    pub how: How,
    /// What is added to the command line.
    pub more: &'static str,
    /// The exit codes that are right.
    pub codes: &'static [i32],
}

const fn new(
    starts: &'static str,
    holds: &'static str,
    how: How,
    more: &'static str,
    codes: &'static [i32],
) -> Rule {
    Rule { starts, holds, how, more, codes }
}

/// Two rungs once: about as little as there is between two hosts.
const SHORT: &str = " --profile quick --passes 1 --sizes 1KiB --only memory.copy,network.udp";
/// The same, different, cannot tell.
const VERDICT: &[i32] = &[0, 10, 11];
/// Of a command that Ctrl-C ends; iperf3 has 1 for that.
const ENDED: &[i32] = &[0, 1, 130];

/// Every rule; the first that fits is taken.
#[rustfmt::skip]
pub const RULES: &[Rule] = &[
    new("cargo build", "", How::NotRun("it has built the program that is tested"), "", &[]),
    new("cargo bench", "", How::NotRun("a race of all peers takes hours"), "", &[]),
    new("./test", "", How::NotRun("it would run this test again"), "", &[]),
    new("cargo run --release -- run lab$", "", How::Live, SHORT, &[0]),
    new("cargo run --release -- ", "", How::Simulated, "", &[0]),
    new("linerate run slurm", "", How::NotRun("there is no Slurm; launchers::slurm has one"), "", &[]),
    new("linerate run \"mpirun", "", How::NotRun("there are no such hosts; tests of launchers have some"), "", &[]),
    new("linerate run launch:", "", How::NotRun("there are no such hosts; tests of launchers have some"), "", &[]),
    new("linerate run ssh://HOST$", "", How::Live, SHORT, &[0]),
    // Faults are put into a lab alone.
    new("linerate run lab", "--fault", How::Stands, SHORT, &[0]),
    new("linerate run lab", "fault=", How::Stands, SHORT, &[0]),
    new("linerate run", "--live", How::Terminal, "", &[0]),
    new("linerate run", "--profile thorough", How::Simulated, " --passes 1 --only network.tcp", &[0]),
    new("linerate run", "", How::Simulated, "", &[0]),
    new("LINERATE_CONFIG= linerate run", "", How::Simulated, "", &[0]),
    new("linerate ab", "", How::Simulated, "", VERDICT),
    new("linerate diagnose --port", "", How::Stands, " --budget 1s", &[0, 11]),
    new("linerate diagnose", "", How::Simulated, "", VERDICT),
    new("linerate transfer ssh://", "", How::NotRun("the hosts and files of its examples are nobody's here"), "", &[]),
    new("linerate transfer lab", "--compare", How::Stands, " --sizes 1MB --rounds 1 --tools none", &[0]),
    new("linerate transfer lab", "", How::Stands, "", &[0]),
    new("linerate trace ssh://", "", How::NotRun("there is no host of that name"), "", &[]),
    new("linerate trace lab", "--stream", How::Stands, " --time 200ms --blocks 1", &[0]),
    new("linerate trace", "", How::Stands, " --exchanges 20 --blocks 1", &[0]),
    new("linerate capture ssh://", "", How::NotRun("there is no host of that name"), "", &[]),
    new("linerate capture", "", How::Stands, "", &[0]),
    new("linerate tune lab --dry-run", "", How::Stands, "", &[0]),
    new("linerate tune lab", "--fault", How::Stands, " --dry-run", &[0]),
    new("linerate tune", "", How::Simulated, "", VERDICT),
    new("linerate matrix lab", "", How::Stands, " --trial 50ms --partners 4 --no-page", VERDICT),
    new("linerate matrix", "", How::NotRun("the hosts of its examples are nobody's here"), "", &[]),
    new("linerate undo", "", How::Stands, "", &[0]),
    new("ssh node7 linerate undo", "", How::NotRun("there is no host of that name"), "", &[]),
    // Without a target it is the lab.
    new("linerate calibrate$", "", How::Simulated, " simulated", &[0]),
    new("linerate calibrate", "", How::Simulated, "", &[0]),
    new("linerate resume", "", How::NotRun("its recording is whole; tests of resume cut some"), "", &[]),
    new("linerate history", "--keep", How::NotRun("nothing was measured before"), "", &[]),
    new("linerate history", "", How::Stands, "", &[0]),
    new("linerate compare --baseline", "", How::NotRun("it has no name here; tests of history give one"), "", &[]),
    new("linerate compare", "", How::Stands, "", VERDICT),
    new("linerate import", "", How::Stands, "", &[0]),
    new("iperf3 -c HOST -J |", "", How::NotRun("there is no iperf3 server on a host of that name"), "", &[]),
    new("linerate report", "", How::Stands, "", &[0]),
    // What grep finds nothing of is not missing.
    new("linerate doctor |", "", How::Stands, "", &[0, 1]),
    new("linerate doctor", "", How::Stands, "", &[0]),
    new("linerate list", "", How::Stands, "", &[0]),
    new("linerate explain", "", How::Stands, "", &[0]),
    new("linerate config", "", How::Stands, "", &[0]),
    new("mkdir -p ~/.config/linerate && linerate config", "", How::Stands, "", &[0]),
    new("linerate completions", "", How::Stands, "", &[0]),
    new("linerate man", "", How::Stands, "", &[0]),
    new("linerate lab up", "--detach", How::Lab, "", &[0]),
    new("linerate lab up", "", How::Interrupted, "", ENDED),
    new("linerate lab exec", "iperf3 -s", How::Interrupted, "", ENDED),
    new("linerate lab", "", How::Lab, "", &[0]),
];

/// The rule for a command.
pub fn rule(text: &str) -> Option<&'static Rule> {
    let begins = |rule: &Rule| match rule.starts.strip_suffix('$') {
        Some(whole) => text == whole,
        None => text.starts_with(rule.starts),
    };
    RULES.iter().find(|rule| begins(rule) && text.contains(rule.holds))
}

/// The exit codes that are right for a script: a comparison at its end has a verdict.
pub fn of_script(text: &str) -> &'static [i32] {
    let compares = text.lines().last().is_some_and(|line| line.starts_with("linerate compare"));
    if compares { VERDICT } else { &[0] }
}

#[test]
fn the_first_rule_that_fits_is_taken() {
    assert!(rule("linerate run ssh://HOST").is_some_and(|rule| rule.how == How::Live));
    assert!(rule("linerate run ssh://HOST -q").is_some_and(|rule| rule.how == How::Simulated));
    assert!(rule("linerate lab list").is_some_and(|rule| rule.how == How::Lab));
    assert!(rule("linerate sing").is_none());
}
