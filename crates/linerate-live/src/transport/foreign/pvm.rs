//! Message passing by PVM: two tasks of a virtual machine that its daemons are, each with this program's loops.
//!
//! A session has a virtual machine of its own. The active end starts the first daemon and the first task; that one has
//! the daemon add the other host, by a remote shell of this program, and starts the other task there. Both tasks call
//! home, each to its own end, and play blocks until that end goes away. Then the daemons end, whatever ended the session.
//!
//! | file | duty |
//! |---|---|
//! | `machine` | the daemon and the task of the active end |
//! | [`task`] | the tasks' side |

mod machine;
pub mod task;

use super::library::elsewhere::{Elsewhere, own_address};
use super::library::home::{self, Play, Played, RankConnection, RankListener};
use super::library::shell::{Access, Served};
use super::library::supervise::SupervisedDaemon;
use super::library::{self, Found, ProcessEnvironment, outside_of_jobs, this_program};
use crate::pattern::Measured;
use crate::plan::Block;
use crate::record::{Granted, UnavailableTransport};
use crate::transport::{Offer, Pending, Session, Spec, Task, Transport, granted};
use crate::vocabulary::Wait;
use crate::{Error, Result};
use machine::{Machine, variables};
use std::net::Ipv4Addr;
use std::sync::OnceLock;
use std::time::Duration;
use task::About;

/// The knob that says what the bytes go through.
const ROUTE: &str = "pvm.route";
/// The one that says how they are packed.
const ENCODING: &str = "pvm.encoding";

/// The transport.
pub struct Pvm;

/// The instance for the table.
pub const PVM: Pvm = Pvm;

impl Transport for Pvm {
    fn name(&self) -> &'static str {
        "pvm"
    }

    fn lacks(&self) -> Option<UnavailableTransport> {
        let is_there = library::is_there(self.name(), &ProcessEnvironment::of_this_process());
        (!is_there).then(|| UnavailableTransport {
            transport: self.name().into(),
            why: "unavailable: no PVM was found on this host".into(),
            hint: "install it: apt-get install pvm; `linerate doctor` lists what there is".into(),
        })
    }

    fn offer(&'static self, spec: &Spec) -> Result<(Box<dyn Pending>, Offer)> {
        if let Some(lack) = self.lacks() {
            return Err(Error::unavailable(lack.why, lack.hint));
        }
        if spec.flows != 1 {
            return Err(Error::unavailable("several flows between two tasks", "flows = [1]"));
        }
        // Before the other end waits for a task.
        first_usable()?;
        let home = RankListener::open()?;
        let (mut far, mut offer) = (None, Offer::Nothing);
        if spec.passive {
            let other = own_address(spec)?.map(serve_this_host).transpose()?;
            let (held, elsewhere) = other.unzip();
            far = held;
            offer = Offer::Home { name: home.name().into(), elsewhere: elsewhere.map(Box::new) };
        }
        Ok((Box::new(End { spec: spec.clone(), home, far }), offer))
    }
}

/// What a host where the first daemon does not run has for the session. The daemon before the shell that starts it.
struct Far {
    kept: SupervisedDaemon,
    served: Served,
}

impl Far {
    /// What the other end said last, where it needs this one no more.
    fn forsaken(&self) -> Option<String> {
        self.served.is_forsaken().then(|| "the other end has no task".into())
    }

    /// The same, as a failure that follows from another one.
    fn check(&self) -> Result<()> {
        self.forsaken().map_or(Ok(()), |what| Err(Error::hung_up("the other end", what)))
    }
}

/// This host for a daemon on the other one: what its commands start is kept.
fn serve_this_host(address: Ipv4Addr) -> Result<(Far, Elsewhere)> {
    let kept = SupervisedDaemon::expect()?;
    let (start, variables) = (kept.shell()?, variables(kept.folder()));
    let shell = move |line: &str| {
        let mut command = start(line);
        outside_of_jobs(&mut command, &ProcessEnvironment::of_this_process());
        command.envs(variables.iter().map(|(name, value)| (name, value)));
        command
    };
    let (served, elsewhere) = Elsewhere::of_this_host(find_all()?, address, Box::new(shell))?;
    Ok((Far { kept, served }, elsewhere))
}

/// Every PVM of this host. Looked for once: each is loaded for it, and may hang.
fn find_all() -> Result<&'static [Found]> {
    static ALL: OnceLock<Vec<Found>> = OnceLock::new();
    let program = this_program()?;
    Ok(ALL.get_or_init(|| library::of_kind(PVM.name(), &program, &ProcessEnvironment::of_this_process())))
}

