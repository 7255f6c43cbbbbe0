//! The ABIs of MPI: what handles are, and the constants of each.

use crate::Result;
use crate::library::Library;
use std::ffi::{c_int, c_void};
use std::str::FromStr;

/// How an MPI's constants and structures lie in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Abi {
    /// The standard's own (MPI 5.0, section 20).
    Standard,
    /// LAM/MPI 7.
    Lam,
    /// Open MPI 4 and 5.
    OpenMpi,
    /// MPICH 3 and later, and what is built on it.
    Mpich,
}

impl FromStr for Abi {
    type Err = ();

    fn from_str(name: &str) -> std::result::Result<Self, ()> {
        match name {
            "standard" => Ok(Abi::Standard),
            "lam" => Ok(Abi::Lam),
            "openmpi" => Ok(Abi::OpenMpi),
            "mpich" => Ok(Abi::Mpich),
            _ => Err(()),
        }
    }
}

/// Which threads may call, as `MPI_Init_thread` is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThreadLevel {
    /// `MPI_THREAD_SINGLE`, what `MPI_Init` gives.
    Single,
    /// `MPI_THREAD_FUNNELED`: the first one.
    Funneled,
    /// `MPI_THREAD_SERIALIZED`: one after the other.
    Serialized,
    /// `MPI_THREAD_MULTIPLE`: any at any time.
    Multiple,
}

impl ThreadLevel {
    const ALL: [(ThreadLevel, &str); 4] = [
        (ThreadLevel::Single, "single"),
        (ThreadLevel::Funneled, "funneled"),
        (ThreadLevel::Serialized, "serialized"),
        (ThreadLevel::Multiple, "multiple"),
    ];

    /// What it is called.
    pub fn name(self) -> &'static str {
        ThreadLevel::ALL[self as usize].1
    }

    /// The one that an ABI's number stands for.
    pub(super) fn from_number<H>(number: c_int, constants: &Constants<H>) -> Option<ThreadLevel> {
        let at = constants.levels.iter().position(|level| *level == number)?;
        Some(ThreadLevel::ALL[at].0)
    }
}

impl FromStr for ThreadLevel {
    type Err = ();

    fn from_str(name: &str) -> std::result::Result<Self, ()> {
        ThreadLevel::ALL.iter().find(|(_, known)| *known == name).map(|(level, _)| *level).ok_or(())
    }
}

/// What a handle is: an `int`, or a pointer.
pub trait Handle: Copy + Send + 'static {}
impl Handle for c_int {}
impl Handle for usize {}

/// `MPI_Get_count`.
pub(super) type Count<H> = unsafe extern "C" fn(*const c_void, H, *mut c_int) -> c_int;

/// The same of a message of bytes, for a library whose status has the number `AT` so many bytes: a call of the library, with
/// all that it checks, is some per cent of a round trip within a host.
unsafe extern "C" fn count_at<H, const AT: usize>(status: *const c_void, _: H, count: *mut c_int) -> c_int {
    // SAFETY: as for `MPI_Get_count`: a status that the library wrote, and room for a number. What is longer than an `int` has
    // its lower half first.
    unsafe { *count = status.byte_add(AT).cast::<c_int>().read_unaligned() };
    0
}

/// The constants of an ABI.
pub(super) struct Constants<H> {
    pub world: H,
    pub byte: H,
    pub float: H,
    /// `MPI_SUM`.
    pub sum: H,
    pub null_request: H,
    /// `MPI_INFO_NULL`.
    pub no_info: H,
    /// `MPI_MODE_CREATE` with `MPI_MODE_RDWR`.
    pub file_mode: c_int,
    /// `MPI_ANY_SOURCE`.
    pub any_source: c_int,
    /// `MPI_STATUS_IGNORE` and `MPI_STATUSES_IGNORE`.
    pub no_status: usize,
    /// How long a status is, and where it has its source and its tag.
    pub status_bytes: usize,
    pub source_at: usize,
    pub tag_at: usize,
    /// How the number of bytes is read of a status, where mpi.h shows it; no standard says so, so it is tried first.
    pub count: Option<Count<H>>,
    /// Those of [`ThreadLevel`].
    pub levels: [c_int; 4],
    /// `MPI_T_BIND_NO_OBJECT`.
    pub unbound: c_int,
}

impl Constants<c_int> {
    /// mpi.h of MPICH 4.0; the same in MPICH 5 and Intel MPI 2021.
    pub fn mpich() -> Self {
        Constants {
            world: 0x4400_0000,
            byte: 0x4c00_010d,
            float: 0x4c00_040a,
            sum: 0x5800_0003,
            null_request: 0x2c00_0000,
            no_info: 0x1c00_0000,
            file_mode: 1 | 8,
            any_source: -2,
            no_status: 1,
            status_bytes: 20,
            source_at: 8,
            tag_at: 12,
            // `count_lo`.
            count: Some(count_at::<c_int, 0>),
            levels: [0, 1, 2, 3],
            unbound: 9700,
        }
    }
}

impl Constants<usize> {
    /// MPI 5.0, appendix A.
    pub fn standard() -> Self {
        Constants {
            world: 0x101,
            byte: 0x247,
            float: 0x210,
            sum: 0x21,
            null_request: 0x180,
            no_info: 0x130,
            file_mode: 2 | 32,
            any_source: -1,
            no_status: 0,
            status_bytes: 32,
            source_at: 0,
            tag_at: 4,
            count: None,
            levels: [0, 1024, 2048, 4096],
            unbound: 1,
        }
    }

    /// mpi.h of Open MPI 4.1 and 5.0: handles are addresses of its own variables.
    pub fn open_mpi(library: &Library) -> Result<Self> {
        let null_request = library.address("ompi_request_null")?;
        let no_info = library.address("ompi_mpi_info_null")?;
        // `_ucount`.
        let count: Option<Count<usize>> = Some(count_at::<usize, 16>);
        Ok(Constants { null_request, no_info, count, ..Constants::by_address(library, "ompi")? })
    }

    /// mpi.h of LAM/MPI 7.1.4.
    pub fn lam(library: &Library) -> Result<Self> {
        // `st_length`.
        let count: Option<Count<usize>> = Some(count_at::<usize, 12>);
        Ok(Constants { status_bytes: 16, count, ..Constants::by_address(library, "lam")? })
    }

    /// The variables of a maker whose names begin so; a null request is 0.
    fn by_address(library: &Library, maker: &str) -> Result<Self> {
        let address = |name: &str| library.address(&format!("{maker}_mpi_{name}"));
        Ok(Constants {
            world: address("comm_world")?,
            byte: address("byte")?,
            float: address("float")?,
            sum: address("op_sum").or_else(|_| address("sum"))?,
            null_request: 0,
            no_info: 0,
            file_mode: 1 | 8,
            any_source: -1,
            no_status: 0,
            status_bytes: 24,
            source_at: 0,
            tag_at: 4,
            count: None,
            levels: [0, 1, 2, 3],
            unbound: 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_level_is_its_abis_number() {
        for (level, name) in ThreadLevel::ALL {
            assert_eq!((name.parse(), level.name()), (Ok(level), name));
            let standard = Constants::standard();
            assert_eq!(ThreadLevel::from_number(standard.levels[level as usize], &standard), Some(level));
        }
        assert_eq!(ThreadLevel::from_number(2048, &Constants::mpich()), None);
        assert_eq!("some".parse::<ThreadLevel>(), Err(()));
    }
}
