//! The layer over made-up symmetric memory: its puts arrive late unless a fence or a quiet sees them off, and a word only
//! when its sender calls once more.

use super::*;
use crate::pattern::{Part, Passed, play};
use crate::plan::Block;
use crate::vocabulary::{Cache, Does, Wait};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::time::{Duration, Instant};

/// What a word may take before it is lost.
const LOST: Duration = Duration::from_secs(60);

/// What one of two has.
#[derive(Default)]
struct Memory {
    words: [AtomicU64; WORDS],
    /// What lies where, most of it nowhere.
    payload: Mutex<Vec<(usize, Vec<u8>)>>,
}

struct Simulated {
    own: Arc<Memory>,
    other: Arc<Memory>,
    /// Puts that nothing has ordered yet.
    late: Vec<(usize, Vec<u8>)>,
    late_word: Option<(usize, u64)>,
    both: Arc<Barrier>,
}

impl Simulated {
    fn two() -> [Simulated; 2] {
        let [a, b] = [(); 2].map(|()| Arc::new(Memory::default()));
        let both = Arc::new(Barrier::new(2));
        let end =
            |(own, other)| Simulated { own, other, late: Vec::new(), late_word: None, both: both.clone() };
        [(a.clone(), b.clone()), (b, a)].map(end)
    }

    /// What every call does beside its own duty.
    fn progress(&mut self) {
        if let Some((number, value)) = self.late_word.take() {
            self.other.words[number].store(value, Ordering::Release);
        }
    }

    fn arrive(&mut self) {
        let mut payload = self.other.payload.lock().unwrap();
        for (at, bytes) in self.late.drain(..) {
            payload.retain(|(other, _)| *other != at);
            payload.push((at, bytes));
        }
    }
}

impl Symmetric for Simulated {
    fn put(&mut self, at: usize, bytes: &[u8]) -> io::Result<()> {
        self.progress();
        assert!(at + bytes.len() <= PAYLOAD);
        self.late.push((at, bytes.to_vec()));
        Ok(())
    }

    fn put_each(&mut self, region: &[u8], len: usize, messages: usize) -> io::Result<()> {
        (0..messages).try_for_each(|number| self.put(number * len, &region[..len]))?;
        self.arrive();
        Ok(())
    }

    fn get(&mut self, _: usize, room: &mut [u8]) -> io::Result<()> {
        room.fill(7);
        Ok(())
    }

    fn get_each(&mut self, rooms: &mut [u8], _: usize) -> io::Result<()> {
        self.get(0, rooms)
    }

    fn fence(&mut self) {
        self.arrive();
    }

    fn put_word(&mut self, number: usize, value: u64) {
        assert!(self.late.is_empty(), "a word overtakes its payload");
        self.progress();
        self.late_word = Some((number, value));
    }

    fn barrier(&mut self) {
        self.progress();
        self.arrive();
        self.both.wait();
    }

    fn wait_word(&mut self, number: usize, old: u64) -> u64 {
        self.progress();
        let begun = Instant::now();
        loop {
            assert!(begun.elapsed() < LOST, "a word never left");
            match self.own.words[number].load(Ordering::Acquire) {
                same if same == old => std::thread::yield_now(),
                new => return new,
            }
        }
    }
}

fn block(message_bytes: u64, messages: u64) -> Block {
    Block { message_bytes, messages, slices: 3, lead: 0, cache: Cache::Hot, ..Block::default() }
}

/// Both play the same blocks, one after the other; what each counts of each.
fn played<const GETS: bool>(does: [Does; 2], blocks: &[Block]) -> [Vec<u64>; 2] {
    played_from::<GETS>(0, does, blocks)
}

