//! Operations of all ranks together, over `MPI_COMM_WORLD`; reductions add floats.

use super::{Handle, Rank, checked, count};
use crate::Result;
use crate::library::Library;
use std::ffi::{c_int, c_void};
use std::io;

/// What a reduction adds: `MPI_FLOAT`.
pub const ELEMENT_BYTES: usize = size_of::<f32>();

type Broadcast<H> = unsafe extern "C" fn(*mut c_void, c_int, H, c_int, H) -> c_int;
type Reduce<H> = unsafe extern "C" fn(*const c_void, *mut c_void, c_int, H, H, c_int, H) -> c_int;
type AllReduce<H> = unsafe extern "C" fn(*const c_void, *mut c_void, c_int, H, H, H) -> c_int;
type AllToAll<H> = unsafe extern "C" fn(*const c_void, c_int, H, *mut c_void, c_int, H, H) -> c_int;
type Barrier<H> = unsafe extern "C" fn(H) -> c_int;

/// The library's own.
pub(super) struct Collectives<H> {
    broadcast: Broadcast<H>,
    reduce: Reduce<H>,
    all_reduce: AllReduce<H>,
    all_to_all: AllToAll<H>,
    barrier: Barrier<H>,
}

impl<H: Handle> Collectives<H> {
    pub fn load(library: &Library) -> Result<Self> {
        // SAFETY: the MPI standard gives each symbol this type, with this ABI's handles.
        unsafe {
            Ok(Collectives {
                broadcast: library.function::<Broadcast<H>>("MPI_Bcast")?,
                reduce: library.function::<Reduce<H>>("MPI_Reduce")?,
                all_reduce: library.function::<AllReduce<H>>("MPI_Allreduce")?,
                all_to_all: library.function::<AllToAll<H>>("MPI_Alltoall")?,
                barrier: library.function::<Barrier<H>>("MPI_Barrier")?,
            })
        }
    }
}

impl<H: Handle> Rank<H> {
    /// `MPI_Bcast`: the root's bytes come to all; each has as many.
    #[inline]
    pub fn broadcast(&mut self, bytes: &mut [u8], root: usize) -> io::Result<()> {
        let (count, root) = (count(bytes)?, self.number(root)?);
        let (call, world) = (self.collectives.broadcast, self.constants.world);
        // SAFETY: the buffer is there for the time of the call.
        checked(unsafe { call(bytes.as_mut_ptr().cast(), count, self.constants.byte, root, world) })
    }

    /// `MPI_Reduce`: the sums of all ranks' floats come to the root's room.
    #[inline]
    pub fn reduce(&mut self, floats: &[u8], room: &mut [u8], root: usize) -> io::Result<()> {
        let (elements, root) = (elements(floats, room)?, self.number(root)?);
        let (call, constants) = (self.collectives.reduce, &self.constants);
        let (from, to) = (floats.as_ptr().cast(), room.as_mut_ptr().cast());
        // SAFETY: both buffers are there for the time of the call, and hold so many floats.
        checked(unsafe { call(from, to, elements, constants.float, constants.sum, root, constants.world) })
    }

    /// `MPI_Allreduce`: they come to all.
    #[inline]
    pub fn all_reduce(&mut self, floats: &[u8], room: &mut [u8]) -> io::Result<()> {
        let elements = elements(floats, room)?;
        let (call, constants) = (self.collectives.all_reduce, &self.constants);
        let (from, to) = (floats.as_ptr().cast(), room.as_mut_ptr().cast());
        // SAFETY: as with `reduce`.
        checked(unsafe { call(from, to, elements, constants.float, constants.sum, constants.world) })
    }

    /// `MPI_Alltoall`: a part of the bytes for each rank, a part of the room from each.
    #[inline]
    pub fn all_to_all(&mut self, bytes: &[u8], room: &mut [u8]) -> io::Result<()> {
        if bytes.len() != room.len() || !bytes.len().is_multiple_of(self.ranks) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let part = count(&bytes[..bytes.len() / self.ranks])?;
        let (call, byte, world) = (self.collectives.all_to_all, self.constants.byte, self.constants.world);
        let (from, to) = (bytes.as_ptr().cast(), room.as_mut_ptr().cast());
        // SAFETY: both buffers are there for the time of the call, and hold a part for each rank.
        checked(unsafe { call(from, part, byte, to, part, byte, world) })
    }

    /// `MPI_Barrier`: nobody goes on before all are there.
    #[inline]
    pub fn barrier(&mut self) -> io::Result<()> {
        // SAFETY: it takes nothing else.
        checked(unsafe { (self.collectives.barrier)(self.constants.world) })
    }

    /// Whether operations give what they must: all ranks call it, before the first is timed.
    pub fn check_collectives(&mut self) -> io::Result<()> {
        self.barrier()?;
        let own = self.rank as f32 + 1.0;
        let sum = (self.ranks * (self.ranks + 1) / 2) as f32;
        for root in 0..self.ranks {
            let mut bytes = [if self.rank as usize == root { 7 } else { 0 }; 3];
            self.broadcast(&mut bytes, root)?;
            expect("MPI_Bcast", bytes == [7; 3])?;
            let mut room = Float([0; ELEMENT_BYTES]);
            self.reduce(&Float(own.to_ne_bytes()).0, &mut room.0, root)?;
            let expected = if self.rank as usize == root { sum } else { 0.0 };
            expect("MPI_Reduce", f32::from_ne_bytes(room.0) == expected)?;
        }
        let mut room = Float([0; ELEMENT_BYTES]);
        self.all_reduce(&Float(own.to_ne_bytes()).0, &mut room.0)?;
        expect("MPI_Allreduce", f32::from_ne_bytes(room.0) == sum)?;
        let mut room = vec![u8::MAX; self.ranks];
        self.all_to_all(&vec![self.rank as u8; self.ranks], &mut room)?;
        expect("MPI_Alltoall", room.iter().zip(0u8..).all(|(came, rank)| *came == rank))
    }

    fn number(&self, rank: usize) -> io::Result<c_int> {
        if rank < self.ranks { Ok(rank as c_int) } else { Err(io::ErrorKind::InvalidInput.into()) }
    }
}

/// Bytes that lie where a float may.
#[repr(align(4))]
struct Float([u8; ELEMENT_BYTES]);

/// How many floats both hold, where they may.
#[inline]
fn elements(floats: &[u8], room: &[u8]) -> io::Result<c_int> {
    let may =
        |bytes: &[u8]| bytes.len().is_multiple_of(ELEMENT_BYTES) && bytes.as_ptr().cast::<f32>().is_aligned();
    if floats.len() != room.len() || !may(floats) || !may(room) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    count(&floats[..floats.len() / ELEMENT_BYTES])
}

fn expect(call: &str, is_right: bool) -> io::Result<()> {
    let wrong =
        || io::Error::other(format!("{call} gave something else than it must: is it of another ABI?"));
    is_right.then_some(()).ok_or_else(wrong)
}
