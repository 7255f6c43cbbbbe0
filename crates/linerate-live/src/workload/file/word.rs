//! What the ends of a moved file say to each other: JSON, each with its length before it.

use super::nonsense;
use crate::pattern::{Driven, Link, push_all};
use crate::plan::HostId;
use crate::workload::application::{PairEnd, broken};
use crate::workload::tool::{Site, play::longest};
use crate::workload::transfer::{Answered, Request};
use crate::{Error, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io;
use std::time::{Duration, Instant};

/// The longest word: an answer of the engine has the counters of each stream.
const LONGEST: usize = 1 << 20;

/// What is asked of the end that takes.
#[derive(Debug, Serialize, Deserialize)]
pub enum Ask {
    /// Something of this program's engine.
    Own(Box<Request>),
    /// Expect a file by another program.
    Expect(Expect),
    /// Fetch it: the other end serves.
    Fetch(Box<Site>),
    /// Have it on the disk, and compare it.
    Compare,
    /// Nothing more comes.
    Over,
}

/// A file that another program moves.
#[derive(Debug, Serialize, Deserialize)]
pub struct Expect {
    /// The program.
    pub tool: String,
    /// Whether it has its best flags.
    pub is_best: bool,
    /// Its streams.
    pub streams: u32,
    /// Where the file is.
    pub source: String,
    /// Its bytes.
    pub bytes: u64,
    /// Its digest.
    pub digest: String,
}

/// What is answered.
#[derive(Debug, Serialize, Deserialize)]
pub enum Told {
    /// An answer of the engine.
    Own(Box<Answered>),
    /// Where it is expected.
    Expected(Box<Site>),
    /// It is done, and took so long.
    Done { took_ns: u64 },
    /// It failed.
    Failed { what: String, hint: Option<String> },
}

/// The connection by which they do.
pub struct Wire<'s> {
    link: Driven<'s>,
    host: HostId,
    patience: Duration,
}

impl<'s> Wire<'s> {
    /// The first connection of a session with a host.
    pub fn new(pair_end: &'s mut PairEnd<'_>, host: HostId) -> Result<Wire<'s>> {
        let none = || Error::usage("a session without a connection", "");
        let mut parts = pair_end.session.streams(pair_end.task)?;
        if parts.is_empty() {
            return Err(none());
        }
        Ok(Wire { link: parts.swap_remove(0).link, host, patience: longest(0) })
    }

    /// From now on something of so many bytes may be waited for.
    pub fn wait_for(&mut self, bytes: u64) {
        self.patience = longest(bytes);
    }

    /// Says a word.
    pub fn say(&mut self, word: &impl Serialize) -> Result<()> {
        let text = serde_json::to_vec(word).map_err(|e| Error::usage(format!("unprintable: {e}"), ""))?;
        let length = u32::try_from(text.len()).ok().filter(|length| *length as usize <= LONGEST);
        let length = length.ok_or_else(|| Error::usage("a word too long for the other end", ""))?;
        let all = [&length.to_be_bytes()[..], &text].concat();
        let said = push_all(&mut self.link, &all);
        said.map(drop).map_err(|error| self.failed(&error))
    }

    /// Hears one.
    pub fn hear<T: DeserializeOwned>(&mut self) -> Result<T> {
        let mut length = [0; 4];
        self.fill(&mut length)?;
        let length = u32::from_be_bytes(length) as usize;
        if length > LONGEST {
            return Err(nonsense(self.host, "says more than a word has"));
        }
        let mut text = vec![0; length];
        self.fill(&mut text)?;
        serde_json::from_slice(&text).map_err(|error| nonsense(self.host, &format!("says nonsense: {error}")))
    }

    /// Asks, and hears what came of it.
    pub fn ask(&mut self, ask: &Ask) -> Result<Told> {
        self.say(ask)?;
        match self.hear()? {
            Told::Failed { what, hint } => {
                Err(Error::peer(format!("host {}", self.host), what, hint.unwrap_or_default()))
            }
            told => Ok(told),
        }
    }

    /// Another answer than there is to what was asked.
    pub fn out_of_turn(&self) -> Error {
        nonsense(self.host, "gives another answer than was asked for")
    }

    /// A program may take longer than a connection waits.
    fn fill(&mut self, room: &mut [u8]) -> Result<()> {
        let (begun, mut filled) = (Instant::now(), 0);
        while filled < room.len() {
            match self.link.pull(&mut room[filled..]) {
                Ok(came) => filled += came,
                Err(error)
                    if [io::ErrorKind::TimedOut, io::ErrorKind::WouldBlock].contains(&error.kind())
                        && begun.elapsed() < self.patience => {}
                Err(error) => return Err(self.failed(&error)),
            }
        }
        Ok(())
    }

    fn failed(&self, error: &io::Error) -> Error {
        broken("the other end of a file", self.host, error)
    }
}
