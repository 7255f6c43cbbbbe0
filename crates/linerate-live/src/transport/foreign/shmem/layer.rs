//! Messages by puts or gets: what one is, and where it lies.
//!
//! | | by put | by get |
//! |---|---|---|
//! | a message | put of the payload, fence, put of a word | put of a word; the receiver gets the payload |
//! | a window | puts without waiting, quiet, put of one word | put of one word; gets without waiting, quiet |
//!
//! A block ends by a barrier, after its time: some libraries move what one has put, and what is got from it, only while
//! that one calls them.
//!
//! The word tells its number, how many bytes it announces, and how many words its sender has taken: so nothing else goes
//! back, and the sender knows what it may write over. The receiver waits for its word by a call of the library.

use crate::pattern::Passing;
use linerate_sys::messages::{Messages, Windows};
use linerate_sys::shmem::{PAYLOAD, Pe, WORDS};
use std::io;

/// Where the second of two messages lies that are both under way: the largest message may be as large.
pub const SECOND: usize = PAYLOAD / 2;

/// Symmetric memory of two processing elements.
pub trait Symmetric {
    /// Puts into the other one's payload; these bytes may change then.
    fn put(&mut self, at: usize, bytes: &[u8]) -> io::Result<()>;
    /// Puts so many parts of a region, one behind the other; all have arrived then.
    fn put_each(&mut self, region: &[u8], len: usize, messages: usize) -> io::Result<()>;
    /// Gets from the other one's payload.
    fn get(&mut self, at: usize, room: &mut [u8]) -> io::Result<()>;
    /// Gets into rooms of `len` bytes what lies one behind the other.
    fn get_each(&mut self, rooms: &mut [u8], len: usize) -> io::Result<()>;
    /// What is put from now on arrives after what was put before.
    fn fence(&mut self);
    /// Puts one of the other one's words.
    fn put_word(&mut self, number: usize, value: u64);
    /// Waits until one of its own words is no longer this; what it is then.
    fn wait_word(&mut self, number: usize, old: u64) -> u64;
    /// Waits for the other one, and until all that was put has arrived.
    fn barrier(&mut self);
}

impl Symmetric for &mut Pe {
    #[inline]
    fn put(&mut self, at: usize, bytes: &[u8]) -> io::Result<()> {
        Pe::put(self, at, bytes)
    }

    #[inline]
    fn put_each(&mut self, region: &[u8], len: usize, messages: usize) -> io::Result<()> {
        Pe::put_each(self, region, len, messages)
    }

    #[inline]
    fn get(&mut self, at: usize, room: &mut [u8]) -> io::Result<()> {
        Pe::get(self, at, room)
    }

    #[inline]
    fn get_each(&mut self, rooms: &mut [u8], len: usize) -> io::Result<()> {
        Pe::get_each(self, rooms, len)
    }

    #[inline]
    fn fence(&mut self) {
        Pe::fence(self);
    }

    #[inline]
    fn put_word(&mut self, number: usize, value: u64) {
        Pe::put_word(self, number, value);
    }

    #[inline]
    fn wait_word(&mut self, number: usize, old: u64) -> u64 {
        Pe::wait_word(self, number, old)
    }

    fn barrier(&mut self) {
        Pe::barrier(self);
    }
}

/// What a word says; it has 16 bits for each number and 32 for the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Word {
    number: u16,
    taken: u16,
    bytes: u32,
}

impl Word {
    fn packed(self) -> u64 {
        u64::from(self.number) | u64::from(self.taken) << 16 | u64::from(self.bytes) << 32
    }

    fn unpack(packed: u64) -> Word {
        Word { number: packed as u16, taken: (packed >> 16) as u16, bytes: (packed >> 32) as u32 }
    }
}

/// What is known of both directions. It outlives the blocks of a session.
#[derive(Debug, Default)]
pub struct Counts {
    /// The words put, taken, and taken by the other one, as it told last.
    sent: u16,
    taken: u16,
    told: u16,
    /// Where the last message lies.
    last_at: usize,
    /// What each word was last.
    seen: [u64; WORDS],
}

/// One of two that exchange messages; `GETS` by gets.
#[derive(Debug)]
pub struct Layer<'c, S, const GETS: bool> {
    memory: S,
    counts: &'c mut Counts,
}

