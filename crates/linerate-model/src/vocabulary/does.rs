//! What one end does.

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
}

impl Does {
    /// Whether this end's clock and bytes are the result (method: the receiver's; a round trip is the pinger's).
    pub fn keeps_time(self) -> bool {
        use Does::{Accepts, Echoes, Offers, Sends};
        !matches!(self, Accepts | Echoes | Offers | Sends)
    }

    /// Whether it is what all ranks do together.
    pub fn is_collective(self) -> bool {
        use Does::{Broadcasts, ExchangesAll, Meets, Reduces, ReducesAll};
        matches!(self, Broadcasts | Reduces | ReducesAll | ExchangesAll | Meets)
    }

    /// Whether its time begins with its own message.
    pub fn begins(self) -> bool {
        use Does::{Connects, Exchanges, Overlaps, Pings, Requests};
        matches!(self, Pings | Exchanges | Overlaps | Requests | Connects) || self.is_collective()
    }

    /// Whether it makes or takes connections of its own, beside those of the session.
    pub fn calls(self) -> bool {
        matches!(self, Does::Connects | Does::Accepts)
    }

    /// Whether its slices are samples of one distribution, of which a histogram is kept.
    pub fn samples(self) -> bool {
        matches!(self, Does::Pings | Does::Exchanges | Does::Overlaps) || self.is_collective()
    }

    /// One word.
    pub fn word(self) -> &'static str {
        match self {
            Does::Pings => "pings",
            Does::Echoes => "echoes",
            Does::Sends => "sends",
            Does::Receives => "receives",
            Does::Copies => "copies",
            Does::Exchanges => "exchanges",
            Does::Overlaps => "overlaps",
            Does::Requests => "requests",
            Does::Connects => "connects",
            Does::Accepts => "accepts",
            Does::Offers => "offers",
            Does::FindsCapacity => "finds capacity",
            Does::FindsZeroLoss => "finds zero loss",
            Does::Broadcasts => "broadcasts",
            Does::Reduces => "reduces",
            Does::ReducesAll => "reduces for all",
            Does::ExchangesAll => "exchanges with all",
            Does::Meets => "meets all",
        }
    }
}
