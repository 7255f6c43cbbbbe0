//! Hosts whose agents a launcher starts, and which call back.
//!
//! The controller listens, starts the launcher, and takes in who proves the secret. From then on the agent is as any other:
//! the same messages pass over its connection as over a pipe. Whether it lives is told by that connection and by nothing else:
//! a launcher may take minutes to notice.

mod join;
mod process;
mod rendezvous;

pub use join::{Join, join};
pub use process::SECRET;

use super::host::{HostAccess, Started};
use super::protocol::PROTOCOL;
use super::ssh::{Reaching, Told};
use crate::control::{Check, Client};
use crate::plan::{HostId, Launched, Plan};
use crate::{Error, Result};
use process::Launchers;
use rendezvous::{Caller, Rendezvous};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

/// How long agents may take to call back, where nobody says otherwise.
pub const USUAL_WAIT: Duration = Duration::from_secs(60);

/// How long those that are too many for the plan are waited for, once enough are there.
const SPARE: Duration = Duration::from_secs(3);

/// How long after a launcher's end its agents may still be on their way.
const AFTER_END: Duration = Duration::from_secs(2);

/// How often is looked whether anything speaks against waiting on.
const LOOK: Duration = Duration::from_millis(50);

/// How a launcher is called, and where its agents call back.
#[derive(Debug, Clone, Default)]
pub struct LaunchAccess {
    /// What is called in place of the usual program; with `{host}` for hosts that are named.
    pub command: Option<String>,
    /// Where is listened: everywhere at a port of the kernel's choice where nothing is said.
    pub listen: Option<SocketAddr>,
    /// How long agents may take to call back.
    pub wait: Option<Duration>,
}

/// What an agent says of itself when it calls back.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Greeting {
    /// Which of the started agents it is, as the launcher told it; none where it told nothing.
    pub place: Option<u32>,
    /// Its host's name.
    pub host: String,
    /// [`PROTOCOL`].
    pub protocol: String,
    /// The program's version.
    pub version: String,
    /// The architecture that it was built for.
    pub architecture: String,
}

/// What a caller is told.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Reception {
    /// Why it is turned away; it is taken in where nothing is said.
    #[serde(default)]
    pub refused: Option<String>,
}

/// Starts the agents and waits for as many as the plan takes; what there is to say of others is told.
pub(super) fn started(
    plan: &Plan,
    launched: &Launched,
    means: &HostAccess,
    check: Check<'_>,
    told: Told<'_>,
) -> Result<Vec<Started>> {
    let access = &means.launch;
    let rendezvous = Rendezvous::open(access.listen)?;
    let launchers = Launchers::start(launched, &means.program, access.command.as_deref(), &rendezvous)?;
    let wait = access.wait.unwrap_or(USUAL_WAIT);
    let arrivals = Arrivals { launched, wanted: plan.hosts.len(), came: BTreeMap::new() };
    // Those that start nothing would be waited for one after the other.
    let came = arrivals.gather(&rendezvous, &launchers, wait, check, told).inspect_err(|_| launchers.end())?;
    let taken = came.into_iter().zip(&plan.hosts);
    taken.map(|((place, caller), planned)| agent(planned.id, launched, place, caller, &launchers)).collect()
}

/// An agent that has called, as one that was started any other way.
fn agent(
    id: HostId,
    launched: &Launched,
    place: u32,
    caller: Caller,
    launchers: &Launchers,
) -> Result<Started> {
    let Caller { greeting, opener, sealer, .. } = caller;
    let reached = format!("{}://{}", launched.by().name, greeting.host);
    let who = format!("host {id} ({reached})");
    let launcher = launchers.of(place);
    let told = who.clone();
    let post_mortem = move || Some(launcher.last_words(&told).into());
    let client = Client::new(who, opener, sealer)?.with_post_mortem(post_mortem);
    Ok(Started::called_back(id, reached, client, launchers.handles()))
}

