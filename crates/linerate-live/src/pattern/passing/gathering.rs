//! Operations of all ranks together, one after the other without a pause, as the Intel MPI Benchmarks have them.
//!
//! Where one rank is the root, the next one is the root of the next operation: else it would run ahead of the others,
//! and what was timed were how fast it sends.

use super::Passing;
use crate::pattern::{Clock, Loops, Monotonic, Moved, Walk};
use crate::plan::Block;
use crate::vocabulary::Does;
use linerate_sys::pages::Pages;
use std::io;

/// One of several ranks that do something together. Of reductions the bytes are floats.
pub trait Gathering: Passing {
    /// How many there are.
    fn ranks(&self) -> usize;
    /// This one's number.
    fn number(&self) -> usize;
    /// Whether operations give what they must; all ranks call it.
    fn check(&mut self) -> io::Result<()>;
    /// The root's bytes come to all.
    fn broadcast(&mut self, bytes: &mut [u8], root: usize) -> io::Result<()>;
    /// The sums of all come to the root.
    fn reduce(&mut self, bytes: &[u8], room: &mut [u8], root: usize) -> io::Result<()>;
    /// The sums of all come to all.
    fn all_reduce(&mut self, bytes: &[u8], room: &mut [u8]) -> io::Result<()>;
    /// A part of the bytes goes to each, a part of the room comes from each.
    fn all_to_all(&mut self, bytes: &[u8], room: &mut [u8]) -> io::Result<()>;
    /// Nobody goes on before all are there.
    fn barrier(&mut self) -> io::Result<()>;
}

/// A rank with these loops.
#[derive(Debug)]
pub struct Gathered<G> {
    link: G,
    /// What goes and what comes: floats, and as they lie in pages, where floats may lie.
    rooms: Option<[Pages; 2]>,
    is_checked: bool,
}

impl<G: Gathering> Gathered<G> {
    /// The loops over this one.
    pub fn new(link: G) -> Self {
        Gathered { link, rooms: None, is_checked: false }
    }

    /// So many operations a slice; `once` is given the rank and the root's turn.
    fn timed<K: Clock>(
        &mut self,
        clock: &K,
        block: &Block,
        stamps: &mut Vec<u64>,
        mut once: impl FnMut(&mut G, usize) -> io::Result<()>,
    ) -> io::Result<()> {
        let (mut root, ranks) = (0, self.link.ranks());
        for _ in 0..block.slices {
            for _ in 0..block.messages {
                once(&mut self.link, root)?;
                root = if root + 1 == ranks { 0 } else { root + 1 };
            }
            stamps.push(clock.now_ns());
        }
        Ok(())
    }
}

/// A message's bytes, or those of one for each rank.
fn span(does: Does, block: &Block, ranks: usize) -> io::Result<usize> {
    let messages = if does == Does::ExchangesAll { ranks } else { 1 };
    let bytes = (block.message_bytes as usize).checked_mul(messages);
    bytes.ok_or(io::ErrorKind::InvalidInput.into())
}

/// So many bytes of floats that are 1: sums of what lies there by chance may be slow.
fn ones(bytes: usize) -> io::Result<Pages> {
    let mut pages = Pages::filled(bytes.max(1)).map_err(|error| error.source)?;
    pages.chunks_exact_mut(size_of::<f32>()).for_each(|float| float.copy_from_slice(&1f32.to_ne_bytes()));
    Ok(pages)
}

impl<G: Gathering + Send> Loops for Gathered<G> {
    fn prepare(&mut self, does: Does, block: &Block) -> io::Result<()> {
        let bytes = span(does, block, self.link.ranks())?;
        self.rooms = Some([ones(bytes)?, ones(bytes)?]);
        if !std::mem::replace(&mut self.is_checked, true) {
            self.link.check()?;
        }
        Ok(())
    }

    fn agree(&mut self, _does: Does, _duplex: bool) -> io::Result<()> {
        self.link.barrier()
    }

    fn run(
        &mut self,
        does: Does,
        block: &Block,
        _walk: &mut Walk<'_>,
        stamps: &mut Vec<u64>,
    ) -> io::Result<Moved> {
        let bytes = span(does, block, self.link.ranks())?;
        let [mut from, mut to] = self.rooms.take().ok_or(io::ErrorKind::InvalidInput)?;
        let (from, to) = (&mut from[..bytes], &mut to[..bytes]);
        match does {
            Does::Broadcasts => {
                self.timed(&Monotonic, block, stamps, |link, root| link.broadcast(from, root))
            }
            Does::Reduces => self.timed(&Monotonic, block, stamps, |link, root| link.reduce(from, to, root)),
            Does::ReducesAll => self.timed(&Monotonic, block, stamps, |link, _| link.all_reduce(from, to)),
            Does::ExchangesAll => self.timed(&Monotonic, block, stamps, |link, _| link.all_to_all(from, to)),
            Does::Meets => self.timed(&Monotonic, block, stamps, |link, _| link.barrier()),
            _ => Err(io::ErrorKind::Unsupported.into()),
        }?;
        Ok(Moved { bytes: came(does, block, [self.link.number(), self.link.ranks()]), ..Moved::default() })
    }
}

