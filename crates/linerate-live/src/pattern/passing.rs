//! The loops over message passing: a message is whole, and a receive is posted for each.
//!
//! Streams are windowed, as OSU and IMB have them: as many messages as fit into a window are under way at once, all of
//! its receives are posted first, and a word closes it, so that what is not yet received stays bounded.

mod filing;
mod gathering;
mod posted;

pub use filing::{FileOrder, Filed, Filing, RowView};
pub use gathering::{Gathered, Gathering};
pub use posted::Posted;

use super::buffer::COLD_BYTES;
use super::{Clock, Kernel, Loops, Monotonic, Moved, Walk, messages};
use crate::plan::Block;
use crate::vocabulary::{Cache, Does};
use linerate_sys::messages::Windows;
use std::io;

/// One of two ranks.
pub trait Passing: Windows {
    /// Waits for the other ranks, where there are several at each end: they begin a block together.
    fn gather(&mut self) -> io::Result<()> {
        Ok(())
    }
    /// Readies for exchanges of so many bytes at work.
    fn ready(&mut self, _bytes: usize) -> io::Result<()> {
        Ok(())
    }
    /// Sees to it that all that was sent arrives, where that takes this end's doing. Both ends call it after a block.
    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<P: Passing> Passing for &mut P {
    fn gather(&mut self) -> io::Result<()> {
        (**self).gather()
    }

    fn ready(&mut self, bytes: usize) -> io::Result<()> {
        (**self).ready(bytes)
    }

    fn finish(&mut self) -> io::Result<()> {
        (**self).finish()
    }
}

/// A rank with the loops for it.
#[derive(Debug)]
pub struct Passed<P> {
    link: P,
    /// Where the messages of a window come.
    rooms: Vec<u8>,
}

impl<P: Passing> Passed<P> {
    /// The loops over this one.
    pub fn new(link: P) -> Self {
        Passed { link, rooms: Vec::new() }
    }

    fn stream<K: Clock>(
        &mut self,
        clock: &K,
        block: &Block,
        walk: &mut Walk<'_>,
        stamps: &mut Vec<u64>,
    ) -> io::Result<u64> {
        let (len, window) = (block.message_bytes as usize, block.window());
        for _ in 0..block.slices {
            let mut left = block.messages;
            while left > 0 {
                let messages = left.min(window) as usize;
                self.link.send_window(walk.window(len, messages), len, messages)?;
                self.link.receive(&mut [0])?;
                left -= messages as u64;
            }
            stamps.push(clock.now_ns());
        }
        Ok(block.bytes())
    }

    fn receive<K: Clock>(&mut self, clock: &K, block: &Block, stamps: &mut Vec<u64>) -> io::Result<u64> {
        let (mut came, len, window) = (0, block.message_bytes as usize, block.window());
        let mut at = 0;
        for _ in 0..block.slices {
            let mut left = block.messages;
            while left > 0 {
                let messages = left.min(window) as usize;
                // Hot there is room for one window only.
                at = if at + messages * len > self.rooms.len() { 0 } else { at };
                came += self.link.receive_window(&mut self.rooms[at..], len, messages)? as u64;
                at += messages * len;
                self.link.send(&[0])?;
                left -= messages as u64;
            }
            stamps.push(clock.now_ns());
        }
        Ok(came)
    }
}

impl<P: Passing + Send> Loops for Passed<P> {
    fn prepare(&mut self, does: Does, block: &Block) -> io::Result<()> {
        messages::prepare(does);
        if does == Does::Overlaps {
            self.link.ready(block.message_bytes as usize)?;
        }
        if does == Does::Receives {
            let bytes = (block.window() as usize).checked_mul(block.message_bytes as usize);
            let bytes = bytes.ok_or(io::ErrorKind::InvalidInput)?;
            let bytes = if block.cache == Cache::Cold { bytes.max(COLD_BYTES) } else { bytes };
            // Written to, so that no page of it is missing in the loop.
            self.rooms.resize(bytes, 1);
        }
        Ok(())
    }

    /// The receiver says go, as over a connection.
    fn agree(&mut self, does: Does, duplex: bool) -> io::Result<()> {
        self.link.gather()?;
        match does {
            _ if duplex => Err(io::ErrorKind::Unsupported.into()),
            Does::Receives => self.link.send(&[0]),
            Does::Sends => self.link.receive(&mut [0]).map(drop),
            Does::Exchanges | Does::Overlaps => self.link.exchange(&[0], &mut [0]).map(drop),
            _ => Ok(()),
        }
    }

    fn run(
        &mut self,
        does: Does,
        block: &Block,
        walk: &mut Walk<'_>,
        stamps: &mut Vec<u64>,
    ) -> io::Result<Moved> {
        let bytes = match does {
            Does::Sends => self.stream(&Monotonic, block, walk, stamps),
            Does::Receives => self.receive(&Monotonic, block, stamps),
            _ => return messages::run(does, &mut self.link, &Monotonic, block, walk, stamps),
        }?;
        Ok(Moved { bytes, ..Moved::default() })
    }

