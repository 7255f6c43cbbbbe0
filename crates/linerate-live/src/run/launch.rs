//! Hosts whose agents a launcher starts, and which call back.
//!
//! The controller listens, starts the launcher, and takes in who proves the secret. From then on the agent is as any other:
//! the same messages pass over its connection as over a pipe. Whether it lives is told by that connection and by nothing else:
//! a launcher may take minutes to notice.

mod join;
mod process;
mod rendezvous;

pub use join::{Join, join};
pub(super) use process::cannot_again;
pub use process::{PLACES, SECRET, SLOT};

use super::lost::LEAST_OF_MANY;
use super::protocol::PROTOCOL;
use super::ssh::{Reaching, Told};
use super::started::{Slot, Started};
use crate::control::{ANSWERED_IN, Check, Client};
use crate::plan::{HostId, Launched, Plan, PlannedHost};
use crate::{Error, Result};
use process::Launchers;
use rendezvous::{Caller, Rendezvous};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
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
    /// The launcher's own name of its host, and the allocation, `node/job`; none where it told nothing.
    pub slot: Option<String>,
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

/// Starts the agents and waits for as many as the plan takes; what there is to say of others is told. A plan of many goes on
/// without those that do not call, each of which has its own reason.
pub(super) fn started(
    plan: &Plan,
    launched: &Launched,
    (access, program): (&LaunchAccess, &Path),
    check: Check<'_>,
    told: Told<'_>,
) -> Result<Vec<(HostId, Result<Started>)>> {
    let rendezvous = Rendezvous::open(access.listen)?;
    let launchers = Launchers::start(launched, program, access.command.as_deref(), &rendezvous)?;
    let wait = access.wait.unwrap_or(USUAL_WAIT);
    let wanted = plan.hosts.len();
    let least = if plan.may_lose_hosts() { LEAST_OF_MANY } else { wanted };
    let arrivals = Arrivals { launched, wanted, least, came: BTreeMap::new() };
    // Those that start nothing would be waited for one after the other.
    let (mut came, waited) =
        arrivals.gather(&rendezvous, &launchers, wait, check, told).inspect_err(|_| launchers.end())?;
    let absent: Vec<u32> = (0..launched.hosts()).filter(|place| !came.contains_key(place)).collect();
    if came.len() >= wanted {
        launchers.end_of(&absent);
        let taken = came.into_iter().zip(&plan.hosts);
        let agent = |((place, caller), planned): (_, &PlannedHost)| {
            (planned.id, agent(planned.id, launched, place, caller, &launchers))
        };
        return Ok(taken.map(agent).collect());
    }
    let hint = launchers.hint(&rendezvous.addresses());
    let of_place = |(place, planned): (u32, &PlannedHost)| {
        let id = planned.id;
        let missing = || {
            let why = launchers.why_missing(&[place], waited).join("; ");
            Error::peer(launched.name_of(place), why, hint.clone())
        };
        let caller = came.remove(&place).ok_or_else(missing);
        (id, caller.and_then(|caller| agent(id, launched, place, caller, &launchers)))
    };
    let all = (0..).zip(&plan.hosts).map(of_place).collect();
    // Only now: how one ended that was told to is not why nobody called.
    launchers.end_of(&absent);
    Ok(all)
}

