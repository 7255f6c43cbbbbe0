//! The launchers' processes: what each is called with, what it says, how it ends.

use super::rendezvous::Rendezvous;
use crate::lab::journal;
use crate::plan::{Launched, Launcher};
use crate::run::ssh::quoted;
use crate::run::started::Slot;
use crate::{Error, Result};
use linerate_sys::child::ChildProcess;
use linerate_sys::process::Signal;
use linerate_sys::{spawn, thread};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, ErrorKind, PipeReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The environment variable with the secret, where standard input does not reach every agent.
pub const SECRET: &str = "LINERATE_JOIN_SECRET";

/// How long a launcher may take to end when its agents have.
const PATIENCE: Duration = Duration::from_secs(2);

/// What is kept of what a launcher says: lines, and bytes of each.
const LINES: usize = 20;
const LINE: u64 = 200;

/// How long after an agent its launcher may end, so that it can be asked for the reason.
const FOLLOWS: Duration = Duration::from_millis(500);

/// The launchers of a run: one, or one a host.
pub struct Launchers {
    by: &'static Launcher,
    all: Vec<Process>,
    names: Vec<String>,
}

/// One launcher.
#[derive(Clone)]
pub struct Process {
    child: ChildProcess,
    said: Arc<Mutex<VecDeque<String>>>,
    /// The program that was called.
    name: String,
}

impl Launchers {
    /// Starts them; each starts agents that call back.
    pub fn start(
        launched: &Launched,
        program: &Path,
        command: Option<&str>,
        rendezvous: &Rendezvous,
    ) -> Result<Launchers> {
        let by = launched.by();
        let agent = agent_words(by, rendezvous);
        let names: Vec<String> = (0..launched.hosts()).map(|place| launched.name_of(place)).collect();
        let commands = match launched.names() {
            [] => vec![one_for_all(launched, program, command, &agent)?],
            hosts => one_a_host(hosts, program, command, &agent)?,
        };
        let start = |command| Process::start(command, by, rendezvous.secret());
        let all = commands.into_iter().map(start).collect::<Result<_>>()?;
        Ok(Launchers { by, all, names })
    }

    /// Starts an agent again in this slot, by a call for it alone.
    pub fn again(
        launched: &Launched,
        program: &Path,
        command: Option<&str>,
        slot: &Slot,
        rendezvous: &Rendezvous,
    ) -> Result<Launchers> {
        let by = launched.by();
        let agent = agent_words(by, rendezvous);
        let name = launched.name_of(slot.place);
        let words = match launched.names() {
            [] => {
                let known = slot.node.as_deref().zip(slot.job.as_deref());
                let options = known.and_then(|(node, job)| launched.options_again(job, node));
                let options = options.ok_or_else(|| cannot_again(launched))?;
                let usual = by.usual.unwrap_or_default();
                let words = command.unwrap_or(usual).split_whitespace().map(String::from);
                [words.collect(), options, vec![program.display().to_string()], agent].concat()
            }
            hosts => {
                one_a_host(hosts, program, command, &agent)?.swap_remove(slot.place as usize % hosts.len())
            }
        };
        let process = Process::start(words, by, rendezvous.secret())?;
        Ok(Launchers { by, all: vec![process], names: vec![name] })
    }

    /// The one that started the agent of this place.
    pub fn process_of(&self, place: u32) -> Process {
        self.all[place as usize % self.all.len()].clone()
    }

    /// What has to be kept as long as agents are to go on.
    pub fn handles(&self) -> Vec<ChildProcess> {
        self.all.iter().map(|process| process.child.clone()).collect()
    }

    /// Has them end, with what they started.
    pub fn end(&self) {
        self.all.iter().for_each(|process| process.child.signal_group(Signal::Terminate));
    }

    /// Has those of these places end that go on, where each place has its own: their agents are not waited for any more.
    pub fn end_of(&self, places: &[u32]) {
        // One that has ended may have been waited for: its number may be another's.
        let own = places.iter().filter(|_| self.all.len() == self.names.len());
        let going_on = own.map(|place| self.process_of(*place).child).filter(|child| !child.has_ended());
        going_on.for_each(|child| child.signal_group(Signal::Terminate));
    }

    /// Whether nobody is left who might start the agents of these places.
    pub fn have_ended(&self, places: &[u32]) -> bool {
        places.iter().all(|place| self.all[*place as usize % self.all.len()].child.has_ended())
    }

    /// Why agents have not called, in a sentence a launcher.
    pub fn why_missing(&self, places: &[u32], waited: Duration) -> Vec<String> {
        let why = |at: usize| {
            let of_this = places.iter().filter(|place| **place as usize % self.all.len() == at);
            let names: Vec<&str> = of_this.map(|place| self.names[*place as usize].as_str()).collect();
            (!names.is_empty()).then(|| self.all[at].why_missing(&names.join(", "), waited))
        };
        (0..self.all.len()).filter_map(why).collect()
    }