/// Who has called, by the place that the launcher gave it.
struct Arrivals<'a> {
    launched: &'a Launched,
    wanted: usize,
    came: BTreeMap<u32, Caller>,
}

impl Arrivals<'_> {
    fn gather(
        mut self,
        rendezvous: &Rendezvous,
        launchers: &Launchers,
        wait: Duration,
        check: Check<'_>,
        told: Told<'_>,
    ) -> Result<BTreeMap<u32, Caller>> {
        let mut deadline = Instant::now() + wait;
        let mut over_since: Option<Instant> = None;
        let mut shown = usize::MAX;
        while self.came.len() < self.launched.hosts() as usize && Instant::now() < deadline {
            check()?;
            if shown != self.came.len() {
                shown = self.came.len();
                told(Reaching::Awaiting(&self.missing()));
                if shown >= self.wanted {
                    deadline = deadline.min(Instant::now() + SPARE);
                }
            }
            match rendezvous.callers().recv_timeout(LOOK) {
                Ok(caller) => self.receive(caller, told),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if launchers.have_all_ended() {
                let since = *over_since.get_or_insert_with(Instant::now);
                deadline = deadline.min(since + AFTER_END);
            }
        }
        let missing = self.missing_places();
        if self.came.len() >= self.wanted {
            let say = |place: &u32| told(Reaching::Missing(launchers.why_missing(*place, wait)));
            missing.iter().for_each(say);
            return Ok(self.came);
        }
        let mut whys: Vec<String> = missing.iter().map(|place| launchers.why_missing(*place, wait)).collect();
        whys.dedup();
        let what = whys.join("; ");
        let hint = launchers.hint(&rendezvous.addresses());
        Err(Error::peer(self.launched.by().name, what, hint))
    }

    fn receive(&mut self, caller: Caller, told: Told<'_>) {
        let greeting = &caller.greeting;
        let who = format!("{} ({})", greeting.host, caller.from);
        if let Some(why) = other_program(greeting) {
            told(Reaching::Missing(format!("{who} {why}")));
            return caller.refuse(&why);
        }
        // A launcher that tells agents nothing has them taken in the order in which they come.
        let free = (0..self.launched.hosts()).find(|place| !self.came.contains_key(place));
        let place = greeting.place.or(free).filter(|place| *place < self.launched.hosts());
        match place {
            Some(place) if !self.came.contains_key(&place) => {
                if let Some(word) = other_architecture(greeting) {
                    told(Reaching::Missing(format!("{who} {word}")));
                }
                if let Some(caller) = caller.welcome() {
                    self.came.insert(place, caller);
                }
            }
            _ => {
                let names = self.launched;
                let as_whom = greeting.place.map_or("one too many".into(), |place| names.name_of(place));
                let why = format!("answers as {as_whom}, which another one does already");
                told(Reaching::Missing(format!("{who} {why}: it takes no part")));
                caller.refuse(&why);
            }
        }
    }

    fn missing_places(&self) -> Vec<u32> {
        (0..self.launched.hosts()).filter(|place| !self.came.contains_key(place)).collect()
    }

    fn missing(&self) -> Vec<String> {
        self.missing_places().into_iter().map(|place| self.launched.name_of(place)).collect()
    }
}

/// Why another program does not take part.
fn other_program(greeting: &Greeting) -> Option<String> {
    let theirs = &greeting.version;
    (greeting.protocol != PROTOCOL).then(|| {
        format!("has linerate {theirs}, and this is {}: it takes no part", env!("CARGO_PKG_VERSION"))
    })
}

/// What there is to know where hosts are of two kinds.
fn other_architecture(greeting: &Greeting) -> Option<String> {
    let ours = std::env::consts::ARCH;
    let theirs = &greeting.architecture;
    (theirs != ours).then(|| format!("is {theirs}, and this host {ours}: its CPU costs differ by that alone"))
}