    fn counters(&mut self, _: &mut Kernel) -> io::Result<()> {
        self.link.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::buffer::Region;
    use linerate_sys::messages::{Messages, parts};
    use std::sync::mpsc::{Receiver, Sender, channel};

    /// Messages over channels, which keep each whole.
    struct Simulated(Sender<Vec<u8>>, Receiver<Vec<u8>>);

    impl Messages for Simulated {
        fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
            self.0.send(bytes.to_vec()).map_err(|_| io::ErrorKind::BrokenPipe.into())
        }

        fn receive(&mut self, room: &mut [u8]) -> io::Result<usize> {
            let message = self.1.recv().map_err(|_| io::ErrorKind::UnexpectedEof)?;
            assert!(message.len() <= room.len(), "a message was received as another one");
            room[..message.len()].copy_from_slice(&message);
            Ok(message.len())
        }

        fn exchange(&mut self, bytes: &[u8], room: &mut [u8]) -> io::Result<usize> {
            self.send(bytes)?;
            self.receive(room)
        }

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

    impl Passing for Simulated {}

    impl Windows for Simulated {
        fn send_window(&mut self, region: &[u8], len: usize, messages: usize) -> io::Result<()> {
            parts(region, len, messages).try_for_each(|bytes| self.send(bytes))
        }

        fn receive_window(&mut self, rooms: &mut [u8], len: usize, messages: usize) -> io::Result<usize> {
            rooms
                .chunks_exact_mut(len)
                .take(messages)
                .try_fold(0, |came, room| Ok(came + self.receive(room)?))
        }
    }

    fn play(does: [Does; 2], block: &Block) -> [(Moved, usize); 2] {
        play_two(does, [block; 2])
    }

    /// Each end with its own idea of the block.
    fn play_two(does: [Does; 2], blocks: [&Block; 2]) -> [(Moved, usize); 2] {
        play_by([Passed::new, Passed::new], does, blocks)
    }

    /// Each end with its own loops as well.
    fn play_by<L: Loops>(
        loops: [fn(Simulated) -> L; 2],
        does: [Does; 2],
        blocks: [&Block; 2],
    ) -> [(Moved, usize); 2] {
        let ((to_b, at_b), (to_a, at_a)) = (channel(), channel());
        let end = |loops: fn(Simulated) -> L, does, block: &Block, link| {
            let mut end = loops(link);
            let mut region = Region::for_blocks(std::slice::from_ref(block), does).unwrap();
            let (mut walk, mut stamps) = (region.walk(block, does), Vec::new());
            end.prepare(does, block).unwrap();
            end.agree(does, false).unwrap();
            (end.run(does, block, &mut walk, &mut stamps).unwrap(), stamps.len())
        };
        std::thread::scope(|scope| {
            let other = scope.spawn(|| end(loops[1], does[1], blocks[1], Simulated(to_a, at_b)));
            [end(loops[0], does[0], blocks[0], Simulated(to_b, at_a)), other.join().unwrap()]
        })
    }

    fn block(message_bytes: u64, messages: u64) -> Block {
        Block { message_bytes, messages, slices: 3, lead: 0, cache: Cache::Hot, ..Block::default() }
    }

    #[test]
    fn both_ends_agree_on_every_message() {
        let all =
            [[Does::Pings, Does::Echoes], [Does::Exchanges, Does::Exchanges], [Does::Receives, Does::Sends]];
        for does in all {
            // More than a window, a window and part of one, and less than one.
            for (size, messages) in [(1, 200), (100, 65), (1 << 20, 17), (9 << 20, 3)] {
                let block = block(size, messages);
                let [(first, stamps), (second, _)] = play(does, &block);
                assert_eq!(
                    (first.bytes, second.bytes, stamps),
                    (block.bytes(), block.bytes(), 3),
                    "{does:?}"
                );
            }
        }
    }

    #[test]
    fn both_ends_work_while_their_messages_cross() {
        let block = block(100, 5);
        let [(first, stamps), (second, _)] = play([Does::Overlaps; 2], &block);
        assert_eq!((first.bytes, second.bytes, stamps), (2 * block.bytes(), 2 * block.bytes(), 3));
        assert!(first.samples.iter().all(|(_, times)| times.count() == 3), "{:?}", first.samples);
    }

    #[test]
    fn posted_receives_take_the_same_messages() {
        for does in [[Does::Pings, Does::Echoes], [Does::Receives, Does::Sends]] {
            for (size, messages) in [(1, 1), (100, 65), (1 << 20, 2)] {
                let block = block(size, messages);
                let [(first, stamps), (second, _)] = play_by([Posted::new; 2], does, [&block; 2]);
                let came = (first.bytes, second.bytes, stamps);
                assert_eq!(came, (block.bytes(), block.bytes(), 3), "{does:?}");
            }
        }
    }

    #[test]
    fn a_receiver_counts_what_came() {
        let (expected, sent) = (block(100, 65), block(99, 65));
        let [(received, _), _] = play_two([Does::Receives, Does::Sends], [&expected, &sent]);
        assert_eq!((received.bytes, expected.bytes()), (3 * 65 * 99, 3 * 65 * 100));
    }

    #[test]
    fn a_window_is_bounded_in_messages_and_in_bytes() {
        let windows = [1, 64 << 10, 1 << 20, 8 << 20, 1 << 30].map(|size| block(size, 1).window());
        assert_eq!(windows, [64, 64, 16, 2, 2]);
    }
}
