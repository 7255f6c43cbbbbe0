//! Both ends of a session in this process, the passive one first, each on a CPU of its own.

use linerate::pattern::Measured;
use linerate::plan::Block;
use linerate::transport::{Offer, Session, Spec, Task, named};
use linerate::vocabulary::{Does, Wait};
use std::time::Duration;

/// What a block may take where another program plays it.
const LIMIT: Duration = Duration::from_secs(60);

/// One flow from end to end.
pub struct Ends([Box<dyn Session>; 2]);

impl Ends {
    /// A session over this host, with these settings.
    pub fn open(transport: &str, settings: &[&str]) -> linerate::Result<Ends> {
        let settings = settings.iter().map(|set| set.parse().expect("a setting")).collect();
        let (flows, passive, patience_ms) = (1, true, 20_000);
        let spec =
            Spec { transport: transport.into(), flows, passive, settings, patience_ms, ..Spec::default() };
        let transport = named(&spec.transport)?;
        let (passive, offer) = transport.offer(&spec)?;
        let (active, _) = transport.offer(&Spec { passive: false, ..spec })?;
        std::thread::scope(|scope| {
            let active = scope.spawn(move || active.join(&offer));
            let passive = passive.join(&Offer::Nothing)?;
            Ok(Ends([passive, active.join().expect("joining does not panic")?]))
        })
    }

    /// What each end measured of a block.
    pub fn play(&mut self, does: [Does; 2], wait: Wait, block: Block) -> linerate::Result<[Measured; 2]> {
        let cpus = linerate_sys::thread::allowed_cpus()?;
        let task = |does, place: usize| [Task { does, cpus: vec![cpus[place % cpus.len()]] }];
        let [passive, active] = &mut self.0;
        passive.limit(LIMIT);
        active.limit(LIMIT);
        let (passive, active) = std::thread::scope(|scope| {
            let other = scope.spawn(move || active.trial(&task(does[1], 0), wait, &[block]));
            let here = passive.trial(&task(does[0], 1), wait, &[block]);
            (here, other.join().expect("a trial does not panic"))
        });
        let only = |measured: Vec<Vec<Vec<Measured>>>| measured.into_iter().flatten().flatten().next();
        Ok([passive?, active?].map(|measured| only(measured).expect("one flow of one block")))
    }
}
