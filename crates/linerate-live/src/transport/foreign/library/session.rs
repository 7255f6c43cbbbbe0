//! Ranks that a library's own launcher starts, as many at each end as there are flows, each with the loops of its end.
//!
//! A rank is a process of its own, which loads the library, calls home to the end that it works for, and plays blocks
//! until that end goes away. One launch serves all trials of a session. Between two hosts the launcher stands at the
//! active end, and starts the other rank by a remote shell of this program.

use super::daemons::Far;
use super::elsewhere::{Elsewhere, interface_of, own_address};
use super::home::{self, Play, Played, RankConnection, RankListener, Receive};
use super::launch::Launched;
use super::launch_request::{LaunchRequest, RankSpec};
use super::rank_report::{self, RankReport, ReportedKnob};
use super::shell::{Access, Lent};
use super::{Found, LOADS, ProcessEnvironment, identify_all_at, is_there, of_kind, this_program};
use crate::pattern::{FileOrder, Measured};
use crate::plan::Block;
use crate::record::{Granted, UnavailableTransport};
use crate::transport::{Offer, Pending, Session, Spec, Task, Transport, granted};
use crate::vocabulary::{Launch, Place, TRANSPORTS, TransportEntry, Wait};
use crate::{Error, Result};
use linerate_sys::process::Process;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::net::IpAddr;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

/// Names and values.
pub type Variables = Vec<(String, String)>;

/// A transport by libraries that launchers start: what differs between them.
pub struct LibraryTransport {
    /// Its name, which is the kind of its libraries.
    pub kind: &'static str,
    /// What a library of it is.
    pub noun: &'static str,
    /// How to come by one.
    pub install: &'static str,
    /// The knob that picks one of them, where there are several.
    pub picks: Option<&'static str>,
    /// The knob that says where it is.
    pub at: Option<&'static str>,
    /// What a rank of this library tells of knobs.
    pub reported_knobs: fn(&Spec, &str) -> Vec<ReportedKnob>,
    /// How a library of this name starts its ranks; none where that is not known.
    pub launch: fn(&str) -> Option<&'static Launch>,
    /// What a rank's program is told, before its homes.
    pub words: fn(&Spec, &RankSpec) -> Vec<OsString>,
    /// What this library is told beside its launch.
    pub variables: fn(&Spec, &str) -> Result<Variables>,
    /// How its ranks receive.
    pub receive: fn(&Spec) -> Result<Receive>,
    /// What is asked of a file that its ranks have open.
    pub file: fn(&Spec) -> FileOrder,
    /// What is on record of its other knobs.
    pub granted: fn(&Spec) -> Vec<Granted>,
    /// Every library of it on this host. Looked for once: each is loaded for it, and may hang.
    pub all: OnceLock<Vec<Found>>,
}

impl Transport for LibraryTransport {
    fn name(&self) -> &'static str {
        self.kind
    }

    fn lacks(&self) -> Option<UnavailableTransport> {
        let is_there = is_there(self.kind, &ProcessEnvironment::of_this_process());
        (!is_there).then(|| UnavailableTransport {
            transport: self.kind.into(),
            why: format!("unavailable: no {} was found on this host", self.noun),
            hint: format!("install one: {}; `linerate doctor` lists what there is", self.install),
        })
    }

    fn offer(&'static self, spec: &Spec) -> Result<(Box<dyn Pending>, Offer)> {
        if let Some(lack) = self.lacks() {
            return Err(Error::unavailable(lack.why, lack.hint));
        }
        if let Some(most) = self.entry().and_then(|entry| entry.most_flows).filter(|most| spec.flows > *most)
        {
            let what = format!("{} ranks at each end of {}, which has {most}", spec.flows, self.noun);
            return Err(Error::unavailable(what, format!("flows = [{most}]")));
        }
        // Before the other end waits for a rank.
        let all = self.candidates(spec)?;
        let home = RankListener::open()?;
        let (mut far, mut offer) = (None, Offer::Nothing);
        if spec.passive {
            let asked = self.picks.and_then(|knob| spec.value(knob));
            let needed = asked.and_then(self.launch).and_then(|launch| launch.daemons.as_ref());
            let here = |address| Far::of_this_host(&all, asked, needed, address);
            let (held, elsewhere) = own_address(spec)?.map(here).transpose()?.unzip();
            far = held;
            offer = Offer::Home { name: home.name().into(), elsewhere: elsewhere.map(Box::new) };
        }
        Ok((Box::new(End { own: self, spec: spec.clone(), home, far }), offer))
    }
}

