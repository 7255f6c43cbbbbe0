//! A rank: a process that a library's launcher started. It loads the library, calls home, and plays what it is asked.

use super::THREAD_LEVEL;
use super::file::RankFile;
use super::receive::Receive;
use crate::pattern::{Filed, Gathered, Gathering, Passed, Passing, Posted};
use crate::transport::foreign::library::home::{Play, Played};
use crate::transport::foreign::library::rank::{RankProgram, limit, played, serve_home};
use crate::transport::foreign::library::rank_report::{self, REPORT};
use crate::transport::foreign::library::session::NUMBER;
use crate::{Error, Result};
use linerate_sys::library::Library;
use linerate_sys::messages::{Messages, Windows, parts};
use linerate_sys::mpi::{Handle, Mpi, Rank};
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

/// The hidden command that is a rank.
pub const ROLE: &str = "rank";

/// What `MPI_Init` may take before it is said to hang.
const INIT: Duration = Duration::from_secs(20);

/// Plays until the end that it works for goes away. What fails before it has called home is told by the launcher, whose
/// output this process's is.
pub fn main(library: &Path, abi: &str, level: &str, homes: &[String]) -> Result<()> {
    let unknown = |what: &str, name: &str| {
        Error::usage(format!("no {what} is called `{name}`"), "linerate starts this command itself")
    };
    let abi = abi.parse().map_err(|()| unknown("ABI", abi))?;
    let level = level.parse().map_err(|()| unknown("thread level", level))?;
    let library = Library::open(library)?;
    let ready = limit(INIT);
    let mut mpi = Mpi::init(&library, abi, level, homes.len())?;
    mpi.check()?;
    drop(ready);
    let lost = || Error::usage("a rank has no home", "linerate starts this command itself");
    let home = usize::try_from(mpi.rank()).ok().and_then(|rank| homes.get(rank)).ok_or_else(lost)?;
    serve_home(home, mpi)
}

impl RankProgram for Mpi {
    fn play(&mut self, asked: &Play) -> Result<Vec<Played>> {
        match self {
            Mpi::Narrow(rank) => by_receive(rank, asked),
            Mpi::Wide(rank) => by_receive(rank, asked),
        }
    }

    fn answer(&mut self, method: &str, params: &Value) -> Option<Result<Value>> {
        match method {
            NUMBER => Some(Ok(self.rank().into())),
            REPORT => Some(rank_report::answer(params, |name| value_of(self, name))),
            _ => None,
        }
    }

    fn leave(&mut self) {
        self.finalize();
    }
}

/// What the library says of a name: of a variable of its own, or of what it was begun with.
fn value_of(mpi: &Mpi, name: &str) -> Option<String> {
    match name {
        THREAD_LEVEL => mpi.level().map(|level| level.name().to_owned()),
        _ => mpi.control(name),
    }
}

fn by_receive<H: Handle>(rank: &mut Rank<H>, asked: &Play) -> Result<Vec<Played>> {
    rank.receive_from_any(asked.receive == Receive::AnySource);
    if asked.does.is_of_file() {
        return played(Filed::new(RankFile(rank), asked.file.clone()), asked);
    }
    if asked.does.is_collective() {
        return played(Gathered::new(RankMessages::<_, false, false>(rank)), asked);
    }
    match asked.receive {
        Receive::Blocking | Receive::AnySource => {
            played(Passed::new(RankMessages::<_, false, false>(rank)), asked)
        }
        Receive::Posted => played(Posted::new(RankMessages::<_, false, false>(rank)), asked),
        Receive::Unexpected => played(Passed::new(RankMessages::<_, true, false>(rank)), asked),
        Receive::Plain => played(Passed::new(RankMessages::<_, false, true>(rank)), asked),
    }
}

/// A rank as the loops see it. One that probes receives nothing before it is there; a plain one has no request under way
/// when it returns, so that a window is one message after the other.
pub struct RankMessages<'r, H, const PROBES: bool, const PLAIN: bool>(pub &'r mut Rank<H>);

impl<H: Handle, const PROBES: bool, const PLAIN: bool> Messages for RankMessages<'_, H, PROBES, PLAIN> {
    #[inline]
    fn send(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.0.send(bytes)
    }

    #[inline]
    fn receive(&mut self, room: &mut [u8]) -> std::io::Result<usize> {
        if PROBES {
            self.0.wait_for_message()?;
        }
        self.0.receive(room)
    }

    #[inline]
    fn exchange(&mut self, bytes: &[u8], room: &mut [u8]) -> std::io::Result<usize> {
        self.0.exchange(bytes, room)
    }

    #[inline]
    fn exchange_at_work(
        &mut self,
        bytes: &[u8],
        room: &mut [u8],
        work: impl FnMut(),
    ) -> std::io::Result<usize> {
        self.0.exchange_at_work(bytes, room, work)
    }
}

impl<H: Handle, const PROBES: bool, const PLAIN: bool> Windows for RankMessages<'_, H, PROBES, PLAIN> {
    #[inline]
    fn send_window(&mut self, region: &[u8], len: usize, messages: usize) -> std::io::Result<()> {
        if !PLAIN {
            return self.0.send_window(region, len, messages);
        }
        parts(region, len, messages).try_for_each(|bytes| self.0.send(bytes))
    }

    #[inline]
    fn receive_window(&mut self, rooms: &mut [u8], len: usize, messages: usize) -> std::io::Result<usize> {
        if !PROBES && !PLAIN {
            return self.0.receive_window(rooms, len, messages);
        }
        let mut rooms = rooms.chunks_exact_mut(len.max(1)).take(messages);
        rooms.try_fold(0, |came, room| Ok(came + self.receive(room)?))
    }
}

impl<H: Handle, const PROBES: bool, const PLAIN: bool> Passing for RankMessages<'_, H, PROBES, PLAIN> {
    /// Of two each waits for the other anyway.
    fn gather(&mut self) -> std::io::Result<()> {
        if self.0.ranks() > 2 { self.0.barrier() } else { Ok(()) }
    }
}

impl<H: Handle, const PROBES: bool, const PLAIN: bool> Gathering for RankMessages<'_, H, PROBES, PLAIN> {
    fn ranks(&self) -> usize {
        self.0.ranks()
    }

    fn number(&self) -> usize {
        self.0.rank()
    }

    fn check(&mut self) -> std::io::Result<()> {
        self.0.check_collectives()
    }

    #[inline]
    fn broadcast(&mut self, bytes: &mut [u8], root: usize) -> std::io::Result<()> {
        self.0.broadcast(bytes, root)
    }

    #[inline]
    fn reduce(&mut self, bytes: &[u8], room: &mut [u8], root: usize) -> std::io::Result<()> {
        self.0.reduce(bytes, room, root)
    }

    #[inline]
    fn all_reduce(&mut self, bytes: &[u8], room: &mut [u8]) -> std::io::Result<()> {
        self.0.all_reduce(bytes, room)
    }

    #[inline]
    fn all_to_all(&mut self, bytes: &[u8], room: &mut [u8]) -> std::io::Result<()> {
        self.0.all_to_all(bytes, room)
    }

    #[inline]
    fn barrier(&mut self) -> std::io::Result<()> {
        self.0.barrier()
    }
}
