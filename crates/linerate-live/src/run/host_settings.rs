//! Settings of a host that a search tries: each is read, written down on disk, changed, read back, and put back in the end.
//!
//! What was there is on disk before anything is changed, so that the next start puts it back where this process was killed.
//! A setting that reads otherwise than what was set is somebody else's by then: it is told of, and left.

mod access;
mod journal;
mod place;
mod queue;
mod tuner;
mod wanted;

pub use journal::{Became, PutBack, has_journal, undo};

use crate::plan::{HostAddress, Setting};
use crate::record::Granted;
use crate::vocabulary::{Had, HostKnob, HostPlace, Knob};
use crate::{Error, Result};
use journal::{Journal, Line};
use place::Place;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use wanted::wanted;

/// Without a word from the controller for so long what was set is put back: a path may be gone with it.
pub const LEASE: Duration = Duration::from_secs(30);

/// Whether a host sets it itself: of a lab's links another part does.
pub fn is_of_host(setting: &Setting, is_lab: bool) -> bool {
    let had = Knob::named(&setting.knob).map(|knob| knob.had);
    had == Some(Had::Host) || had == Some(Had::Links) && !is_lab
}

/// Whether it is set on parts of an interface, which other settings make: it is set behind these.
fn is_of_parts(setting: &Setting) -> bool {
    let host = HostKnob::named(&setting.knob);
    host.is_some_and(|host| matches!(host.place, HostPlace::EachReceiveQueue(_)))
}

/// What was there, and what was set in its place.
#[derive(Debug, Clone)]
struct Change {
    /// The knob that asked for it.
    knob: String,
    /// How many changes were made before.
    at: usize,
    before: String,
    set: String,
}

/// The settings of this host that were changed.
#[derive(Debug)]
pub struct HostSettings {
    /// Where the journal is to be.
    base: PathBuf,
    /// Whether the host ends with its controller, so that nothing of it is to be written down.
    transient: bool,
    journal: Option<Journal>,
    changed: BTreeMap<Place, Change>,
    /// Changes that were made.
    changes: usize,
    /// What somebody else changed while it was tried, which is told in the end.
    left: Vec<PutBack>,
    /// When the controller last asked for something.
    heard: Instant,
}

impl HostSettings {
    /// None changed yet; the journal will be in the program's runtime directory.
    pub fn new(base: &Path) -> HostSettings {
        HostSettings {
            base: base.into(),
            transient: false,
            journal: None,
            changed: BTreeMap::new(),
            changes: 0,
            left: Vec::new(),
            heard: Instant::now(),
        }
    }

    /// Where its journal is to be.
    pub fn base(&self) -> &Path {
        &self.base
    }

    /// Of a lab's host the kernel puts everything back: it goes with the lab.
    pub fn is_transient(&mut self, transient: bool) {
        self.transient = transient;
    }

    /// The controller is there.
    pub fn hear(&mut self) {
        self.heard = Instant::now();
    }

    /// Makes the host what is asked for, and what it was where nothing is; tells what of it was read back.
    pub fn set(&mut self, asked: &[Setting], address: Option<&HostAddress>) -> Result<Vec<Granted>> {
        // What is not asked for any more may have made what another one is set on.
        self.put_back_where(|_, change| asked.iter().all(|setting| setting.knob != change.knob))?;
        let mut granted: Vec<Option<Granted>> = vec![None; asked.len()];
        let mut kept: Vec<Place> = Vec::new();
        let mut order: Vec<usize> = (0..asked.len()).collect();
        order.sort_by_key(|at| is_of_parts(&asked[*at]));
        for at in order {
            granted[at] = Some(self.set_one(&asked[at], address, &mut kept)?);
        }
        self.put_back_where(|place, _| !kept.contains(place))?;
        Ok(granted.into_iter().flatten().collect())
    }

    /// Makes the host what one setting asks for, and notes the places that it does.
    fn set_one(
        &mut self,
        setting: &Setting,
        address: Option<&HostAddress>,
        kept: &mut Vec<Place>,
    ) -> Result<Granted> {
        // What this host has not is not granted.
        let places = wanted(setting, address, &|place| self.before(place));
        let places = places.and_then(|places| self.readable(places));
        let mut came =
            places.as_ref().map(|_| ()).map_err(|error| format!("nothing ({})", with_reason(error)));
        for (place, value) in places.unwrap_or_default() {
            if self.transient && place.is_of_machine() {
                // It would outlive the lab, and is written down nowhere.
                came = came.and(Err("nothing (it is this machine's, and no lab host's own)".into()));
                continue;
            }
            kept.push(place.clone());
            came = came.and(self.change(&setting.knob, &place, &value)?);
        }
        Ok(Granted {
            knob: setting.knob.clone(),
            asked: Some(setting.value.clone()),
            granted: Some(came.map_or_else(|found| found, |()| setting.value.clone())),
        })
    }

