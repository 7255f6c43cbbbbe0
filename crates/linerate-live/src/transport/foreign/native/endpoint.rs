//! A rank: a process that an end started. It loads the library, tells where it is found, meets the other one, and plays.

use crate::pattern::{Passed, Passing};
use crate::transport::foreign::library::home::{Play, Played};
use crate::transport::foreign::library::rank::{RankProgram, played, serve_home};
use crate::vocabulary::Wait;
use crate::{Error, Result};
use linerate_sys::library::Library;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::net::Ipv4Addr;
use std::path::PathBuf;

/// The hidden command that is a rank.
pub const ROLE: &str = "endpoint";

/// What a rank is to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankRequest {
    /// The library's name.
    pub name: String,
    /// Its file.
    pub file: PathBuf,
    /// Where it calls.
    pub home: String,
    /// Its own address towards another host; none where both ranks are on one.
    pub at: Option<Ipv4Addr>,
}

impl RankRequest {
    /// For the command line.
    pub fn to_word(&self) -> Result<String> {
        serde_json::to_string(self).map_err(|e| Error::usage(e.to_string(), ""))
    }
}

/// What a rank is told to meet the other one.
#[derive(Debug, Serialize, Deserialize)]
pub struct Connect {
    /// Where that is found, as its library has it.
    pub address: Vec<u8>,
    /// Whether this one sends first.
    pub first: bool,
}

/// What a rank found when it met the other one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// What carries the messages, in the library's words.
    pub way: String,
    /// Knobs as they were read back.
    pub granted: Vec<(String, String)>,
}

/// What a library makes of a rank.
pub trait Endpoint: Passing + Send + Sized + 'static {
    /// Begins.
    fn open(library: &Library, asked: &RankRequest) -> Result<Self>;
    /// Where it is found.
    fn address(&mut self) -> Result<Vec<u8>>;
    /// Finds the other one, and exchanges first messages with it.
    fn meet(&mut self, connect: &Connect) -> Result<About>;
    /// Takes leave.
    fn leave(&mut self);
}

/// Plays until the end that it works for goes away.
pub fn main(word: &str) -> Result<()> {
    let wrong = |e| Error::usage(format!("no rank: {e}"), "linerate starts this command itself");
    super::serve(serde_json::from_str(word).map_err(wrong)?)
}

/// The same, by one library.
pub fn serve<E: Endpoint>(asked: RankRequest) -> Result<()> {
    let home = asked.home.clone();
    serve_home(&home, One::<E> { asked, endpoint: None })
}

/// One that has called home.
struct One<E> {
    asked: RankRequest,
    /// None before it has begun.
    endpoint: Option<E>,
}

impl<E: Endpoint> One<E> {
    fn begun(&mut self) -> Result<&mut E> {
        let not_yet = || Error::usage("the rank has not begun", "linerate asks it by itself");
        self.endpoint.as_mut().ok_or_else(not_yet)
    }

    fn address(&mut self) -> Result<Value> {
        let library = Library::open(&self.asked.file)?;
        let address = self.endpoint.insert(E::open(&library, &self.asked)?).address()?;
        to_json(&address)
    }

    /// What a rank sent last may be under way while nobody asks for more: it goes on until the other one has all of it.
    fn settle(&mut self) -> Result<()> {
        let settled = self.begun()?.exchange(&[0], &mut [0]);
        settled.map(drop).map_err(|e| Error::io("exchange", "a last message", e))
    }

    fn connect(&mut self, params: &Value) -> Result<Value> {
        let wrong = |e| Error::usage(format!("no address: {e}"), "linerate asks it by itself");
        let connect = Connect::deserialize(params).map_err(wrong)?;
        to_json(&self.begun()?.meet(&connect)?)
    }
}

fn to_json(value: &impl Serialize) -> Result<Value> {
    serde_json::to_value(value).map_err(|e| Error::usage(e.to_string(), ""))
}

impl<E: Endpoint> RankProgram for One<E> {
    fn play(&mut self, asked: &Play) -> Result<Vec<Played>> {
        if asked.wait != Wait::Polling {
            return Err(Error::unavailable("a rank that sleeps", "wait = \"polling\""));
        }
        let measured = played(Passed::new(self.begun()?), asked)?;
        self.settle()?;
        Ok(measured)
    }

    fn answer(&mut self, method: &str, params: &Value) -> Option<Result<Value>> {
        match method {
            "address" => Some(self.address()),
            "connect" => Some(self.connect(params)),
            _ => None,
        }
    }

    fn leave(&mut self) {
        self.endpoint.iter_mut().for_each(E::leave);
    }
}
