//! Message passing by an MPI of this host: two ranks that its own launcher starts, each with this program's loops.
//!
//! A rank is a process of its own, which loads the library, calls home to the end that it works for, and plays blocks
//! until that end goes away. One launch serves all trials of a session.
//!
//! Between two hosts the launcher stands at the active end, and starts the other rank by a remote shell of this program.
//!
//! | file | duty |
//! |---|---|
//! | `launch` | the library's launcher and its arguments |
//! | [`rank`] | the rank's side |
//! | `settings` | knobs, as the variables that each maker has for them |

mod launch;
pub mod rank;
mod receive;
mod settings;

use super::library::elsewhere::{Elsewhere, interface_of, own_address};
use super::library::home::{self, Home, Played, Ranked};
use super::library::shell::{Lent, Served, plain};
use super::library::{self, Found, Surroundings, this_program};
use super::{Offer, Pending, Session, Spec, Task, Transport, granted};
use crate::pattern::Measured;
use crate::plan::Block;
use crate::record::{Granted, Lack};
use crate::vocabulary::Wait;
use crate::{Error, Result};
pub use launch::ROLE;
use launch::{Launched, Seat};
use receive::RECEIVE;
use std::net::IpAddr;
use std::sync::OnceLock;
use std::time::Duration;

/// The knob that picks the library.
const LIBRARY: &str = "mpi.implementation";

/// The transport.
pub struct Mpi;

/// The instance for the table.
pub const MPI: Mpi = Mpi;

impl Transport for Mpi {
    fn name(&self) -> &'static str {
        "mpi"
    }

    fn lacks(&self) -> Option<Lack> {
        let is_there = library::is_there("mpi", &Surroundings::of_this_process());
        (!is_there).then(|| Lack {
            transport: "mpi".into(),
            why: "unavailable: no MPI was found on this host".into(),
            hint: "install one: apt-get install openmpi-bin; `linerate doctor` lists what there is".into(),
        })
    }

    fn offer(&self, spec: &Spec) -> Result<(Box<dyn Pending>, Offer)> {
        if let Some(lack) = self.lacks() {
            return Err(Error::unavailable(lack.why, lack.hint));
        }
        if spec.flows != 1 {
            return Err(Error::unavailable("several flows between two ranks", "flows = [1]"));
        }
        // Before the other end waits for a rank.
        all()?;
        let home = Home::open()?;
        let (mut served, mut offer) = (None, Offer::Nothing);
        if spec.passive {
            let other = own_address(spec)?
                .map(|address| Elsewhere::here(all()?, address, Box::new(plain)))
                .transpose()?;
            let (shell, elsewhere) = other.unzip();
            served = shell;
            offer = Offer::Home { name: home.name().into(), elsewhere: elsewhere.map(Box::new) };
        }
        Ok((Box::new(End { spec: spec.clone(), home, served }), offer))
    }
}

/// An end whose rank has not called yet.
struct End {
    spec: Spec,
    home: Home,
    /// The remote shell of the other end's launcher.
    served: Option<Served>,
}

impl Pending for End {
    /// The active end launches both ranks; the other one waits for its own.
    fn join(self: Box<Self>, other: &Offer) -> Result<Box<dyn Session>> {
        let End { spec, home, served } = *self;
        if spec.passive {
            let forsaken = || served.as_ref().is_some_and(Served::is_forsaken);
            let rank = home.welcome(&|| forsaken().then(|| "the other end started no rank".into()))?;
            return Ok(Box::new(Open { spec, limit: Duration::ZERO, rank, launched: None, _served: served }));
        }
        let Offer::Home { name, elsewhere } = other else {
            return Err(Error::peer("the other end", "offered no home for a rank", ""));
        };
        let begun = begin(&spec, home, name, elsewhere.as_deref());
        if begun.is_err() {
            forsake(name, elsewhere.as_deref());
        }
        let (rank, launched) = begun?;
        Ok(Box::new(Open { spec, limit: Duration::ZERO, rank, launched: Some(launched), _served: None }))
    }
}

/// Starts both ranks and waits for this end's own.
fn begin(
    spec: &Spec,
    home: Home,
    other: &str,
    elsewhere: Option<&Elsewhere>,
) -> Result<(Ranked, (Launched, Found))> {
    let found = pick(spec, elsewhere)?;
    let seats = seats(spec, &found, elsewhere)?;
    // Until both ranks are there nobody else needs it.
    let shell = elsewhere.map(|elsewhere| Lent::to_own_user(&elsewhere.shell)).transpose()?;
    let variables = settings::variables(spec, name_of(&found))?;
    let launched = Launched::start(&found, &seats, [home.name(), other], shell.as_ref(), &variables)?;
    let rank = home.welcome(&|| launched.last_words())?;
    Ok((rank, (launched, found)))
}

/// Tells the other end that no rank will come: it waits for one, and what is told of this end's failure waits for it.
fn forsake(home: &str, elsewhere: Option<&Elsewhere>) {
    match elsewhere {
        Some(elsewhere) => drop(elsewhere.shell.forsake()),
        None => drop(home::forsake(home)),
    }
}