/// The first that can be started.
fn first_usable() -> Result<&'static Found> {
    let usable = |found: &&Found| found.identity.is_ok() && found.launcher.is_some();
    let missing = || {
        let hint = "put the folder of its pvmd into PATH; `linerate doctor` says what each lacks";
        Error::unavailable("no PVM that can be started", hint)
    };
    find_all()?.iter().find(usable).ok_or_else(missing)
}

/// An end whose task has not called yet.
struct End {
    spec: Spec,
    home: RankListener,
    /// Where the other end's daemon starts one here.
    far: Option<Far>,
}

impl Pending for End {
    /// The active end starts both tasks; the other one waits for its own.
    fn join(self: Box<Self>, other: &Offer) -> Result<Box<dyn Session>> {
        let End { spec, home, far } = *self;
        if spec.passive {
            let gone = || far.as_ref().and_then(Far::forsaken);
            // What the other end failed by is nearer to the cause.
            let follows = |error| far.as_ref().and_then(|far| far.check().err()).unwrap_or(error);
            let mut rank = home.welcome(&gone).map_err(follows)?;
            let about = rank.ask("begin", &|| far.as_ref().map_or(Ok(()), Far::check))?;
            return Ok(Box::new(Open { spec, limit: Duration::ZERO, rank, about, machine: None, far }));
        }
        let Offer::Home { name, elsewhere } = other else {
            return Err(Error::peer("the other end", "offered no home for a task", ""));
        };
        let begun = Machine::begin(&spec, home, name, elsewhere.as_deref());
        let shell = elsewhere.as_ref().map(|elsewhere| elsewhere.shell.clone());
        if begun.is_err() {
            forsake(name, shell.as_ref());
        }
        let (rank, about, machine) = begun?;
        let machine = Some((machine, shell));
        Ok(Box::new(Open { spec, limit: Duration::ZERO, rank, about, machine, far: None }))
    }
}

/// Tells the other end that no task will come: it waits for one, and what is told of this end's failure waits for it.
fn forsake(home: &str, shell: Option<&Access>) {
    match shell {
        Some(shell) => drop(shell.forsake()),
        None => drop(home::forsake(home)),
    }
}

/// A session of two tasks, at one end.
struct Open {
    spec: Spec,
    /// What a trial may take.
    limit: Duration,
    // Before the daemons, which it takes leave of.
    rank: RankConnection,
    about: About,
    /// Where this end is the active one; and what tells another host's end that it need not wait.
    machine: Option<(Machine, Option<Access>)>,
    far: Option<Far>,
}

impl Session for Open {
    fn granted(&self) -> Vec<Granted> {
        if self.machine.is_none() {
            return Vec::new();
        }
        let route = granted(&self.spec, ROUTE, if self.about.is_direct { "direct" } else { "default" });
        // No call says how a message was packed.
        let asked = |value: &str| Granted { knob: ENCODING.into(), asked: Some(value.into()), granted: None };
        std::iter::once(route).chain(self.spec.value(ENCODING).map(asked)).collect()
    }

    fn endpoints(&self) -> Vec<String> {
        self.machine.iter().map(|(machine, _)| machine.about()).collect()
    }

    fn processes(&self) -> Vec<u32> {
        let of_machine = self.machine.iter().flat_map(|(machine, _)| machine.processes());
        let of_far = self.far.iter().flat_map(|far| far.kept.processes());
        std::iter::once(self.rank.process).chain(of_machine).chain(of_far).collect()
    }

    fn limit(&mut self, limit: Duration) {
        self.limit = limit;
    }

    fn trial(&mut self, tasks: &[Task], wait: Wait, blocks: &[Block]) -> Result<Vec<Vec<Vec<Measured>>>> {
        let [task] = tasks else {
            return Err(Error::unavailable("both directions at once between two tasks", "take ping-ping"));
        };
        let (machine, far) = (self.machine.as_ref(), self.far.as_ref());
        let gone = || {
            let ended = machine.and_then(|(machine, _)| machine.last_words());
            ended.map_or(Ok(()), |how| Err(Error::died(how)))?;
            far.map_or(Ok(()), Far::check)
        };
        let played = self.rank.play(&Play::for_only_flow(task, wait, blocks), self.limit, &gone);
        if played.is_err()
            && let Some((_, Some(shell))) = machine
        {
            // Its task waits for one that will send nothing.
            let _ = shell.forsake();
        }
        let played = played?;
        let measured = played.into_iter().map(Played::measured).collect::<Result<_>>()?;
        Ok(vec![vec![measured]])
    }
}