/// What operations put into the room of this rank: of those with a root it is one of so many.
fn came(does: Does, block: &Block, [number, ranks]: [usize; 2]) -> u64 {
    let operations = block.messages * u64::from(block.slices);
    let (number, ranks) = (number as u64, ranks as u64);
    let as_root = operations / ranks + u64::from(number < operations % ranks);
    let times = match does {
        Does::Broadcasts => operations - as_root,
        Does::Reduces => as_root,
        Does::ReducesAll => operations,
        Does::ExchangesAll => operations * ranks,
        _ => 0,
    };
    times * block.message_bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::buffer::Region;
    use linerate_sys::messages::{Messages, Windows};

    /// A rank that notes what it was asked.
    #[derive(Default)]
    struct Noted {
        roots: Vec<usize>,
        operations: Vec<(&'static str, usize)>,
    }

    impl Messages for Noted {
        fn send(&mut self, _: &[u8]) -> io::Result<()> {
            Err(io::ErrorKind::Unsupported.into())
        }
        fn receive(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::ErrorKind::Unsupported.into())
        }
        fn exchange(&mut self, _: &[u8], _: &mut [u8]) -> io::Result<usize> {
            Err(io::ErrorKind::Unsupported.into())
        }
        fn exchange_at_work(&mut self, _: &[u8], _: &mut [u8], _: impl FnMut()) -> io::Result<usize> {
            Err(io::ErrorKind::Unsupported.into())
        }
    }

    impl Passing for Noted {}

    impl Windows for Noted {
        fn send_window(&mut self, _: &[u8], _: usize, _: usize) -> io::Result<()> {
            Err(io::ErrorKind::Unsupported.into())
        }
        fn receive_window(&mut self, _: &mut [u8], _: usize, _: usize) -> io::Result<usize> {
            Err(io::ErrorKind::Unsupported.into())
        }
    }

    impl Noted {
        fn note(&mut self, name: &'static str, bytes: &[u8]) -> io::Result<()> {
            self.operations.push((name, bytes.len()));
            Ok(())
        }
    }

    impl Gathering for Noted {
        fn ranks(&self) -> usize {
            3
        }
        fn number(&self) -> usize {
            1
        }
        fn check(&mut self) -> io::Result<()> {
            self.note("check", &[])
        }
        fn broadcast(&mut self, bytes: &mut [u8], root: usize) -> io::Result<()> {
            self.roots.push(root);
            self.note("broadcast", bytes)
        }
        fn reduce(&mut self, bytes: &[u8], room: &mut [u8], root: usize) -> io::Result<()> {
            assert_eq!(bytes.len(), room.len());
            self.roots.push(root);
            self.note("reduce", bytes)
        }
        fn all_reduce(&mut self, bytes: &[u8], _: &mut [u8]) -> io::Result<()> {
            self.note("all-reduce", bytes)
        }
        fn all_to_all(&mut self, bytes: &[u8], _: &mut [u8]) -> io::Result<()> {
            self.note("all-to-all", bytes)
        }
        fn barrier(&mut self) -> io::Result<()> {
            self.note("barrier", &[])
        }
    }

    fn played(does: Does) -> (u64, Noted) {
        let block = Block { message_bytes: 8, messages: 2, slices: 2, ..Block::default() };
        let mut gathered = Gathered::new(Noted::default());
        let mut region = Region::for_blocks(&[block], does).unwrap();
        let (mut walk, mut stamps) = (region.walk(&block, does), Vec::new());
        gathered.prepare(does, &block).unwrap();
        gathered.agree(does, false).unwrap();
        let moved = gathered.run(does, &block, &mut walk, &mut stamps).unwrap();
        assert_eq!(stamps.len(), 2);
        (moved.bytes, gathered.link)
    }

    #[test]
    fn each_rank_is_the_root_in_turn() {
        for (does, name, came) in [(Does::Broadcasts, "broadcast", 3 * 8), (Does::Reduces, "reduce", 8)] {
            let (bytes, link) = played(does);
            assert_eq!((bytes, link.roots), (came, vec![0, 1, 2, 0]), "{name}");
            let expected = [[("check", 0), ("barrier", 0)].as_slice(), &[(name, 8); 4]].concat();
            assert_eq!(link.operations, expected);
        }
    }

    #[test]
    fn what_all_get_is_counted_at_each() {
        let all = [(Does::ReducesAll, 8, 4 * 8), (Does::ExchangesAll, 24, 4 * 24), (Does::Meets, 0, 0)];
        for (does, len, came) in all {
            let (bytes, link) = played(does);
            assert_eq!((bytes, link.operations.last().unwrap().1), (came, len), "{does:?}");
        }
    }
}
