//! Two hosts in this process, which have a session over loopback: what a raw stream and an application play over it.

use linerate::pattern::Measured;
use linerate::plan::{Block, Graph, HostId, Setting};
use linerate::transport::{Offer, Session, Spec, Task, named};
use linerate::vocabulary::{Cache, Does, Wait};
use linerate::workload::application::{Order, PairEnd};
use linerate::workload::ends;

/// How long a block takes, about.
pub const BLOCK_NS: f64 = 2e8;

/// Parts of a block; the first is its lead, on both sides.
pub const SLICES: u32 = 9;

/// Two ends: the first is passive.
pub struct Sessions {
    ends: [Box<dyn Session>; 2],
    /// Where the thread of a raw stream runs, of each end.
    cpus: [Vec<u32>; 2],
}

/// A block of so many messages a slice.
pub fn block(message_bytes: u64, messages: u64) -> Block {
    let (slices, lead, cache) = (SLICES, 1, Cache::Hot);
    Block { message_bytes, messages: messages.max(1), slices, lead, cache, ..Block::default() }
}

/// The nanoseconds of its slices but for the lead.
pub fn counted_ns(slices_ns: &[u64]) -> u64 {
    slices_ns.iter().skip(1).sum()
}

impl Sessions {
    /// One connection over this host.
    pub fn open(transport: &str) -> Result<Sessions, String> {
        let told = |error: linerate::Error| error.to_string();
        let spec = Spec {
            transport: transport.into(),
            flows: 1,
            passive: true,
            patience_ms: 20_000,
            ..Spec::default()
        };
        let transport = named(&spec.transport).map_err(told)?;
        let (passive, offer) = transport.offer(&spec).map_err(told)?;
        let (active, _) = transport.offer(&Spec { passive: false, ..spec }).map_err(told)?;
        std::thread::scope(|scope| {
            let active = scope.spawn(move || active.join(&offer));
            let passive = passive.join(&Offer::Nothing).map_err(told)?;
            let active = active.join().map_err(|_| "joining panicked".to_owned())?;
            let cpus = linerate_sys::thread::allowed_cpus().map_err(|error| error.to_string())?;
            let cpus = [1, 0].map(|place: usize| vec![cpus[place % cpus.len()]]);
            Ok(Sessions { ends: [passive, active.map_err(told)?], cpus })
        })
    }

    /// It with threads that run where the scheduler puts them.
    pub fn placed_by_the_scheduler(self) -> Result<Sessions, String> {
        let cpus = linerate_sys::thread::allowed_cpus().map_err(|error| error.to_string())?;
        Ok(Sessions { cpus: [cpus.clone(), cpus], ..self })
    }

    /// Bits a second of a raw stream, to the passive end: of bytes that lie where those of what it is held against do.
    pub fn stream(&mut self, message_bytes: u64, messages: u64, cache: Cache) -> Result<f64, String> {
        let block = Block { cache, ..block(message_bytes, messages) };
        let tasks = self.tasks([Does::Receives, Does::Sends]);
        let [passive, active] =
            self.both(|end, session| session.trial(&tasks[end..=end], Wait::Sleeping, &[block]))?;
        drop(active);
        let received: Measured =
            passive.into_iter().flatten().flatten().next().ok_or("nothing was measured")?;
        let bits = 8.0 * (message_bytes * block.messages * u64::from(SLICES - 1)) as f64;
        Ok(1e9 * bits / counted_ns(&received.flow.slices_ns) as f64)
    }

    /// What both ends measured of a block of an application.
    pub fn play(
        &mut self,
        does: [Does; 2],
        settings: &[&str],
        graph: Option<&Graph>,
        block: Block,
    ) -> Result<[Measured; 2], String> {
        let settings: Result<Vec<Setting>, _> = settings.iter().map(|set| set.parse()).collect();
        let settings = settings.map_err(|_| "a setting cannot be read")?;
        let hosts = [HostId(0), HostId(1)];
        let tasks = self.tasks(does);
        let answers = self.both(|end, session| {
            let order = Order {
                settings: settings.clone(),
                hosts: hosts.to_vec(),
                host: hosts[end],
                pairs: vec![(hosts[0], hosts[1])],
                graph: graph.cloned(),
                patience_ms: 20_000,
                ..Order::default()
            };
            let pair_end = PairEnd { session, task: &tasks[end], pair: 0, flows: 1 };
            ends::play(&mut [pair_end], &order, &[block])
        })?;
        let only = |answers: Vec<Vec<Vec<Measured>>>| answers.into_iter().flatten().flatten().next();
        let [passive, active] = answers.map(only);
        passive.zip(active).map(<[Measured; 2]>::from).ok_or_else(|| "nothing was measured".into())
    }

    /// Both ends at once.
    fn both<T: Send>(
        &mut self,
        play: impl Fn(usize, &mut dyn Session) -> linerate::Result<T> + Sync,
    ) -> Result<[T; 2], String> {
        let [passive, active] = &mut self.ends;
        let (here, there) = std::thread::scope(|scope| {
            let there = scope.spawn(|| play(1, active.as_mut()));
            (play(0, passive.as_mut()), there.join())
        });
        let there = there.map_err(|_| "an end panicked".to_owned())?;
        let told = |error: linerate::Error| error.to_string();
        Ok([here.map_err(told)?, there.map_err(told)?])
    }

    fn tasks(&self, does: [Does; 2]) -> [Task; 2] {
        let [here, there] = self.cpus.clone();
        [Task { does: does[0], cpus: here }, Task { does: does[1], cpus: there }]
    }
}
