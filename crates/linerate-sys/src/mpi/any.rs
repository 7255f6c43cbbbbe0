//! A rank whose handles are what its library's ABI has.

use super::abi::{Abi, Constants, ThreadLevel};
use super::{Rank, clear_stack};
use crate::library::Library;
use crate::{Error, Result};
use std::ffi::c_int;

/// A rank of whichever ABI.
pub enum Mpi {
    /// Handles of an `int`.
    Narrow(Box<Rank<c_int>>),
    /// Handles of a pointer.
    Wide(Box<Rank<usize>>),
}

impl Mpi {
    /// `MPI_Init_thread`; there must be so many ranks. Which threads may call from now on is the level's.
    pub fn init(library: &Library, abi: Abi, level: ThreadLevel, ranks: usize) -> Result<Mpi> {
        let wide = |constants| Ok(Mpi::Wide(Box::new(Rank::init(library, constants, level, ranks)?)));
        match abi {
            Abi::Mpich => Ok(Mpi::Narrow(Box::new(Rank::init(library, Constants::mpich(), level, ranks)?))),
            Abi::Standard => wide(Constants::standard()),
            Abi::OpenMpi => wide(Constants::open_mpi(library)?),
            Abi::Lam => wide(Constants::lam(library)?),
        }
    }

    /// Its number.
    pub fn rank(&self) -> i32 {
        match self {
            Mpi::Narrow(rank) => rank.rank,
            Mpi::Wide(rank) => rank.rank,
        }
    }

    /// Which threads may call, as the library told it; none where it told what is none of them.
    pub fn level(&self) -> Option<ThreadLevel> {
        match self {
            Mpi::Narrow(rank) => rank.level,
            Mpi::Wide(rank) => rank.level,
        }
    }

    /// The value of a control variable; none where the library has no such variable, or none that is a number or a text.
    pub fn control(&self, name: &str) -> Option<String> {
        match self {
            Mpi::Narrow(rank) => rank.control(name),
            Mpi::Wide(rank) => rank.control(name),
        }
    }

    /// Sends a message that shows whether the constants are the library's own; both ranks call it.
    pub fn check(&mut self) -> Result<()> {
        let checked = match self {
            Mpi::Narrow(rank) => rank.check(),
            Mpi::Wide(rank) => rank.check(),
        };
        checked.map_err(|source| Error::new("MPI_Recv", "a first message", source))
    }

    /// `MPI_Finalize`, from the thread that called [`init`](Mpi::init).
    pub fn finalize(&mut self) {
        let finalize = match self {
            Mpi::Narrow(rank) => rank.calls.finalize,
            Mpi::Wide(rank) => rank.calls.finalize,
        };
        clear_stack();
        // SAFETY: the standard gives it this type. Nothing of MPI is called after it: the process ends.
        unsafe { finalize() };
    }
}