impl LibraryTransport {
    fn entry(&self) -> Option<&'static TransportEntry> {
        TRANSPORTS.iter().find(|entry| entry.name == self.kind)
    }

    /// Why this host has no library of this name; none where it has one. Each is loaded for that, once.
    pub fn lacks_named(&self, name: &str) -> Option<(String, String)> {
        let here = self.found_by(&this_program().ok()?);
        let is_it = |found: &Found| found.identity.as_ref().is_ok_and(|identity| identity.name == name);
        (!here.iter().any(is_it)).then(|| (format!("it has no {name}"), self.there_is(here)))
    }

    /// Why there is none at a place; none where there is one.
    pub fn lacks_at(&self, place: &str) -> Option<(String, String)> {
        let program = this_program().ok()?;
        let around = ProcessEnvironment::of_this_process();
        let there = identify_all_at(self.kind, Path::new(place), &program, &around);
        if there.iter().any(|found| found.identity.is_ok()) {
            return None;
        }
        let broken = there.into_iter().find_map(|found| found.identity.err());
        let why = broken.unwrap_or_else(|| format!("no {} at {place}", self.noun));
        Some((why, self.there_is(self.found_by(&program))))
    }

    fn found_by(&self, program: &Path) -> &[Found] {
        let around = ProcessEnvironment::of_this_process();
        self.all.get_or_init(|| of_kind(self.kind, program, &around))
    }

    /// What this host has of it, for a hint.
    fn there_is(&self, all: &[Found]) -> String {
        let named = |found: &Found| {
            let identity = found.identity.as_ref().ok()?;
            Some(format!("{} ({})", identity.name, found.path.display()))
        };
        let names: Vec<String> = all.iter().filter_map(named).collect();
        match names.is_empty() {
            true => format!("install one: {}", self.install),
            false => format!("it has {}; `linerate doctor` says more", names.join(", ")),
        }
    }

    /// Whether a library is taken where none is asked for: it is known how it starts ranks, and that it needs no daemons.
    fn is_taken_unasked(&self, name: &str) -> bool {
        (self.launch)(name).is_some_and(|launch| launch.daemons.is_none())
    }

    /// How its ranks wait. What is taken unasked polls.
    fn only_wait(&self, spec: &Spec) -> Result<Wait> {
        let place = if own_address(spec)?.is_some() { Place::Network } else { Place::InHost };
        let only = self.entry().and_then(|entry| entry.only_wait(place, |knob| spec.value(knob)));
        Ok(only.unwrap_or(Wait::Polling))
    }

    /// Those that this session may take.
    fn candidates(&self, spec: &Spec) -> Result<Cow<'_, [Found]>> {
        let program = this_program()?;
        let around = ProcessEnvironment::of_this_process();
        let Some(place) = self.at.and_then(|knob| spec.value(knob)) else {
            return Ok(Cow::Borrowed(self.found_by(&program)));
        };
        let there = identify_all_at(self.kind, Path::new(place), &program, &around);
        match there.as_slice() {
            [] => {
                let hint = "it is a library's file, or the folder above its lib; `linerate doctor` lists those that there are";
                Err(Error::unavailable(format!("no {} at {place}", self.noun), hint))
            }
            [Found { identity: Err(why), .. }] => Err(Error::unavailable(why.clone(), LOADS)),
            _ => Ok(Cow::Owned(there)),
        }
    }

    /// The library that was asked for, or the first one that can be started and that the other host has as well.
    fn pick(&self, spec: &Spec, elsewhere: Option<&Elsewhere>) -> Result<Found> {
        let asked = self.picks.and_then(|knob| spec.value(knob));
        let is_asked = |found: &Found| match (&found.identity, asked) {
            (Ok(identity), Some(asked)) => identity.name == asked,
            (Ok(identity), None) => {
                let is_there =
                    elsewhere.is_none_or(|other| other.placed(&identity.name, &identity.version).is_ok());
                found.launcher.is_some() && self.is_taken_unasked(&identity.name) && is_there
            }
            (Err(_), _) => false,
        };
        let all = self.candidates(spec)?;
        let names: Vec<&str> =
            all.iter().filter_map(|found| Some(found.identity.as_ref().ok()?.name.as_str())).collect();
        let hint = match names.is_empty() {
            true => "`linerate doctor` says why each of this host's libraries cannot be used".into(),
            false => format!("this host has {}; `linerate doctor` says more", names.join(", ")),
        };
        let missing =
            || Error::unavailable(format!("no {} that can be started", asked.unwrap_or(self.noun)), hint);
        all.iter().find(|found| is_asked(found)).cloned().ok_or_else(missing)
    }
}

/// An end whose rank has not called yet.
struct End {
    own: &'static LibraryTransport,
    spec: Spec,
    home: RankListener,
    /// What the other end's launcher has here.
    far: Option<Far>,
}

