//! A node: a process that the launcher started. It plays what it is asked.

use crate::pattern::{Passed, Passing};
use crate::transport::foreign::library::home::{Play, Played};
use crate::transport::foreign::library::rank::{RankProgram, limit, played, serve_home};
use crate::{Error, Result};
use linerate_sys::library::Library;
use linerate_sys::messages::{Messages, Windows};
use linerate_sys::tcgmsg::Node;
use std::io;
use std::path::Path;
use std::time::Duration;

/// The hidden command that is one.
pub const ROLE: &str = "node";

/// What its beginning may take before it is said to hang.
const BEGIN: Duration = Duration::from_secs(20);

/// Plays until the end that it works for goes away. What fails before it has called home is told by the launcher, whose
/// output this process's is.
pub fn main(asked: &[String]) -> Result<()> {
    let lost = || Error::usage("a node is told too little", "linerate starts this command itself");
    let (library, homes) = asked.split_first().ok_or_else(lost)?;
    let library = Library::open(Path::new(library))?;
    let ready = limit(BEGIN);
    let mut node = Node::begin(&library)?;
    node.check()?;
    drop(ready);
    let home = homes.get(node.number()).ok_or_else(lost)?;
    serve_home(home, One(node))
}

/// One that has begun.
struct One(Node);

impl RankProgram for One {
    fn play(&mut self, asked: &Play) -> Result<Vec<Played>> {
        played(Passed::new(NodeMessages(&mut self.0)), asked)
    }

    fn leave(&mut self) {
        self.0.leave();
    }
}

/// A node as the loops see it. It posts no receives: a window's messages are received one by one.
struct NodeMessages<'n>(&'n mut Node);

impl Messages for NodeMessages<'_> {
    #[inline]
    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.send(bytes)
    }

    #[inline]
    fn receive(&mut self, room: &mut [u8]) -> io::Result<usize> {
        self.0.receive(room)
    }

    #[inline]
    fn exchange(&mut self, bytes: &[u8], room: &mut [u8]) -> io::Result<usize> {
        self.0.exchange(bytes, room)
    }

    #[inline]
    fn exchange_at_work(&mut self, bytes: &[u8], room: &mut [u8], work: impl FnMut()) -> io::Result<usize> {
        self.0.exchange_at_work(bytes, room, work)
    }
}

impl Windows for NodeMessages<'_> {
    #[inline]
    fn send_window(&mut self, region: &[u8], len: usize, messages: usize) -> io::Result<()> {
        self.0.send_window(region, len, messages)
    }

    #[inline]
    fn receive_window(&mut self, rooms: &mut [u8], len: usize, messages: usize) -> io::Result<usize> {
        let mut rooms = rooms.chunks_exact_mut(len.max(1)).take(messages);
        rooms.try_fold(0, |came, room| Ok(came + self.0.receive(room)?))
    }
}

impl Passing for NodeMessages<'_> {}
