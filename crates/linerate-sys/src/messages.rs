//! Whole messages between two ranks of a library.

use std::io;

/// So many bytes from one message of a region to the next at least: each begins on a cache line of its own.
pub const LINE: usize = 64;

/// How far apart messages of `len` bytes lie in a region.
#[inline]
pub fn stride(len: usize) -> usize {
    len.next_multiple_of(LINE).max(LINE)
}

/// So many messages of `len` bytes, one after the other from a region that holds at least one, and from its start again where
/// it ends: of one message's length it is the same message each time.
#[inline]
pub fn parts(region: &[u8], len: usize, messages: usize) -> impl Iterator<Item = &[u8]> {
    region.chunks(stride(len)).filter_map(move |part| part.get(..len)).cycle().take(messages)
}

/// One of two ends that send each other whole messages. Whatever a call begins is over when it returns, also with an
/// error: its buffers may go.
pub trait Messages {
    /// Sends a message; returns when its buffer is free.
    fn send(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Waits for a message; how many bytes came.
    fn receive(&mut self, room: &mut [u8]) -> io::Result<usize>;
    /// Begins to receive the other end's message and to send its own, works, and waits for both; how many bytes came.
    fn exchange_at_work(&mut self, bytes: &[u8], room: &mut [u8], work: impl FnMut()) -> io::Result<usize>;
    /// The same without work.
    #[inline]
    fn exchange(&mut self, bytes: &[u8], room: &mut [u8]) -> io::Result<usize> {
        self.exchange_at_work(bytes, room, || ())
    }
}

/// One that has several messages under way at once.
pub trait Windows: Messages {
    /// Sends so many [`parts`] of the region at once, then waits for all.
    fn send_window(&mut self, region: &[u8], len: usize, messages: usize) -> io::Result<()>;
    /// Receives a message into each of these rooms of `len` bytes, all of them posted before the first is waited for.
    /// How many bytes came.
    fn receive_window(&mut self, rooms: &mut [u8], len: usize, messages: usize) -> io::Result<usize>;
}

impl<M: Messages> Messages for &mut M {
    #[inline]
    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        (**self).send(bytes)
    }

    #[inline]
    fn receive(&mut self, room: &mut [u8]) -> io::Result<usize> {
        (**self).receive(room)
    }

    #[inline]
    fn exchange_at_work(&mut self, bytes: &[u8], room: &mut [u8], work: impl FnMut()) -> io::Result<usize> {
        (**self).exchange_at_work(bytes, room, work)
    }

    #[inline]
    fn exchange(&mut self, bytes: &[u8], room: &mut [u8]) -> io::Result<usize> {
        (**self).exchange(bytes, room)
    }
}

impl<W: Windows> Windows for &mut W {
    #[inline]
    fn send_window(&mut self, region: &[u8], len: usize, messages: usize) -> io::Result<()> {
        (**self).send_window(region, len, messages)
    }

    #[inline]
    fn receive_window(&mut self, rooms: &mut [u8], len: usize, messages: usize) -> io::Result<usize> {
        (**self).receive_window(rooms, len, messages)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_begins_its_region_again() {
        let region: Vec<u8> = (0..=255).collect();
        let firsts = |bytes: usize, len, messages| -> Vec<u8> {
            parts(&region[..bytes], len, messages).map(|part| part[0]).collect()
        };
        assert_eq!(firsts(5, 5, 3), [0, 0, 0]);
        assert_eq!(firsts(228, 100, 3), [0, 128, 0]);
        assert_eq!(firsts(256, 64, 6), [0, 64, 128, 192, 0, 64]);
        assert!(parts(&region[..228], 100, 9).all(|part| part.len() == 100));
    }
}
