//! Message passing by an MPI of this host: two ranks that its own launcher starts, each with this program's loops.
//!
//! A rank is a process of its own, which loads the library, calls home to the end that it works for, and plays blocks
//! until that end goes away. One launch serves all trials of a session.
//!
//! | file | duty |
//! |---|---|
//! | `home` | where a rank calls, and what it is asked |
//! | `launch` | the library's launcher: its arguments, its last words, its end |
//! | [`rank`] | the rank's side |

mod home;
mod launch;
pub mod rank;

use super::library::{self, Found, Surroundings, this_program};
use super::{Offer, Pending, Session, Spec, Task, Transport, granted};
use crate::pattern::Measured;
use crate::plan::Block;
use crate::record::{Granted, Lack};
use crate::vocabulary::Wait;
use crate::{Error, Result};
use home::{Home, Played, Ranked};
use launch::Launched;

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
        let home = Home::open()?;
        let offer = if spec.passive { Offer::Home { name: home.name().into() } } else { Offer::Nothing };
        Ok((Box::new(End { spec: spec.clone(), home }), offer))
    }
}

/// An end whose rank has not called yet.
struct End {
    spec: Spec,
    home: Home,
}

impl Pending for End {
    /// The active end launches both ranks; the other one waits for its own.
    fn join(self: Box<Self>, other: &Offer) -> Result<Box<dyn Session>> {
        let End { spec, home } = *self;
        if spec.passive {
            let rank = home.welcome(&|| None)?;
            return Ok(Box::new(Open { spec, rank, launched: None }));
        }
        let Offer::Home { name } = other else {
            return Err(Error::peer("the other end", "offered no home for a rank", ""));
        };
        let found = pick(&spec)?;
        let launched = Launched::start(&found, [home.name(), name])?;
        let rank = home.welcome(&|| launched.last_words())?;
        Ok(Box::new(Open { spec, rank, launched: Some((launched, found)) }))
    }
}

/// The library that was asked for, or the first one that can be started.
fn pick(spec: &Spec) -> Result<Found> {
    let around = Surroundings::of_this_process();
    let program = this_program()?;
    let asked = spec.value(LIBRARY);
    let is_asked = |found: &Found| match (&found.identity, asked) {
        (Ok(identity), Some(asked)) => identity.name == asked,
        (Ok(identity), None) => found.launcher.is_some() && launch::is_known(&identity.name),
        (Err(_), _) => false,
    };
    let all = library::of_kind("mpi", &program, &around);
    let names: Vec<&str> =
        all.iter().filter_map(|found| Some(found.identity.as_ref().ok()?.name.as_str())).collect();
    let hint = match names.is_empty() {
        true => "`linerate doctor` says why each of this host's libraries cannot be used".into(),
        false => format!("this host has {}; `linerate doctor` says more", names.join(", ")),
    };
    let missing = || Error::unavailable(format!("no {} that can be started", asked.unwrap_or("MPI")), hint);
    all.into_iter().find(is_asked).ok_or_else(missing)
}

/// A session of two ranks, at one end.
struct Open {
    spec: Spec,
    // Before the launcher, which ends when both ranks have been let go.
    rank: Ranked,
    launched: Option<(Launched, Found)>,
}

impl Session for Open {
    fn granted(&self) -> Vec<Granted> {
        let name = self.launched.iter().filter_map(|(_, found)| Some(&found.identity.as_ref().ok()?.name));
        name.map(|name| granted(&self.spec, LIBRARY, name)).collect()
    }

    fn endpoints(&self) -> Vec<String> {
        self.launched.iter().map(|(launched, found)| launched.about(found)).collect()
    }

    fn processes(&self) -> Vec<u32> {
        vec![self.rank.process]
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
        let played = self.rank.play((task.does, task.cpu(0), wait), blocks, &gone)?;
        Ok(vec![vec![played.into_iter().map(Played::measured).collect()]])
    }
}
