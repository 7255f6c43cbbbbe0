//! What both sides of a race do, how it is clocked, and what comes of it.

use linerate::vocabulary::{Content, Wait};

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// TCP one way, one plain call a message.
    Stream,
    /// TCP one way, by the best engine that each side has.
    BestStream,
    /// UDP one way as fast as it goes, one plain call a datagram.
    Datagrams,
    /// UDP one way as fast as it goes, by the best engine that each side has.
    BestDatagrams,
    /// One message there and back, then the next one, over one TCP connection.
    RoundTrip,
    /// The same over several connections at once.
    Requests,
    /// A TCP connection for each request.
    Connections,
    /// A copy of memory that is far larger than the caches, by ordinary stores.
    MemoryCopy,
    /// The same by the best that each side has.
    BestMemoryCopy,
    /// The triad of STREAM.
    MemoryTriad,
}

/// The work of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Work {
    /// What is done.
    pub kind: Kind,
    /// The size of a message.
    pub bytes: u64,
    /// Connections at once.
    pub flows: u32,
    /// How the ends wait.
    pub wait: Wait,
    /// What is sent.
    pub content: Content,
    /// The CPU of who sends or asks, and of who receives or answers.
    pub cpus: [u32; 2],
    /// How long it is timed.
    pub seconds: u32,
}

/// How a peer times its work: ours is timed in the same way against it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Clocked {
    /// How long it works before it begins to count.
    pub warm_up_s: f64,
    /// Trials of which it reports the best one; 1 where it reports the mean of all its time.
    pub trials: u32,
    /// How long each trial is; none where the row says it.
    pub trial_s: Option<f64>,
}

impl Clocked {
    /// Counts from the first byte on.
    pub const WHOLE: Clocked = Clocked { warm_up_s: 0.0, trials: 1, trial_s: None };

    /// Leaves out what it did in the first seconds.
    pub const fn after(warm_up_s: f64) -> Clocked {
        Clocked { warm_up_s, ..Clocked::WHOLE }
    }

    /// How long all trials are together.
    pub fn timed_s(&self, work: &Work) -> f64 {
        self.trial_s.map_or(f64::from(work.seconds), |trial| trial * f64::from(self.trials))
    }
}

/// What came of it, as far as it was told.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Outcome {
    /// Bits a second, by the receiver's bytes where they are told.
    pub bps: Option<f64>,
    /// Datagrams that came, round trips, requests or connections, a second.
    pub per_s: Option<f64>,
    /// CPU time of all processes of both ends, of their whole life, for what they carried in it.
    pub cpu_ms_per_gb: Option<f64>,
}

impl Outcome {
    /// With the CPU time of a whole life in which so many bytes were carried; nothing without either.
    pub fn with_cpu(self, cpu_ns: Option<u64>, bytes: f64) -> Outcome {
        let each = cpu_ns.filter(|_| bytes > 0.0).map(|cpu| cpu as f64 / 1e6 / (bytes / 1e9));
        Outcome { cpu_ms_per_gb: each, ..self }
    }
}
