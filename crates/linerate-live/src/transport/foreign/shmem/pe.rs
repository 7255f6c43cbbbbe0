//! A processing element: a process that the library's launcher started. It plays by puts or gets what it is asked.

use super::layer::{Counts, Layer, SECOND};
use crate::pattern::Passed;
use crate::plan::Block;
use crate::transport::foreign::library::home::{Play, Played};
use crate::transport::foreign::library::rank::{RankProgram, limit, played, serve_home};
use crate::vocabulary::{Does, SHMEM_MAKERS, SHMEM_OPERATIONS};
use crate::{Error, Result};
use linerate_sys::library::Library;
use linerate_sys::shmem::{Constants, Pe};
use std::io;
use std::path::Path;
use std::time::Duration;

/// The hidden command that is one.
pub const ROLE: &str = "element";

/// What `shmem_init_thread` may take before it is said to hang.
const INIT: Duration = Duration::from_secs(20);
/// The sizes of the first messages: a byte, and on either side of where libraries change their ways.
const FIRST: [usize; 4] = [1, 100, 20_000, 300_000];
/// What is written at once where pages are missing.
static PART: [u8; 64 << 10] = [1; 64 << 10];

/// Plays until the end that it works for goes away. What fails before it has called home is told by the launcher, whose
/// output this process's is.
pub fn main(asked: &[String]) -> Result<()> {
    let by_itself = "linerate starts this command itself";
    let [maker, operation, library, homes @ ..] = asked else {
        return Err(Error::usage("an element is told too little", by_itself));
    };
    let unknown = || Error::usage(format!("no maker is called `{maker}`"), by_itself);
    let maker = SHMEM_MAKERS.iter().find(|known| known.name == maker).ok_or_else(unknown)?;
    let library = Library::open(Path::new(library))?;
    let ready = limit(INIT);
    let constants = Constants { serialized: maker.serialized, not_equal: maker.not_equal };
    let pe = Pe::init(&library, constants)?;
    let own = pe.own();
    let gets = SHMEM_OPERATIONS.get(1) == Some(&operation.as_str());
    let mut element = Element { pe, gets, counts: Counts::default(), filled: [0; 2] };
    element.check().map_err(|why| Error::io("shmem_putmem", "a first message", why))?;
    drop(ready);
    let lost = || Error::usage("an element has no home", by_itself);
    let home = usize::try_from(own).ok().and_then(|own| homes.get(own)).ok_or_else(lost)?;
    serve_home(home, element)
}

struct Element {
    pe: Pe,
    gets: bool,
    counts: Counts,
    /// How far the memory of messages, and that of second ones, has no missing pages.
    filled: [usize; 2],
}

impl Element {
    /// Both put to each other what every byte of is looked at: puts that a word overtakes show. Each gets it back.
    fn check(&mut self) -> io::Result<()> {
        let pe = &mut self.pe;
        for (round, bytes) in (1u8..).zip(FIRST) {
            let of = |element: i32| -> Vec<u8> {
                let first = round.wrapping_mul(16).wrapping_add(element as u8);
                (0..bytes).map(|at| (at as u8).wrapping_mul(31).wrapping_add(first)).collect()
            };
            let [own, other] = [of(pe.own()), of(1 - pe.own())];
            pe.put(0, &own)?;
            pe.fence();
            pe.put_word(0, round.into());
            let word = pe.wait_word(0, u64::from(round) - 1);
            if word != u64::from(round) || !pe.holds(0, &other)? {
                return Err(io::Error::other(format!(
                    "{bytes} B were not there when their word was: {word}"
                )));
            }
            let mut room = vec![0; bytes];
            pe.barrier();
            pe.get(0, &mut room)?;
            pe.barrier();
            if room != own {
                return Err(io::Error::other(format!("other {bytes} B were got than were put")));
            }
        }
        pe.clear();
        Ok(())
    }

    /// No page that the blocks use is missing in their loops. Both do it at once, while nothing is under way.
    fn fill(&mut self, asked: &Play) -> io::Result<()> {
        let len = |block: &Block| usize::try_from(block.message_bytes).unwrap_or(usize::MAX);
        let window = |block: &Block| match asked.does {
            Does::Sends | Does::Receives => len(block).saturating_mul(block.window() as usize),
            _ => len(block),
        };
        let most = |of: &dyn Fn(&Block) -> usize| asked.blocks.iter().map(of).max().unwrap_or(0);
        for (number, (begin, needed)) in [(0, most(&window)), (SECOND, most(&len))].into_iter().enumerate() {
            let filled = &mut self.filled[number];
            while *filled < needed {
                let part = (needed - *filled).min(PART.len());
                self.pe.fill(begin + *filled, &PART[..part])?;
                *filled += part;
            }
        }
        self.pe.barrier();
        Ok(())
    }
}

impl RankProgram for Element {
    fn play(&mut self, asked: &Play) -> Result<Vec<Played>> {
        self.fill(asked).map_err(|why| Error::io("fill", "symmetric memory", why))?;
        let (pe, counts) = (&mut self.pe, &mut self.counts);
        match self.gets {
            false => played(Passed::new(Layer::<_, false>::new(pe, counts)), asked),
            true => played(Passed::new(Layer::<_, true>::new(pe, counts)), asked),
        }
    }

    fn leave(&mut self) {
        self.pe.leave();
    }
}
