//! Message passing by what MPIs carry their messages by: a library whose ranks need no launcher.
//!
//! Each end starts a rank of its own, a process that loads the library: what crashes, hangs or prints there stays there. The
//! ends meet over a connection, by which each tells the other its rank's address. It stays open, and tells by its end
//! that the other end has gone; nothing goes over it while a trial runs.
//!
//! | file | duty |
//! |---|---|
//! | [`endpoint`] | the rank's side |
//! | `libfabric` | libfabric |
//! | `settings` | knobs, as the variables that each library has for them |
//! | `out_of_band` | the connection of the ends |
//! | `ucx` | UCX |

pub mod endpoint;
mod libfabric;
mod out_of_band;
mod settings;
mod ucx;

use super::library::elsewhere::{interface_of, own_address};
use super::library::home::{Play, Played, RankConnection, RankListener};
use super::library::started::{Started, Tie};
use super::library::{self, Found, ProcessEnvironment, outside_of_jobs, this_program};
use crate::pattern::Measured;
use crate::plan::{Block, Setting};
use crate::record::{Granted, UnavailableTransport};
use crate::transport::connection::meeting::Meeting;
use crate::transport::{Offer, Pending, Session, Spec, Task, Transport};
use crate::vocabulary::{NATIVE_LIBRARIES, NativeLibrary, Wait};
use crate::{Error, Result};
use endpoint::{About, Connect, ROLE, RankRequest};
pub use libfabric::LIBFABRIC;
use out_of_band::OutOfBand;
use std::net::TcpStream;
use std::os::fd::BorrowedFd;
use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, Instant};
pub use ucx::UCX;

const HINT: &str = "`linerate doctor` says more; does a program that is linked with it run?";

/// What a rank whose connection ended may take to end itself: less than others wait for who is nearest to the cause.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// How long a rank that is only tried waits for its library.
const TRY_MS: u64 = 5_000;

/// The transport of one library.
pub struct Native {
    name: &'static str,
    /// Plays as a rank of it.
    serve: fn(RankRequest) -> Result<()>,
    /// Every file of it on this host. Looked for once: each is loaded for it, and may hang.
    all: &'static OnceLock<Vec<Found>>,
}

impl Native {
    /// What it is told by.
    fn entry(&self) -> Result<&'static NativeLibrary> {
        let found = NATIVE_LIBRARIES.iter().find(|library| library.name == self.name);
        found.ok_or_else(|| Error::usage(format!("no library is called `{}`", self.name), ""))
    }

    /// The first that can be loaded.
    fn first_usable(&self) -> Result<&'static Found> {
        let program = this_program()?;
        let look = || library::of_kind(self.name, &program, &ProcessEnvironment::of_this_process());
        let all = self.all.get_or_init(look);
        let why = || {
            let whys = all.iter().filter_map(|found| found.identity.as_ref().err().map(String::as_str));
            let whys: Vec<&str> = whys.collect();
            Error::unavailable(format!("no {} that can be used: {}", self.name, whys.join("; ")), HINT)
        };
        all.iter().find(|found| found.identity.is_ok()).ok_or_else(why)
    }

    /// Whether a rank that is asked for this starts here, as in a session within the host: an error with what it said,
    /// where it does not. A library that is not there has no say: its rung is not measured anyway.
    pub fn starts_with(&self, setting: Setting) -> Result<()> {
        if self.lacks().is_some() {
            return Ok(());
        }
        let (transport, settings) = (self.name.into(), vec![setting]);
        let spec = Spec { transport, flows: 1, settings, patience_ms: TRY_MS, ..Spec::default() };
        self.rank(&spec).map(drop)
    }

    /// Starts this end's rank, which tells its address.
    fn rank(&self, spec: &Spec) -> Result<RunningRank> {
        let (entry, found) = (self.entry()?, self.first_usable()?);
        let at = own_address(spec)?;
        let interface = at.map(|address| interface_of(address.into())).transpose()?;
        let home = RankListener::open()?;
        let asked =
            RankRequest { name: self.name.into(), file: found.path.clone(), home: home.name().into(), at };
        let around = ProcessEnvironment::of_this_process();
        let mut command = Command::new(this_program()?);
        outside_of_jobs(&mut command, &around);
        let of_user = around.variables.iter().filter(|name| name.starts_with(entry.prefix));
        for name in of_user {
            command.env_remove(name);
        }
        command.envs(settings::variables(spec, entry, interface.as_deref()));
        command.arg(ROLE).arg(asked.to_word()?);
        let role = format!("the rank of {}", entry.title);
        let started = Started::run(command, role, Tie::Bound)?;
        let mut rank = home.welcome(&|| started.last_words())?;
        let told = rank.ask("address", &|| is_on(&started));
        let address = told.map_err(|error| with_words(error, &started))?;
        Ok(RunningRank { entry, found, rank, started, address })
    }
}