impl Pending for End {
    /// The active end launches both ranks; the other one waits for its own.
    fn join(self: Box<Self>, other: &Offer) -> Result<Box<dyn Session>> {
        let End { own, spec, home, far } = *self;
        let (mut ranks, launched) = if spec.passive {
            (expected(&home, &spec, far.as_ref())?, None)
        } else {
            let Offer::Home { name, elsewhere } = other else {
                return Err(Error::peer("the other end", "offered no home for a rank", ""));
            };
            let begun = begin(own, &spec, &home, name, elsewhere.as_deref());
            if begun.is_err() {
                forsake(name, elsewhere.as_deref());
            }
            let (ranks, (launched, found)) = begun?;
            let shell = elsewhere.as_ref().map(|elsewhere| elsewhere.shell.clone());
            (ranks, Some((launched, found, shell)))
        };
        let daemon = |rank: &RankConnection| match (&launched, &far) {
            (Some((launched, ..)), _) => launched.daemon_of(rank.process),
            (None, far) => far.as_ref()?.daemon_of(rank.process),
        };
        let daemons = ranks.iter().filter_map(daemon).collect();
        let around = SessionResources { launched, far, daemons };
        let report = match (&around.launched, ranks.first_mut()) {
            (Some((_, found, _)), Some(rank)) => {
                rank_report::ask(&(own.reported_knobs)(&spec, name_of(found)), &spec, rank, &|| {
                    around.check()
                })?
            }
            _ => RankReport::default(),
        };
        Ok(Box::new(Open { own, limit: spec.patience(), report, spec, ranks, around }))
    }
}

/// The ranks that the other end's launcher starts here.
fn expected(home: &RankListener, spec: &Spec, far: Option<&Far>) -> Result<Vec<RankConnection>> {
    let forsaken = || far.is_some_and(Far::is_forsaken);
    let welcomed = welcome(home, spec, &|| forsaken().then(|| "the other end started no rank".into()));
    // What the other end failed by is nearer to the cause.
    let cause = || Error::hung_up("the other end", "started no rank");
    welcomed.map_err(|error| if forsaken() { cause() } else { error })
}

/// What asks a rank for its number.
pub const NUMBER: &str = "number";

/// All ranks of an end, by their numbers.
fn welcome(
    home: &RankListener,
    spec: &Spec,
    ended: &dyn Fn() -> Option<String>,
) -> Result<Vec<RankConnection>> {
    let one = |_| {
        let mut rank = home.welcome(ended)?;
        // One alone need not say which it is.
        let number = if spec.flows > 1 { rank.ask(NUMBER, &|| Ok(()))? } else { 0 };
        Ok((number, rank))
    };
    let all: BTreeMap<u64, RankConnection> = (0..spec.flows).map(one).collect::<Result<_>>()?;
    Ok(all.into_values().collect())
}

