//! Whole messages between two ranks of a library.

use std::io;

/// One of two ranks. Whatever a call begins is over when it returns, also with an error: its buffers may go.
pub trait Messages {
    /// Sends a message; returns when its buffer is free.
    fn send(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Waits for a message; how many bytes came.
    fn receive(&mut self, room: &mut [u8]) -> io::Result<usize>;
    /// Begins to receive the other rank's message and to send its own, works, and waits for both; how many bytes came.
    fn exchange_at_work(&mut self, bytes: &[u8], room: &mut [u8], work: impl FnMut()) -> io::Result<usize>;
    /// The same without work.
    #[inline]
    fn exchange(&mut self, bytes: &[u8], room: &mut [u8]) -> io::Result<usize> {
        self.exchange_at_work(bytes, room, || ())
    }
    /// Sends the same bytes as so many messages at once, then waits for all.
    fn send_window(&mut self, bytes: &[u8], messages: usize) -> io::Result<()>;
    /// Receives a message into each of these rooms of `len` bytes, all of them posted before the first is waited for.
    /// How many bytes came.
    fn receive_window(&mut self, rooms: &mut [u8], len: usize, messages: usize) -> io::Result<usize>;
}