    /// These places, where each can be read: a driver that tells nothing of its rings has none to be set.
    fn readable(&self, places: Vec<(Place, String)>) -> Result<Vec<(Place, String)>> {
        places.iter().try_for_each(|(place, _)| self.before(place).map(drop))?;
        Ok(places)
    }

    /// What a place held before it was first changed.
    fn before(&self, place: &Place) -> Result<String> {
        self.changed.get(place).map_or_else(|| place.read(), |change| Ok(change.before.clone()))
    }

    /// Sets one place; the inner error is what it reads where it does not take the value.
    fn change(&mut self, knob: &str, place: &Place, value: &str) -> Result<std::result::Result<(), String>> {
        let found = place.read()?;
        let known = self.changed.get(place);
        if known.is_some_and(|change| change.set != found && change.before != found) {
            return Err(foreign(place, &found));
        }
        if found == value {
            return Ok(Ok(()));
        }
        let before = known.map_or(&found, |change| &change.before).clone();
        self.write_down(place, &before, value)?;
        self.note(knob, place, before, value);
        let written = place.write(value);
        let reads = place.read()?;
        if reads != value {
            // What a driver makes of a value is what must be there when it is put back.
            let before = self.before(place)?;
            self.write_down(place, &before, &reads)?;
            self.note(knob, place, before, &reads);
        }
        Ok(match written {
            Ok(()) if reads == value => Ok(()),
            Ok(()) => Err(reads),
            Err(error) => Err(format!("{reads} ({error})")),
        })
    }

    /// The last change of a place is the one behind which it is put back.
    fn note(&mut self, knob: &str, place: &Place, before: String, set: &str) {
        self.changes += 1;
        let change = Change { knob: knob.into(), at: self.changes, before, set: set.into() };
        self.changed.insert(place.clone(), change);
    }

    /// The places that were changed, the last one first: what was made last stands on what was made before.
    fn places(&self) -> Vec<Place> {
        let mut places: Vec<(&Place, &Change)> = self.changed.iter().collect();
        places.sort_by_key(|(_, change)| Reverse(change.at));
        places.into_iter().map(|(place, _)| place.clone()).collect()
    }

    /// Puts back what was changed of which this holds.
    fn put_back_where(&mut self, holds: impl Fn(&Place, &Change) -> bool) -> Result<()> {
        for place in self.places() {
            if self.changed.get(&place).is_some_and(|change| holds(&place, change)) {
                let back = self.put_back_one(&place)?;
                self.left.extend(back.filter(|back| back.became == Became::Left));
            }
        }
        Ok(())
    }

    /// On disk, before it is done.
    fn write_down(&mut self, place: &Place, before: &str, set: &str) -> Result<()> {
        if self.transient {
            return Ok(());
        }
        let journal = match self.journal.take() {
            Some(journal) => self.journal.insert(journal),
            None => self.journal.insert(Journal::create(&self.base)?),
        };
        journal.write(Line::new(place, before, set))
    }

    /// Puts one place back; one that somebody else changed meanwhile is left.
    fn put_back_one(&mut self, place: &Place) -> Result<Option<PutBack>> {
        let Some(change) = self.changed.get(place) else { return Ok(None) };
        let back = journal::put_back(place, &change.before, std::slice::from_ref(&change.set))?;
        // What could not be is tried again, and is in the journal until then.
        if back.became != Became::Failed {
            self.changed.remove(place);
        }
        Ok(Some(back))
    }

    /// Puts all back, and says what became of each. One that fails keeps none of the others, and the journal.
    pub fn put_back(&mut self) -> Result<Vec<PutBack>> {
        let places = self.places();
        let mut told = std::mem::take(&mut self.left);
        let mut failed = Ok(());
        for place in places {
            match self.put_back_one(&place) {
                Ok(back) => told.extend(back),
                Err(error) => failed = failed.and(Err(error)),
            }
        }
        if self.changed.is_empty()
            && let Some(journal) = self.journal.take()
        {
            journal.remove();
        }
        failed.map(|()| told)
    }

    /// Puts all back where the controller has not been heard for long.
    pub fn look_at_lease(&mut self) {
        if !self.changed.is_empty() && self.heard.elapsed() > LEASE {
            // What cannot be put back now is in the journal still.
            let _ = self.put_back();
        }
    }

    /// Leaves what is set as it is: its journal stays until `linerate undo` is called.
    pub fn keep(&mut self) -> Result<()> {
        let is_changed = !std::mem::take(&mut self.changed).is_empty();
        match self.journal.take() {
            Some(journal) if is_changed => journal.keep(),
            Some(journal) => {
                journal.remove();
                Ok(())
            }
            None => Ok(()),
        }
    }
}

/// An error with what is behind it: the driver's own word.
fn with_reason(error: &Error) -> String {
    let deepest = std::iter::successors(std::error::Error::source(error), |cause| cause.source()).last();
    deepest.map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"))
}

fn foreign(place: &Place, found: &str) -> Error {
    let what =
        format!("{place} reads {found}: somebody else changed it while it was tried, so it is left alone");
    Error::unavailable(what, tuner::hint())
}