/// Starts all ranks and waits for this end's own.
fn begin(
    own: &LibraryTransport,
    spec: &Spec,
    home: &RankListener,
    other: &str,
    elsewhere: Option<&Elsewhere>,
) -> Result<(Vec<RankConnection>, (Launched, Found))> {
    let found = own.pick(spec, elsewhere)?;
    let rank_specs = rank_specs(spec, &found, elsewhere)?;
    // Until all ranks are there nobody else needs it.
    let shell = elsewhere.map(|elsewhere| Lent::to_own_user(&elsewhere.shell)).transpose()?;
    let name = name_of(&found);
    let unknown = || {
        let hint = "take another one: `linerate doctor` lists them";
        Error::unavailable(format!("how {name} starts its ranks is not known"), hint)
    };
    let recipe = (own.launch)(name).ok_or_else(unknown)?;
    let variables = (own.variables)(spec, name)?;
    let words = [0, 1].map(|number| (own.words)(spec, &rank_specs[number]));
    let asked =
        LaunchRequest { found: &found, recipe, rank_specs: &rank_specs, words, variables: &variables };
    let homes = [home.name(), other].into_iter().flat_map(|home| vec![home; spec.flows as usize]);
    let launched = Launched::start(&asked, &homes.collect::<Vec<_>>(), shell.as_ref())?;
    let ranks = welcome(home, spec, &|| launched.last_words())?;
    Ok((ranks, (launched, found)))
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
fn rank_specs(spec: &Spec, found: &Found, elsewhere: Option<&Elsewhere>) -> Result<[RankSpec; 2]> {
    let identity = found.identity.as_ref().map_err(|why| Error::unavailable(why.clone(), ""))?;
    let abi = identity.abi.clone();
    let at = own_address(spec)?.map(|address| Ok::<_, Error>((address, interface_of(address.into())?)));
    let (program, file, version) = (this_program()?, found.path.clone(), identity.version.clone());
    let name = identity.name.clone();
    let near = RankSpec { program, file, name, abi, version, ranks: spec.flows, at: at.transpose()? };
    let far = match elsewhere {
        None => RankSpec { at: None, ..near.clone() },
        Some(other) => {
            let placed = other.placed(&identity.name, &identity.version)?;
            let IpAddr::V4(address) = other.shell.address.ip() else {
                return Err(Error::peer("the other end", "is at no IPv4 address", ""));
            };
            let at = Some((address, other.interface.clone()));
            RankSpec {
                program: other.program.clone(),
                file: placed.path.clone(),
                name: placed.name.clone(),
                abi: placed.abi.clone(),
                version: placed.version.clone(),
                ranks: spec.flows,
                at,
            }
        }
    };
    Ok([near, far])
}

/// A session at one end.
struct Open {
    own: &'static LibraryTransport,
    spec: Spec,
    /// What a rank told the end that started it.
    report: RankReport,
    /// What a trial may take.
    limit: Duration,
    // Before the launcher, which ends when all ranks have been let go.
    ranks: Vec<RankConnection>,
    around: SessionResources,
}

/// What ranks need and what ends with their session.
struct SessionResources {
    /// At the end that started the ranks, with what tells another host's end that it need not wait.
    launched: Option<(Launched, Found, Option<Access>)>,
    /// What the other end's launcher has here.
    far: Option<Far>,
    /// Whose children the ranks are, where those are daemons.
    daemons: Vec<Process>,
}

impl SessionResources {
    /// What of it has ended.
    fn check(&self) -> Result<()> {
        let ended = self.launched.as_ref().and_then(|(launched, ..)| launched.last_words());
        ended.map_or(Ok(()), |how| Err(Error::died(how)))?;
        if self.far.as_ref().is_some_and(Far::is_forsaken) {
            return Err(Error::hung_up("the other end", "has no rank"));
        }
        for daemon in &self.daemons {
            if daemon.has_ended()? {
                let what = format!("the daemon of a rank, process {}, has ended", daemon.pid());
                return Err(Error::died(what));
            }
        }
        Ok(())
    }

    /// The other end's ranks wait for one that will send nothing.
    fn forsake(&self) {
        if let Some((.., Some(shell))) = &self.launched {
            let _ = shell.forsake();
        }
    }
}

impl Session for Open {
    fn granted(&self) -> Vec<Granted> {
        let Some((_, found, _)) = &self.around.launched else { return Vec::new() };
        let library = self.own.picks.map(|knob| granted(&self.spec, knob, name_of(found)));
        // It was found there; which file it is stands with the endpoints.
        let place = self.own.at.and_then(|knob| Some(granted(&self.spec, knob, self.spec.value(knob)?)));
        let others = (self.own.granted)(&self.spec).into_iter().chain(self.report.granted.clone());
        library.into_iter().chain(place).chain(others).collect()
    }

    fn endpoints(&self) -> Vec<String> {
        let about = |launched: &Launched, found| launched.about(found) + &self.report.about();
        self.around.launched.iter().map(|(launched, found, _)| about(launched, found)).collect()
    }

    fn processes(&self) -> Vec<u32> {
        let own = self.ranks.iter().map(|rank| rank.process);
        let of_launcher = self.around.launched.iter().flat_map(|(launched, ..)| launched.processes());
        own.chain(of_launcher).chain(self.around.far.iter().flat_map(Far::processes)).collect()
    }

    fn limit(&mut self, limit: Duration) {
        self.limit = limit;
    }

    fn trial(&mut self, tasks: &[Task], wait: Wait, blocks: &[Block]) -> Result<Vec<Vec<Vec<Measured>>>> {
        let [task] = tasks else {
            return Err(Error::unavailable("both directions at once between ranks", "take ping-ping"));
        };
        let only = self.own.only_wait(&self.spec)?;
        if wait != only {
            let noun = self.own.noun;
            let hint = format!("wait = \"{only}\": `linerate list knobs` says more");
            return Err(Error::unavailable(format!("{wait} in an {noun} that knows only {only}"), hint));
        }
        let receive = (self.own.receive)(&self.spec)?;
        let file = (self.own.file)(&self.spec);
        let begin = |(flow, rank): (usize, &mut RankConnection)| {
            let (does, cpu, blocks) = (task.does, task.cpu(flow), blocks.to_vec());
            rank.begin(&Play { does, cpu, wait, receive, file: file.clone(), blocks })
        };
        let calls = self.ranks.iter_mut().enumerate().map(begin).collect::<Result<Vec<_>>>()?;
        let flows = self.ranks.iter_mut().zip(calls).map(|(rank, call)| {
            let played = rank.finish(call, self.limit, &|| self.around.check())?;
            played.into_iter().map(Played::measured).collect()
        });
        let flows: Result<Vec<Vec<Measured>>> = flows.collect();
        if flows.is_err() {
            self.around.forsake();
        }
        Ok(vec![flows?])
    }
}
