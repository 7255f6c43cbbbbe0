//! What a trial's messages are made of, how its ends wait, and what is timed besides.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What the samples of a histogram are, besides round trips.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sample {
    /// From the moment at which a request should have gone until its answer was back.
    FromIntended,
    /// From the moment at which it went until then.
    FromSend,
    /// From the moment at which a message should have gone until it went.
    SentLate,
    /// From the making of a socket until its connection stood.
    SetUp,
    /// From the making of a socket until the last byte of the answer was there.
    Transaction,
    /// A datagram's delay above the least one of its block.
    DelayVariation,
    /// How far the delays of two datagrams that were sent one after the other differ.
    PacketToPacket,
    /// Until both ends have sent a message and received the other's, while neither did anything else.
    ExchangeAlone,
    /// Until a piece of work was done while no message was under way.
    WorkAlone,
    /// Until the same work was done and both messages were there, begun before it.
    ExchangeAtWork,
}

/// How an end waits for the next message.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Wait {
    /// Asks again and again, never leaving its CPU.
    Polling,
    /// Sleeps in the kernel; the CPU is kept awake by a spinner of idle priority.
    #[default]
    Sleeping,
}

/// Where the bytes of a message lie before it is sent.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Cache {
    /// One buffer, used again and again: in the nearest cache that holds it.
    #[default]
    Hot,
    /// The next part of a region larger than the caches: in memory.
    Cold,
}

/// What a sender's messages consist of.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Content {
    /// Bytes that no compressor can shrink, written before.
    #[default]
    Random,
    /// The kernel's page of zeros, again and again: memory that was never written.
    Zeros,
}

impl Content {
    /// Whether nothing else was asked for.
    pub fn is_usual(&self) -> bool {
        *self == Content::Random
    }
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Wait::Polling => "polling",
            Wait::Sleeping => "sleeping",
        })
    }
}