/// Starts an agent again where one ended, and waits until then for its call.
pub(super) fn again(
    (id, slot): (HostId, &Slot),
    launched: &Launched,
    (access, program): (&LaunchAccess, &Path),
    until: Instant,
    check: Check<'_>,
) -> Result<Started> {
    let begun = Instant::now();
    let rendezvous = Rendezvous::open(access.listen)?;
    let launchers = Launchers::again(launched, program, access.command.as_deref(), slot, &rendezvous)?;
    let mut until = until.min(begun + access.wait.unwrap_or(USUAL_WAIT));
    let mut is_over = false;
    while Instant::now() < until {
        check().inspect_err(|_| launchers.end())?;
        match rendezvous.callers().recv_timeout(LOOK) {
            Ok(caller) => {
                if let Some(why) = other_program(&caller.greeting) {
                    caller.refuse(&why);
                    launchers.end();
                    return Err(Error::peer(launched.name_of(slot.place), why, "stop it, and run it again"));
                }
                if let Some(caller) = caller.welcome() {
                    return agent(id, launched, slot.place, caller, &launchers);
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if !is_over && launchers.have_ended(&[0]) {
            is_over = true;
            until = until.min(Instant::now() + AFTER_END);
        }
    }
    let why = launchers.why_missing(&[0], begun.elapsed()).join("; ");
    // One that has ended has no group any more.
    if !launchers.have_ended(&[0]) {
        launchers.end();
    }
    Err(Error::peer(launched.name_of(slot.place), why, launchers.hint(&rendezvous.addresses())))
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
    sealer.limit(ANSWERED_IN);
    let told = greeting.slot.as_deref().and_then(|slot| slot.split_once('/'));
    let [node, job] = [told.map(|(node, _)| node.to_owned()), told.map(|(_, job)| job.to_owned())];
    let slot = Slot { place, node, job };
    let reached = format!("{}://{}", launched.by().name, greeting.host);
    let who = format!("host {id} ({reached})");
    let launcher = launchers.process_of(place);
    let told = who.clone();
    let post_mortem = move || Some(launcher.last_words(&told).into());
    let client = Client::new(who, opener, sealer)?.attended().with_post_mortem(post_mortem);
    Ok(Started::called_back(id, reached, client, (slot, launchers.handles())))
}

/// Who has called, by the place that the launcher gave it.
struct Arrivals<'a> {
    launched: &'a Launched,
    wanted: usize,
    /// With fewer nothing is measured.
    least: usize,
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
    ) -> Result<(BTreeMap<u32, Caller>, Duration)> {
        let begun = Instant::now();
        let mut deadline = begun + wait;
        let mut over_since: Option<Instant> = None;
        let mut shown = usize::MAX;
        while self.came.len() < self.launched.hosts() as usize && Instant::now() < deadline {
            check()?;
            if shown != self.came.len() {
                shown = self.came.len();
                told(Reaching::Awaiting(self.missing()));
                if shown >= self.wanted {
                    deadline = deadline.min(Instant::now() + SPARE);
                }
            }
            match rendezvous.callers().recv_timeout(LOOK) {
                Ok(caller) => self.receive(caller, told),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if launchers.have_ended(&self.missing_places()) {
                let since = *over_since.get_or_insert_with(Instant::now);
                deadline = deadline.min(since + AFTER_END);
            }
        }
        let waited = begun.elapsed();
        let whys = launchers.why_missing(&self.missing_places(), waited);
        if self.came.len() >= self.wanted {
            whys.into_iter().for_each(|why| told(Reaching::Missing(why)));
            return Ok((self.came, waited));
        }
        if self.came.len() >= self.least {
            return Ok((self.came, waited));
        }
        let hint = launchers.hint(&rendezvous.addresses());
        Err(Error::peer(self.launched.by().name, whys.join("; "), hint))
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
                let why = match greeting.place {
                    Some(place) if place < names.hosts() => {
                        format!("answers as {}, which another one does already", names.name_of(place))
                    }
                    _ => format!("is one too many: {} were to come", names.hosts()),
                };
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Seal;
    use rendezvous::PROOF;
    use std::io::{Read, Write};
    use std::net::TcpStream;

    /// What a caller of this greeting is told, and what is told of it.
    fn received(greetings: &[Greeting]) -> (Vec<Option<String>>, Vec<String>, usize) {
        let rendezvous = Rendezvous::open("127.0.0.1:0".parse().ok()).unwrap();
        let launched: Launched = "slurm:-N3".parse().unwrap();
        let mut arrivals = Arrivals { launched: &launched, wanted: 2, least: 2, came: BTreeMap::new() };
        let (mut receptions, mut told, mut kept) = (Vec::new(), Vec::new(), Vec::new());
        for greeting in greetings {
            let stream = TcpStream::connect(rendezvous.addresses()).unwrap();
            let seal = Seal::from_secret(rendezvous.secret()).unwrap();
            let (mut opener, mut sealer) = seal.connect(stream, PROOF).unwrap();
            let line = serde_json::to_string(greeting).unwrap() + "\n";
            sealer.write_all(line.as_bytes()).unwrap();
            let caller = rendezvous.callers().recv_timeout(PROOF).unwrap();
            arrivals.receive(caller, &mut |reaching| match reaching {
                Reaching::Missing(why) => told.push(why),
                other => panic!("{other:?}"),
            });
            let mut line = vec![0; 1024];
            let count = opener.read(&mut line).unwrap();
            receptions.push(serde_json::from_slice::<Reception>(&line[..count]).unwrap().refused);
            kept.push((opener, sealer));
        }
        (receptions, told, arrivals.came.len())
    }

    fn greeting(host: &str, place: Option<u32>) -> Greeting {
        Greeting {
            place,
            slot: None,
            host: host.into(),
            protocol: PROTOCOL.into(),
            version: env!("CARGO_PKG_VERSION").into(),
            architecture: std::env::consts::ARCH.into(),
        }
    }

    #[test]
    fn who_answers_as_another_is_turned_away() {
        let calls =
            [greeting("n1", Some(1)), greeting("n9", Some(1)), greeting("n2", Some(7)), greeting("n3", None)];
        let (receptions, told, came) = received(&calls);
        assert_eq!(came, 2);
        assert!(receptions[0].is_none() && receptions[3].is_none(), "{receptions:?}");
        assert!(receptions[1].as_ref().unwrap().contains("task 1 of srun, which another one does already"));
        assert!(told.len() == 2 && told[0].starts_with("n9 (127.0.0.1) answers as task 1"), "{told:?}");
    }

    #[test]
    fn another_version_is_said_and_another_architecture_too() {
        let old = Greeting {
            protocol: "linerate.control/0".into(),
            version: "0.0.9".into(),
            ..greeting("old", Some(0))
        };
        let other = Greeting { architecture: "pdp11".into(), ..greeting("other", Some(1)) };
        let (receptions, told, came) = received(&[old, other]);
        assert_eq!((came, receptions[0].is_some(), receptions[1].is_none()), (1, true, true));
        assert!(told[0].starts_with("old (127.0.0.1) has linerate 0.0.9, and this is "), "{told:?}");
        assert!(told[1].starts_with("other (127.0.0.1) is pdp11"), "{told:?}");
    }
}
