//! A rank: a process that a library's launcher started. It loads the library, calls home, and plays what it is asked.

use super::receive::Receive;
use crate::pattern::{Passed, Passing, Posted};
use crate::transport::library::home::{Play, Played};
use crate::transport::library::rank::{Plays, limit, played, serve_home};
use crate::{Error, Result};
use linerate_sys::library::Library;
use linerate_sys::mpi::{Handle, Mpi, Rank};
use std::path::Path;
use std::time::Duration;

/// What `MPI_Init` may take before it is said to hang.
const INIT: Duration = Duration::from_secs(20);

/// Plays until the end that it works for goes away. What fails before it has called home is told by the launcher, whose
/// output this process's is.
pub fn main(library: &Path, abi: &str, homes: &[String]) -> Result<()> {
    let unknown =
        |()| Error::usage(format!("no ABI is called `{abi}`"), "linerate starts this command itself");
    let abi = abi.parse().map_err(unknown)?;
    let library = Library::open(library)?;
    let ready = limit(INIT);
    let mut mpi = Mpi::init(&library, abi)?;
    mpi.check()?;
    drop(ready);
    let lost = || Error::usage("a rank has no home", "linerate starts this command itself");
    let home = usize::try_from(mpi.rank()).ok().and_then(|rank| homes.get(rank)).ok_or_else(lost)?;
    serve_home(home, mpi)
}

impl Plays for Mpi {
    fn play(&mut self, asked: &Play) -> Result<Vec<Played>> {
        match self {
            Mpi::Narrow(rank) => by_receive(rank, asked),
            Mpi::Wide(rank) => by_receive(rank, asked),
        }
    }

    fn leave(&mut self) {
        self.finalize();
    }
}

fn by_receive<H: Handle>(rank: &mut Rank<H>, asked: &Play) -> Result<Vec<Played>> {
    rank.receive_from_any(asked.receive == Receive::AnySource);
    match asked.receive {
        Receive::Blocking | Receive::AnySource => played(Passed::new(Own::<_, false>(rank)), asked),
        Receive::Posted => played(Posted::new(Own::<_, false>(rank)), asked),
        Receive::Unexpected => played(Passed::new(Own::<_, true>(rank)), asked),
    }
}

/// A rank as the loops see it; one that probes receives nothing before it is there.
pub struct Own<'r, H, const PROBES: bool>(pub &'r mut Rank<H>);

impl<H: Handle, const PROBES: bool> Passing for Own<'_, H, PROBES> {
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
    fn send_window(&mut self, bytes: &[u8], messages: usize) -> std::io::Result<()> {
        self.0.send_window(bytes, messages)
    }

    #[inline]
    fn receive_window(&mut self, rooms: &mut [u8], len: usize, messages: usize) -> std::io::Result<usize> {
        if !PROBES {
            return self.0.receive_window(rooms, len, messages);
        }
        let mut rooms = rooms.chunks_exact_mut(len.max(1)).take(messages);
        rooms.try_fold(0, |came, room| Ok(came + self.receive(room)?))
    }
}