impl<'c, S: Symmetric, const GETS: bool> Layer<'c, S, GETS> {
    /// Over this memory.
    pub fn new(memory: S, counts: &'c mut Counts) -> Self {
        Layer { memory, counts }
    }

    /// Where the next message may lie: one may still be there that the other one has not been heard to have taken.
    #[inline]
    fn place(&mut self, bytes: usize) -> io::Result<usize> {
        let counts = &mut self.counts;
        let at = match (counts.sent.wrapping_sub(counts.told), counts.last_at) {
            (0, _) => 0,
            (1, 0) if bytes <= SECOND => SECOND,
            (1, SECOND) if bytes <= SECOND => 0,
            _ => return Err(io::Error::other("symmetric memory has room for two messages one way")),
        };
        counts.last_at = at;
        Ok(at)
    }

    #[inline]
    fn announce(&mut self, bytes: usize) -> io::Result<()> {
        let counts = &mut self.counts;
        counts.sent = counts.sent.wrapping_add(1);
        let bytes = u32::try_from(bytes).map_err(|_| io::ErrorKind::InvalidInput)?;
        let word = Word { number: counts.sent, taken: counts.taken, bytes };
        self.memory.put_word(usize::from(word.number) % WORDS, word.packed());
        Ok(())
    }

    /// Waits for the next word; how many bytes it announces, where there is room for `most`.
    #[inline]
    fn take(&mut self, most: usize) -> io::Result<usize> {
        let counts = &mut self.counts;
        let number = counts.taken.wrapping_add(1);
        let seen = &mut counts.seen[usize::from(number) % WORDS];
        *seen = self.memory.wait_word(usize::from(number) % WORDS, *seen);
        let word = Word::unpack(*seen);
        let bytes = word.bytes as usize;
        if word.number != number || bytes > most {
            return Err(io::Error::other(format!("a word came that is none of these: {word:?}")));
        }
        (counts.taken, counts.told) = (number, word.taken);
        Ok(bytes)
    }
}

impl<S: Symmetric, const GETS: bool> Messages for Layer<'_, S, GETS> {
    #[inline]
    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        if !GETS {
            let at = self.place(bytes.len())?;
            self.memory.put(at, bytes)?;
            self.memory.fence();
        }
        self.announce(bytes.len())
    }

    /// By put the message lies in this one's symmetric memory, where a program of this model uses it.
    #[inline]
    fn receive(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let bytes = self.take(room.len())?;
        if GETS {
            self.memory.get(0, &mut room[..bytes])?;
        }
        Ok(bytes)
    }

    #[inline]
    fn exchange(&mut self, bytes: &[u8], room: &mut [u8]) -> io::Result<usize> {
        self.send(bytes)?;
        self.receive(room)
    }

    #[inline]
    fn exchange_at_work(
        &mut self,
        bytes: &[u8],
        room: &mut [u8],
        mut work: impl FnMut(),
    ) -> io::Result<usize> {
        self.send(bytes)?;
        work();
        self.receive(room)
    }
}

impl<S: Symmetric, const GETS: bool> Windows for Layer<'_, S, GETS> {
    #[inline]
    fn send_window(&mut self, region: &[u8], len: usize, messages: usize) -> io::Result<()> {
        let all = len.saturating_mul(messages);
        if !GETS {
            if self.place(all)? != 0 {
                return Err(io::Error::other("a window begins before the last one was taken"));
            }
            self.memory.put_each(region, len, messages)?;
        }
        self.announce(all)
    }

    #[inline]
    fn receive_window(&mut self, rooms: &mut [u8], len: usize, messages: usize) -> io::Result<usize> {
        let bytes = self.take(rooms.len().min(len.saturating_mul(messages)))?;
        if GETS {
            self.memory.get_each(&mut rooms[..bytes], len)?;
        }
        Ok(bytes)
    }
}

impl<S: Symmetric, const GETS: bool> Passing for Layer<'_, S, GETS> {
    fn finish(&mut self) -> io::Result<()> {
        self.memory.barrier();
        Ok(())
    }
}

#[cfg(test)]
mod tests;