    /// What may help where nobody calls.
    pub fn hint(&self, addresses: &str) -> String {
        if let Some(usual) = self.by.usual.filter(|_| self.all.iter().all(|one| one.child.has_ended())) {
            return format!("call it by hand with the same options and `hostname`: what does {usual} say?");
        }
        format!(
            "see whether {} starts a program there, and whether it reaches this host at {addresses}; --listen says another \
             address, --launch-wait a longer time",
            self.by.usual.unwrap_or("the command of --launch")
        )
    }
}

/// What a launcher starts: an agent that calls back here.
fn agent_words(by: &Launcher, rendezvous: &Rendezvous) -> Vec<String> {
    let mut agent = vec!["agent".to_owned(), "--join".into(), rendezvous.addresses()];
    if by.feeds_all {
        agent.extend(["--secret-file".into(), "-".into()]);
    }
    agent
}

/// Why no agent is started again.
pub fn cannot_again(launched: &Launched) -> Error {
    let by = launched.by();
    let who = by.usual.unwrap_or(by.name);
    let what = match launched.starts_again() {
        true => format!("{who} told no name of the host, and is not called for it again"),
        false => format!("{who} ends its agents together, and is not called again"),
    };
    Error::unavailable(what, "go on where it was cut: linerate resume RECORDING")
}

/// One call that starts an agent on every host.
fn one_for_all(
    launched: &Launched,
    program: &Path,
    command: Option<&str>,
    agent: &[String],
) -> Result<Vec<String>> {
    let usual = launched.by().usual.unwrap_or_default();
    let words: Vec<String> = command.unwrap_or(usual).split_whitespace().map(String::from).collect();
    if words.is_empty() {
        return Err(Error::usage("the command of --launch is empty", format!("try --launch {usual}")));
    }
    let program = program.display().to_string();
    Ok([words, launched.options(), vec![program], agent.to_vec()].concat())
}

/// A call for each host, as a shell reads it: the user's text with the host's name in it. The agent's own words come last, or
/// where `{args}` stands.
fn one_a_host(
    hosts: &[String],
    program: &Path,
    command: Option<&str>,
    agent: &[String],
) -> Result<Vec<Vec<String>>> {
    let hint = "try --launch 'ssh {host}', or docker exec -i {host}, or kubectl exec -i {host} --";
    let text =
        command.ok_or_else(|| Error::usage("what starts a program on these hosts is not said", hint))?;
    if !text.contains("{host}") {
        return Err(Error::usage(format!("--launch '{text}' does not say where {{host}} goes"), hint));
    }
    let call = |(place, host): (usize, &String)| {
        let words = agent.iter().cloned().chain(["--place".into(), place.to_string()]);
        let words = words.map(|word| quoted(&word)).collect::<Vec<_>>().join(" ");
        let whole = match text.contains("{args}") {
            true => text.replace("{args}", &words),
            false => format!("{text} {} {words}", quoted(&program.display().to_string())),
        };
        vec!["sh".into(), "-c".into(), whole.replace("{host}", host)]
    };
    Ok(hosts.iter().enumerate().map(call).collect())
}

/// What launchers tell a process of its place among those that they started, in the order in which they are asked: under
/// mpirun within Slurm the last one tells of a daemon.
pub const PLACES: &[&str] = &["OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"];

/// What tells it the launcher's own name of its host, and its allocation.
pub const SLOT: [&str; 2] = ["SLURMD_NODENAME", "SLURM_JOB_ID"];

impl Process {
    fn start(words: Vec<String>, by: &Launcher, secret: &str) -> Result<Process> {
        let name = words[0].clone();
        let failed = |e| Error::io("make a pipe for", &name, e);
        let (output, said) = std::io::pipe().map_err(failed)?;
        let mut command = Command::new(&name);
        command.args(&words[1..]).stdin(Stdio::piped());
        command.stdout(said.try_clone().map_err(failed)?).stderr(said);
        if !by.feeds_all {
            // Open MPI hands on what this names; others hand on all.
            command.env(SECRET, secret).env("OMPI_MCA_mca_base_env_list", SECRET);
            // An agent has all CPUs of its host, and says itself which one a worker takes.
            command.env("OMPI_MCA_hwloc_base_binding_policy", "none");
        }
        // Where this process is a rank itself, its place is none of theirs.
        PLACES.iter().for_each(|name| _ = command.env_remove(name));
        // Ctrl-C on the terminal is for the controller, which ends the agents in good order.
        spawn::tie_to_parent(&mut command);
        journal::mark(&mut command);
        let child =
            ChildProcess::start(&name, PATIENCE, command).map_err(|error| missing(error, &name, by))?;
        let said = Arc::new(Mutex::new(VecDeque::new()));
        let heard = said.clone();
        thread::start("launcher", move || hear(output, &heard))?;
        if let Some(mut input) = child.input()
            && by.feeds_all
        {
            // One that has ended already tells why itself.
            let _ = input.write_all(format!("{secret}\n").as_bytes());
        }
        Ok(Process { child, said, name })
    }