impl Transport for Native {
    fn name(&self) -> &'static str {
        self.name
    }

    fn lacks(&self) -> Option<UnavailableTransport> {
        let is_there = library::is_there(self.name, &ProcessEnvironment::of_this_process());
        let entry = self.entry().ok()?;
        (!is_there).then(|| UnavailableTransport {
            transport: self.name.into(),
            why: format!("unavailable: {} was not found on this host", entry.title),
            hint: format!(
                "install it: apt-get install {}; `linerate doctor` lists what there is",
                entry.package
            ),
        })
    }

    fn offer(&'static self, spec: &Spec) -> Result<(Box<dyn Pending>, Offer)> {
        if let Some(lack) = self.lacks() {
            return Err(Error::unavailable(lack.why, lack.hint));
        }
        if spec.flows != 1 {
            return Err(Error::unavailable("several flows between two ranks", "flows = [1]"));
        }
        let own = self.rank(spec)?;
        let (meeting, offer) = Meeting::<TcpStream>::offer(spec)?;
        Ok((Box::new(End { spec: spec.clone(), own, meeting }), offer))
    }
}

/// An end's rank. It ends when this is dropped, before what reads its words.
struct RunningRank {
    entry: &'static NativeLibrary,
    found: &'static Found,
    rank: RankConnection,
    started: Started,
    address: Vec<u8>,
}

/// An end that is about to meet the other one.
struct End {
    spec: Spec,
    own: RunningRank,
    meeting: Meeting<TcpStream>,
}

impl Pending for End {
    fn waits_on(&self) -> Vec<BorrowedFd<'_>> {
        self.meeting.waits_on()
    }

    fn join(self: Box<Self>, other: &Offer) -> Result<Box<dyn Session>> {
        let End { spec, mut own, meeting } = *self;
        let missing = || Error::peer("the other end", "made no connection", "");
        let stream = meeting.meet(other)?.pop().ok_or_else(missing)?;
        let out_of_band = OutOfBand::from_stream(stream);
        let address = out_of_band.exchange(&own.address, spec.patience())?;
        let connect = Connect { address, first: !spec.passive };
        let gone = || is_on(&own.started).and_then(|()| out_of_band.check());
        let told = own.rank.ask_with::<About>("connect", &connect, &gone);
        let about = told.map_err(|error| with_words(error, &own.started))?;
        Ok(Box::new(Open { limit: spec.patience(), spec, own, out_of_band, about }))
    }
}

/// Whether a rank goes on.
fn is_on(started: &Started) -> Result<()> {
    started.last_words().map_or(Ok(()), |how| Err(Error::died(how)))
}

/// An error with what the rank said last, which is where a library explains itself.
fn with_words(error: Error, started: &Started) -> Error {
    // Its connection ends before the process does.
    let deadline = Instant::now() + LAST_WORDS;
    while matches!(error, Error::Died { .. }) && started.last_words().is_none() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(10));
    }
    if let Some(how) = started.last_words() {
        return Error::died(how);
    }
    // What it said comes by another way than its error, and may be read later.
    let soon = Instant::now() + LAST_WORDS / 4;
    while started.output().trim().is_empty() && Instant::now() < soon {
        std::thread::sleep(Duration::from_millis(10));
    }
    let said = started.output();
    let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    match (&error, lines.is_empty()) {
        (Error::HungUp { .. }, _) | (_, true) => error,
        _ => Error::unavailable(format!("{error}; its rank said: {}", lines.join(" / ")), HINT),
    }
}

/// A session of two ranks, at one end.
struct Open {
    spec: Spec,
    /// What a trial may take.
    limit: Duration,
    own: RunningRank,
    out_of_band: OutOfBand,
    about: About,
}

impl Session for Open {
    fn granted(&self) -> Vec<Granted> {
        settings::granted(&self.spec, self.own.entry, &self.about.granted)
    }

    fn endpoints(&self) -> Vec<String> {
        let version = self.own.found.identity.as_ref().map_or("", |identity| identity.version.as_str());
        let path = self.own.found.path.display();
        vec![format!("{} {version}, {path}, by {}", self.own.entry.title, self.about.way)]
    }

    fn processes(&self) -> Vec<u32> {
        vec![self.own.rank.process]
    }

    fn limit(&mut self, limit: Duration) {
        self.limit = limit;
    }

    fn trial(&mut self, tasks: &[Task], wait: Wait, blocks: &[Block]) -> Result<Vec<Vec<Vec<Measured>>>> {
        let [task] = tasks else {
            return Err(Error::unavailable("both directions at once between two ranks", "take ping-ping"));
        };
        if wait != Wait::Polling {
            let what = format!("a rank of {} that sleeps", self.own.entry.title);
            return Err(Error::unavailable(
                what,
                "messages move while a rank asks for them: wait = \"polling\"",
            ));
        }
        let RunningRank { rank, started, .. } = &mut self.own;
        let gone = || is_on(started).and_then(|()| self.out_of_band.check());
        let asked = Play::for_only_flow(task, wait, blocks);
        let played = rank.play(&asked, self.limit, &gone);
        let played = played.map_err(|error| {
            // The other rank waits for one that will send nothing.
            self.out_of_band.cut();
            with_words(error, started)
        })?;
        let measured = played.into_iter().map(Played::measured).collect::<Result<_>>()?;
        Ok(vec![vec![measured]])
    }
}

/// Plays as the rank that a word of the command line tells.
fn serve(asked: RankRequest) -> Result<()> {
    let all = [&UCX, &LIBFABRIC];
    let unknown = || Error::usage(format!("no library is called `{}`", asked.name), "");
    let native = all.into_iter().find(|native| native.name == asked.name).ok_or_else(unknown)?;
    (native.serve)(asked)
}
