//! A run, of which a process is killed.

use super::kill::{Victim, any, await_descendants, kill, start_anew};
use super::marked::{LIMIT, marked};
use super::world::World;
use linerate_sys::process::Process;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// What is measured, and where. A second of each shows all that a run does.
const TARGETS: [&str; 5] = [
    "lab",
    "lab:rate=1Gb/s",
    "lab:rate=200Mb/s,delay=2ms",
    "lab:hosts=3",
    "lab:rate=1Gb/s,fault=cpu-hog=0/20%",
];
const RUNGS: [&str; 4] =
    ["network.tcp", "network.udp", "in-host.pipe,in-host.udp", "in-host.shared-memory,network.tcp"];

/// Events that such a run has, about.
const EVENTS: usize = 120;

/// How long a run may go on: what was under way is measured again.
const ENDS: Duration = LIMIT;

/// Processes that it has: a builder, a wire, a fault, two agents, four workers.
const PROCESSES: usize = 9;

/// A run, and what it says.
struct Run {
    child: Child,
    lines: Receiver<()>,
    errors: JoinHandle<String>,
}

impl Run {
    fn start(world: &World, target: &str, rungs: &str) -> Run {
        let options = ["--profile", "quick", "--budget", "5s", "--json", "--output", "out", "--only", rungs];
        let mut command = world.command(&["run", target]);
        let mut child = command.args(options).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (output, mut errors) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let (tell, lines) = channel();
        std::thread::spawn(move || {
            // It is read to its end, whether anybody counts or not.
            BufReader::new(output).split(b'\n').map_while(Result::ok).for_each(|_| _ = tell.send(()));
        });
        let errors = std::thread::spawn(move || {
            let mut text = String::new();
            errors.read_to_string(&mut text).unwrap();
            text
        });
        Run { child, lines, errors }
    }

    /// Waits until it has said this many lines, or all.
    fn await_lines(&self, many: usize) {
        self.lines.iter().take(many).for_each(drop);
    }
}

/// Kills one process of a run, and checks everything that must hold then; says who it was.
pub fn scene(chance: &mut ChaCha8Rng, number: usize) -> String {
    loop {
        let mut world = World::new();
        let target = TARGETS[chance.random_range(..TARGETS.len())];
        let rungs = RUNGS[chance.random_range(..RUNGS.len())];
        let run = Run::start(&world, target, rungs);
        let moment = if chance.random_ratio(1, 3) {
            let many = chance.random_range(1..=PROCESSES);
            await_descendants(run.child.id(), many, || false);
            format!("{many} processes")
        } else {
            let many = chance.random_range(0..EVENTS);
            run.await_lines(many);
            format!("{many} events")
        };
        world.look();
        let Some(victim) = any(chance, marked(&world.mark)).and_then(kill) else {
            // It was over before that.
            finish(&world, run, None, "");
            continue;
        };
        let when = format!("kill {number}, run {target} --only {rungs}, {} after {moment}", victim.role);
        println!("{when}");
        finish(&world, run, Some(&victim), &when);
        world.assert_nobody_is_left(&when);
        start_anew(chance, &world);
        world.assert_nobody_is_left(&when);
        world.assert_nothing_is_left(&when);
        world.assert_what_was_measured_is_read(&when);
        return victim.role;
    }
}

/// The run ends soon, and says who died where it could not go on with another one.
fn finish(world: &World, mut run: Run, victim: Option<&Victim>, when: &str) {
    let process = Process::open(run.child.id()).unwrap().unwrap();
    let is_over = process.wait(ENDS).unwrap();
    assert!(is_over, "{when}: goes on: {:#?}", marked(&world.mark));
    let status = run.child.wait().unwrap();
    let took = victim.map(|victim| victim.at.elapsed());
    let errors = || run.errors.join().unwrap();
    match (victim, status.code()) {
        (Some(victim), None) => {
            assert_eq!((victim.pid, status.signal()), (run.child.id(), Some(9)), "{when}: {}", errors());
        }
        (Some(victim), Some(4)) => {
            let errors = errors();
            let who = format!("process {}, ended with signal: 9", victim.pid);
            assert!(errors.contains(&who), "{when}: {errors}");
            assert!(errors.matches("linerate: ").count() == 1, "{when}: {errors}");
            assert!(errors.contains("hint: "), "{when}: {errors}");
            println!("  told after {took:?}: {}", errors.lines().next().unwrap_or_default());
        }
        // It went on with another one, or had done its work.
        (_, Some(0 | 12)) => {}
        (_, code) => panic!("{when}: exit code {code:?}: {}", errors()),
    }
}