/// The name that picks it; it has one, for it was picked.
fn name_of(found: &Found) -> &str {
    found.identity.as_ref().map_or("", |identity| identity.name.as_str())
}

/// Where both ranks are started: this end's first, which is the launcher's own host.
fn seats(spec: &Spec, found: &Found, elsewhere: Option<&Elsewhere>) -> Result<[Seat; 2]> {
    let identity = found.identity.as_ref().map_err(|why| Error::unavailable(why.clone(), ""))?;
    let abi = identity.abi.clone().unwrap_or_default();
    let at = own_address(spec)?.map(|address| Ok::<_, Error>((address, interface_of(address.into())?)));
    let (program, file, version) = (this_program()?, found.path.clone(), identity.version.clone());
    let near = Seat { program, file, abi, version, at: at.transpose()? };
    let far = match elsewhere {
        None => Seat { at: None, ..near.clone() },
        Some(other) => {
            let placed = other.placed(&identity.name, &identity.version)?;
            let IpAddr::V4(address) = other.shell.address.ip() else {
                return Err(Error::peer("the other end", "is at no IPv4 address", ""));
            };
            let at = Some((address, other.interface.clone()));
            Seat {
                program: other.program.clone(),
                file: placed.path.clone(),
                abi: placed.abi.clone().unwrap_or_default(),
                version: placed.version.clone(),
                at,
            }
        }
    };
    Ok([near, far])
}

/// Every MPI of this host. Looked for once: each is loaded for it, and may hang.
fn all() -> Result<&'static [Found]> {
    static ALL: OnceLock<Vec<Found>> = OnceLock::new();
    let program = this_program()?;
    Ok(ALL.get_or_init(|| library::of_kind(MPI.name(), &program, &Surroundings::of_this_process())))
}

/// The library that was asked for, or the first one that can be started and that the other host has as well.
fn pick(spec: &Spec, elsewhere: Option<&Elsewhere>) -> Result<Found> {
    let asked = spec.value(LIBRARY);
    let is_asked = |found: &Found| match (&found.identity, asked) {
        (Ok(identity), Some(asked)) => identity.name == asked,
        (Ok(identity), None) => {
            let is_there =
                elsewhere.is_none_or(|other| other.placed(&identity.name, &identity.version).is_ok());
            found.launcher.is_some() && launch::is_known(&identity.name) && is_there
        }
        (Err(_), _) => false,
    };
    let all = all()?;
    let names: Vec<&str> =
        all.iter().filter_map(|found| Some(found.identity.as_ref().ok()?.name.as_str())).collect();
    let hint = match names.is_empty() {
        true => "`linerate doctor` says why each of this host's libraries cannot be used".into(),
        false => format!("this host has {}; `linerate doctor` says more", names.join(", ")),
    };
    let missing = || Error::unavailable(format!("no {} that can be started", asked.unwrap_or("MPI")), hint);
    all.iter().find(|found| is_asked(found)).cloned().ok_or_else(missing)
}

/// A session of two ranks, at one end.
struct Open {
    spec: Spec,
    /// What a trial may take.
    limit: Duration,
    // Before the launcher, which ends when both ranks have been let go.
    rank: Ranked,
    launched: Option<(Launched, Found)>,
    /// Ends what the other end's launcher started here.
    _served: Option<Served>,
}

impl Session for Open {
    fn granted(&self) -> Vec<Granted> {
        let Some((_, found)) = &self.launched else { return Vec::new() };
        let library = granted(&self.spec, LIBRARY, name_of(found));
        let how = receive::asked(&self.spec).map(|how| granted(&self.spec, RECEIVE, receive::name(how)));
        std::iter::once(library).chain(how).chain(settings::granted(&self.spec)).collect()
    }

    fn endpoints(&self) -> Vec<String> {
        self.launched.iter().map(|(launched, found)| launched.about(found)).collect()
    }

    fn processes(&self) -> Vec<u32> {
        vec![self.rank.process]
    }

    fn limit(&mut self, limit: Duration) {
        self.limit = limit;
    }

    fn trial(&mut self, tasks: &[Task], wait: Wait, blocks: &[Block]) -> Result<Vec<Vec<Vec<Measured>>>> {
        let [task] = tasks else {
            return Err(Error::unavailable("both directions at once between two ranks", "take ping-ping"));
        };
        if wait != Wait::Polling {
            return Err(Error::unavailable("an MPI that sleeps", "MPI libraries poll: wait = \"polling\""));
        }
        let gone = || match &self.launched {
            Some((launched, _)) => launched.last_words().map_or(Ok(()), |how| Err(Error::died(how))),
            None => Ok(()),
        };
        let how = (task.does, task.cpu(0), wait, receive::asked(&self.spec)?);
        let played = self.rank.play(how, blocks, self.limit, &gone)?;
        Ok(vec![vec![played.into_iter().map(Played::measured).collect()]])
    }
}