/// The same after so many words.
fn played_from<const GETS: bool>(number: u16, does: [Does; 2], blocks: &[Block]) -> [Vec<u64>; 2] {
    let end = |memory, does| {
        let mut counts = Counts { sent: number, taken: number, told: number, ..Counts::default() };
        let link = Passed::new(Layer::<_, GETS>::new(memory, &mut counts));
        let parts = vec![Part { link, does, cpu: None }];
        let measured = play(parts, Wait::Polling, blocks).unwrap();
        measured.into_iter().flatten().map(|one| one.flow.bytes).collect()
    };
    let [a, b] = Simulated::two();
    std::thread::scope(|scope| {
        let other = scope.spawn(|| end(b, does[1]));
        [end(a, does[0]), other.join().unwrap()]
    })
}

#[test]
fn every_pattern_counts_every_byte() {
    // More than a window, a window and part of one, and less than one.
    let blocks = [block(1, 200), block(100, 65), block(1 << 20, 17), block(9 << 20, 3), block(1, 1)];
    let all: Vec<u64> = blocks.iter().map(Block::bytes).collect();
    for does in [[Does::Pings, Does::Echoes], [Does::Exchanges; 2], [Does::Receives, Does::Sends]] {
        assert_eq!(played::<false>(does, &blocks), [all.clone(), all.clone()], "{does:?}");
        assert_eq!(played::<true>(does, &blocks), [all.clone(), all.clone()], "{does:?}");
    }
}

#[test]
fn numbers_may_go_round() {
    for does in [[Does::Pings, Does::Echoes], [Does::Exchanges; 2], [Does::Receives, Does::Sends]] {
        let counted = played_from::<false>(u16::MAX - 5, does, &[block(1, 20)]);
        assert_eq!(counted, [vec![60], vec![60]], "{does:?}");
    }
}

#[test]
fn what_a_receiver_counts_is_what_was_announced() {
    let [a, b] = Simulated::two();
    let (mut first, mut second) = (Counts::default(), Counts::default());
    let mut sender = Layer::<_, false>::new(a, &mut first);
    let mut receiver = Layer::<_, false>::new(b, &mut second);
    sender.send_window(&[1; 99], 99, 64).unwrap();
    sender.memory.progress();
    assert_eq!(receiver.receive_window(&mut [0; 6400], 100, 64).unwrap(), 64 * 99);
    receiver.send(&[0]).unwrap();
    receiver.memory.progress();
    assert_eq!(sender.receive(&mut [0]).unwrap(), 1);
    sender.send(&[1; 2]).unwrap();
    sender.memory.progress();
    assert!(receiver.receive(&mut [0]).is_err(), "a message is longer than its room");
}

#[test]
fn nothing_untaken_is_written_over() {
    let [a, b] = Simulated::two();
    let (mut first, mut second) = (Counts::default(), Counts::default());
    let mut sender = Layer::<_, false>::new(a, &mut first);
    let mut receiver = Layer::<_, false>::new(b, &mut second);
    let mut places = Vec::new();
    for _ in 0..2 {
        sender.send(&[1]).unwrap();
        places.push(sender.counts.last_at);
    }
    assert_eq!(places, [0, SECOND]);
    let full = sender.send(&[1]).unwrap_err();
    assert!(full.to_string().contains("room for two messages"), "{full}");
    // One has been taken and told: its place is free, the other one is not.
    receiver.receive(&mut [0]).unwrap();
    receiver.send(&[1]).unwrap();
    receiver.memory.progress();
    sender.receive(&mut [0]).unwrap();
    assert!(
        sender.send_window(&[1; 1 << 20], 1 << 20, 65).is_err(),
        "it would reach what may not have been taken"
    );
    sender.send_window(&[1], 1, 2).unwrap();
    assert_eq!(sender.counts.last_at, 0);
}

#[test]
fn a_word_is_told_as_it_was() {
    for word in [
        Word { number: 1, taken: 0, bytes: 0 },
        Word { number: u16::MAX, taken: u16::MAX, bytes: u32::MAX },
        Word { number: 3, taken: 5, bytes: 1 << 27 },
    ] {
        assert_eq!(Word::unpack(word.packed()), word);
    }
}
