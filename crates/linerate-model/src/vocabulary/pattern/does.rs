//! What each end of a session does during a trial, and what follows from it.

use super::PATTERNS;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What one end of a session does during a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Does {
    /// Sends a message, waits for its return, and keeps the time.
    Pings,
    /// Returns each message.
    Echoes,
    /// Sends without pause.
    Sends,
    /// Receives and keeps the time.
    Receives,
    /// Works alone on memory and keeps the time.
    Copies,
    /// Sends a message while it receives the other end's, and keeps the time.
    Exchanges,
    /// Sends a message while it receives the other end's, alone and while it works, and keeps the times.
    Overlaps,
    /// Sends requests at set moments, receives their answers meanwhile, and keeps the time.
    Requests,
    /// Makes a connection for each request, and keeps the time.
    Connects,
    /// Takes each connection, answers its request and closes it.
    Accepts,
    /// Sends at whatever rate the other end orders.
    Offers,
    /// Orders rates, receives, and finds the largest one that the path takes.
    FindsCapacity,
    /// Orders rates, receives, and finds the largest one of which nothing is lost.
    FindsZeroLoss,
    /// Sends to all as the root, receives else, and keeps the time.
    Broadcasts,
    /// Adds up with all others for the root, and keeps the time.
    Reduces,
    /// Adds up with all others for all, and keeps the time.
    ReducesAll,
    /// Sends to each and receives from each, and keeps the time.
    ExchangesAll,
    /// Waits for all others, and keeps the time.
    Meets,
    /// Sends a message, waits for a word that it came, and keeps the time.
    Delivers,
    /// Receives each message and says that it came.
    Acknowledges,
    /// Asks for a node's state by a new connection each round, and keeps the time.
    Collects,
    /// Tells its state to whoever asks.
    Reports,
    /// Runs stages of a pipeline, and keeps the time.
    Stages,
    /// Has stripes of a file, and gives them.
    Serves,
    /// Reads regions of a file that lies in stripes, and keeps the time.
    Fetches,
    /// Writes them, and keeps the time.
    Stores,
    /// Has stripes of a file, and takes them.
    Keeps,
    /// Moves a file to another host, and keeps the time until it is on the disk there.
    Moves,
    /// Takes a file, has it on the disk, and compares it.
    Takes,
    /// Reads a tile of a frame that lies in stripes, and keeps the time.
    FetchesTile,
    /// Writes it, and keeps the time.
    StoresTile,
    /// Reads its part of a file with all other ranks, and keeps the time.
    ReadsFile,
    /// Writes it, and keeps the time.
    WritesFile,
}

/// What is known of what an end does.
struct Facts {
    word: &'static str,
    keeps_time: bool,
    begins: bool,
    is_sampled: bool,
    awaits_each: bool,
    calls: bool,
    /// Whether it works on a file that all ranks have open.
    is_of_file: bool,
    /// Whether it reads or writes its part of a file that several hosts have.
    is_client: bool,
    /// Whether the bytes that it counts came to it.
    receives: bool,
}

/// An end that drives, without a sample of each message.
const TIMED: Facts = Facts {
    word: "",
    keeps_time: true,
    begins: false,
    is_sampled: false,
    awaits_each: false,
    calls: false,
    is_of_file: false,
    is_client: false,
    receives: true,
};

/// An end that has its part of a file.
const CLIENT: Facts = Facts { is_client: true, ..TIMED };

/// An end whose messages are each waited for.
const EACH: Facts = Facts { begins: true, is_sampled: true, ..TIMED };

/// An end that serves one which keeps the time.
const SERVES: Facts = Facts { keeps_time: false, ..TIMED };