    fn why_missing(&self, names: &str, waited: Duration) -> String {
        if self.child.has_ended() {
            return format!("no call of {names}; {}", self.end());
        }
        let said = self.last_line().map_or(String::new(), |line| format!("; {} said: {line}", self.name));
        format!("no call of {names} for {} s{said}", waited.as_secs())
    }

    /// What it said last.
    fn last_line(&self) -> Option<String> {
        let said = lines(&self.said);
        let known = said.iter().rev().find(|line| is_telling(line));
        // A message in a box begins and ends with a row of dashes.
        let worded = || said.iter().rev().find(|line| line.contains(char::is_alphanumeric));
        known.or_else(worded).cloned()
    }

    /// How it ended.
    fn end(&self) -> String {
        let how = self.child.verdict().map_or_else(|| self.name.clone(), |ended| ended.how);
        let said = self.last_line().map_or(String::new(), |line| format!("; it said: {line}"));
        format!("{how}{said}")
    }

    /// What became of an agent that does not answer any more, as far as its launcher knows.
    pub fn last_words(&self, who: &str) -> String {
        if self.child.wait(FOLLOWS) {
            return format!("{who}: ended its connection; {}", self.end());
        }
        let telling = self.last_line().filter(|line| is_telling(line));
        let said = telling.map_or(String::new(), |line| format!("; {} said: {line}", self.name));
        format!("{who}: ended its connection{said}")
    }
}

/// Words by which a line that tells why is told from what surrounds it.
const TELLING: &[&str] = &[
    "error",
    "cannot",
    "not found",
    "denied",
    "refused",
    "no such",
    "fail",
    "invalid",
    "cancelled",
    "queued",
    "not available",
    "revoked",
    "as root",
];

/// What is no reason, though it may be said last: of `--cpu-bind=none`, which is asked here.
const IDLE_TALK: &str = "lacks support for cpu binding";

fn is_telling(line: &str) -> bool {
    let line = line.to_lowercase();
    !line.contains(IDLE_TALK) && TELLING.iter().any(|word| line.contains(word))
}

fn missing(error: linerate_sys::Error, name: &str, by: &Launcher) -> Error {
    if error.source.kind() != ErrorKind::NotFound {
        return error.into();
    }
    let hint = format!("is {} installed here? --launch names another program, with its path", by.name);
    Error::unavailable(format!("there is no `{name}` on this host"), hint)
}

fn lines(said: &Mutex<VecDeque<String>>) -> MutexGuard<'_, VecDeque<String>> {
    said.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps the last lines; whatever else is said is read and forgotten.
fn hear(output: PipeReader, said: &Mutex<VecDeque<String>>) {
    let mut output = BufReader::new(output);
    loop {
        let mut line = Vec::new();
        match (&mut output).take(LINE).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let line: String = String::from_utf8_lossy(&line).chars().filter(|c| !c.is_control()).collect();
        let line = line.trim();
        if !line.is_empty() {
            let mut said = lines(said);
            said.push_back(line.to_owned());
            while said.len() > LINES {
                said.pop_front();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(words: &[String]) -> String {
        words.join(" ")
    }

    #[test]
    fn each_host_has_a_call_of_its_own() {
        let hosts = ["n1".to_owned(), "n2".into()];
        let agent = ["agent".to_owned(), "--join".into(), "192.0.2.1:7".into()];
        let calls = |command| one_a_host(&hosts, Path::new("/opt/my linerate"), Some(command), &agent);
        let made = calls("ssh {host}").unwrap();
        assert_eq!(
            text(&made[1]),
            "sh -c ssh n2 '/opt/my linerate' 'agent' '--join' '192.0.2.1:7' '--place' '1'"
        );
        let made = calls("docker exec -i {host} linerate {args}").unwrap();
        assert!(text(&made[0]).ends_with("exec -i n1 linerate 'agent' '--join' '192.0.2.1:7' '--place' '0'"));
        assert!(calls("ssh n1").unwrap_err().to_string().contains("{host}"));
        assert!(one_a_host(&hosts, Path::new("x"), None, &agent).is_err());
    }

    #[test]
    fn one_call_is_for_all_hosts() {
        let launched: Launched = "slurm:-N3 -p fast".parse().unwrap();
        let made = one_for_all(&launched, Path::new("/x/linerate"), None, &["agent".into()]).unwrap();
        assert!(text(&made).starts_with("srun -p fast "), "{made:?}");
        assert!(text(&made).ends_with("--nodes=3 --ntasks=3 /x/linerate agent"), "{made:?}");
        assert!(one_for_all(&launched, Path::new("x"), Some(" "), &[]).is_err());
    }

    #[test]
    fn of_noise_only_the_end_is_kept() {
        let (output, mut input) = std::io::pipe().unwrap();
        let said = Mutex::new(VecDeque::new());
        let writes = std::thread::spawn(move || {
            (0..5000).for_each(|number| writeln!(input, "noise {number} \u{1b}[1m").unwrap());
            input.write_all(&[b'x'; 100_000]).unwrap();
        });
        hear(output, &said);
        writes.join().unwrap();
        let said = lines(&said);
        assert!(said.len() == LINES && said.iter().all(|line| line.len() <= LINE as usize));
    }
}