impl Does {
    const fn facts(self) -> Facts {
        match self {
            Does::Pings => Facts { word: "pings", awaits_each: true, ..EACH },
            Does::Echoes => Facts { word: "echoes", awaits_each: true, ..SERVES },
            Does::Sends => Facts { word: "sends", receives: false, ..SERVES },
            Does::Receives => Facts { word: "receives", ..TIMED },
            Does::Copies => Facts { word: "copies", ..TIMED },
            Does::Exchanges => Facts { word: "exchanges", ..EACH },
            Does::Overlaps => Facts { word: "overlaps", ..EACH },
            Does::Requests => Facts { word: "requests", begins: true, ..TIMED },
            Does::Connects => Facts { word: "connects", begins: true, calls: true, ..TIMED },
            Does::Accepts => Facts { word: "accepts", calls: true, ..SERVES },
            Does::Offers => Facts { word: "offers", receives: false, ..SERVES },
            Does::FindsCapacity => Facts { word: "finds capacity", ..TIMED },
            Does::FindsZeroLoss => Facts { word: "finds zero loss", ..TIMED },
            Does::Broadcasts => Facts { word: "broadcasts", ..EACH },
            Does::Reduces => Facts { word: "reduces", ..EACH },
            Does::ReducesAll => Facts { word: "reduces for all", ..EACH },
            Does::ExchangesAll => Facts { word: "exchanges with all", ..EACH },
            Does::Meets => Facts { word: "meets all", ..EACH },
            Does::Delivers => Facts { word: "delivers", awaits_each: true, receives: false, ..EACH },
            Does::Acknowledges => Facts { word: "acknowledges", awaits_each: true, ..SERVES },
            Does::Collects => Facts { word: "collects", ..EACH },
            Does::Reports => Facts { word: "reports", receives: false, ..SERVES },
            Does::Stages => Facts { word: "stages", ..EACH },
            Does::Serves => Facts { word: "serves", receives: false, ..SERVES },
            Does::Fetches => Facts { word: "fetches", ..CLIENT },
            Does::Stores => Facts { word: "stores", receives: false, begins: true, ..CLIENT },
            Does::Keeps => Facts { word: "keeps", ..SERVES },
            Does::Moves => Facts { word: "moves", receives: false, begins: true, ..TIMED },
            Does::Takes => Facts { word: "takes", ..SERVES },
            Does::FetchesTile => Facts { word: "fetches a tile", ..CLIENT },
            Does::ReadsFile => Facts { word: "reads a file", is_of_file: true, ..CLIENT },
            Does::WritesFile => {
                Facts { word: "writes a file", is_of_file: true, receives: false, begins: true, ..CLIENT }
            }
            Does::StoresTile => Facts { word: "stores a tile", receives: false, begins: true, ..CLIENT },
        }
    }

    /// Whether this end's clock and bytes are the result (method: the receiver's; a round trip is the pinger's).
    pub fn keeps_time(self) -> bool {
        self.facts().keeps_time
    }

    /// Whether it is a file that all ranks have open that it works on.
    pub fn is_of_file(self) -> bool {
        self.facts().is_of_file
    }

    /// Whether it is what all ranks do together.
    pub fn is_collective(self) -> bool {
        PATTERNS.iter().any(|pattern| pattern.collective.is_some() && pattern.ends[0].contains(&self))
    }

    /// Whether it is an application's end, which is played with all of its host's.
    pub fn is_of_application(self) -> bool {
        PATTERNS.iter().any(|entry| entry.application && entry.ends.iter().any(|end| end.contains(&self)))
    }

    /// Whether its time begins with its own message.
    pub fn begins(self) -> bool {
        self.facts().begins
    }

    /// Whether it makes or takes connections of its own, beside those of the session.
    pub fn calls(self) -> bool {
        self.facts().calls
    }

    /// Whether its slices are samples of one distribution, of which a histogram is kept.
    pub fn samples(self) -> bool {
        self.facts().is_sampled
    }

    /// Whether it reads or writes its part of a file that several hosts have.
    pub fn is_client(self) -> bool {
        self.facts().is_client
    }

    /// Whether the bytes that it counts came to it, and not only left it.
    pub fn receives(self) -> bool {
        self.facts().receives
    }

    /// Whether it sends nothing before what it waits for has come: two of its messages cannot share a packet.
    pub fn awaits_each(self) -> bool {
        self.facts().awaits_each
    }

    /// One word.
    pub fn word(self) -> &'static str {
        self.facts().word
    }
}
