//! The loops over a link that loses what it is told to lose.

use super::*;
use crate::pattern::buffer::Region;
use crate::plan::Pace;
use crate::vocabulary::{Cache, Sample};
use std::sync::mpsc::{Receiver, Sender, channel};

/// Two channels: one for datagrams, of which every `nth` sent is lost, or comes twice, and one for numbers.
struct Simulated {
    nth: u32,
    twice: bool,
    sent: u32,
    datagrams: (Sender<Vec<u8>>, Receiver<Vec<u8>>),
    numbers: (Sender<u64>, Receiver<u64>),
    is_alone: bool,
}

impl Simulated {
    /// It loses nothing.
    fn new(datagrams: (Sender<Vec<u8>>, Receiver<Vec<u8>>), numbers: (Sender<u64>, Receiver<u64>)) -> Self {
        Simulated { nth: u32::MAX, twice: false, sent: 0, datagrams, numbers, is_alone: false }
    }
}

impl Lossy for Simulated {
    fn send(&mut self, datagram: &[u8]) -> io::Result<()> {
        self.sent += 1;
        if self.sent.is_multiple_of(self.nth) && !datagram.is_empty() {
            if !self.twice {
                return Ok(());
            }
            let _ = self.datagrams.0.send(datagram.to_vec());
        }
        // The other end may have ended its block: then nobody receives what rings for it.
        let _ = self.datagrams.0.send(datagram.to_vec());
        Ok(())
    }

    fn receive(&mut self, room: &mut [u8]) -> io::Result<Option<usize>> {
        Ok(self.datagrams.1.recv_timeout(SILENCE).ok().map(|datagram| copy(&datagram, room)))
    }

    fn receive_now(&mut self, room: &mut [u8]) -> io::Result<Option<usize>> {
        Ok(self.datagrams.1.try_recv().ok().map(|datagram| copy(&datagram, room)))
    }

    fn tell(&mut self, number: u64) -> io::Result<()> {
        self.numbers.0.send(number).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }

    fn hear(&mut self, limit: Duration) -> io::Result<Option<u64>> {
        Ok(self.numbers.1.recv_timeout(limit).ok())
    }

    fn check(&self) -> io::Result<()> {
        if self.is_alone { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
    }

    fn patience(&self) -> Duration {
        Duration::from_secs(5)
    }
}

fn copy(datagram: &[u8], room: &mut [u8]) -> usize {
    let len = datagram.len().min(room.len());
    room[..len].copy_from_slice(&datagram[..len]);
    len
}

/// Plays one block at both ends, of which the first loses every `nth` that it sends.
fn play(does: [Does; 2], nth: u32, block: &Block) -> [(Moved, Vec<u64>); 2] {
    play_with(does, (nth, false), block)
}

fn play_with(does: [Does; 2], (nth, twice): (u32, bool), block: &Block) -> [(Moved, Vec<u64>); 2] {
    let (to_b, at_b) = channel();
    let (to_a, at_a) = channel();
    let (tell_b, heard_b) = channel();
    let (tell_a, heard_a) = channel();
    let a = Simulated { nth, twice, ..Simulated::new((to_b, at_a), (tell_b, heard_a)) };
    let b = Simulated::new((to_a, at_b), (tell_a, heard_b));
    let end = |does, link| {
        let mut end = Unreliable::new(link);
        let mut region = Region::for_blocks(std::slice::from_ref(block), does).unwrap();
        let (mut walk, mut stamps) = (region.walk(block, does), Vec::new());
        end.prepare(does, block).unwrap();
        end.agree(does, false).unwrap();
        (end.run(does, block, &mut walk, &mut stamps).unwrap(), stamps)
    };
    std::thread::scope(|scope| {
        let other = scope.spawn(|| end(does[1], b));
        [end(does[0], a), other.join().unwrap()]
    })
}

fn block(message_bytes: u64, messages: u64, slices: u32) -> Block {
    Block { message_bytes, messages, slices, lead: 0, cache: Cache::Hot, ..Block::default() }
}

#[test]
fn what_was_sent_is_what_came_and_what_was_lost() {
    for size in [1, 8, 500] {
        let does = [Does::Sends, Does::Receives];
        let [(sender, sent), (receiver, came)] = play(does, 10, &block(size, 20, 5));
        assert_eq!((sender.bytes, sent.len()), (100 * size, 5));
        let figures = (receiver.bytes, receiver.messages, receiver.lost);
        // The 90 datagrams that came complete four slices of 20 and begin a fifth.
        assert_eq!((figures, came.len()), ((90 * size, Some(90), Some(10)), 5), "{size} B");
        let counted = receiver.tally.map(|tally| (tally.duplicated, tally.reordered));
        assert_eq!(counted, (size >= 8).then_some((Some(0), Some(0))), "{size} B");
        let has_times = receiver.samples.iter().any(|(sample, _)| *sample == Sample::DelayVariation);
        assert_eq!(has_times, size >= 16, "{size} B");
    }
}

#[test]
fn a_lost_round_trip_is_repeated_unsampled() {
    for size in [1, 8, 500] {
        let [(pinger, stamps), _] = play([Does::Pings, Does::Echoes], 4, &block(size, 1, 6));
        // The fourth of seven messages was lost.
        let expected = Moved { bytes: 6 * size, messages: Some(6), lost: Some(1), ..Moved::default() };
        assert_eq!((pinger, stamps.len()), (expected, 6), "{size} B");
        let all = Duration::from_nanos(stamps[5] - stamps[0]);
        assert!(all < SILENCE, "{all:?} of samples hold a loss");
    }
}

#[test]
fn an_exchange_may_take_as_long_as_the_path_is() {
    let link = Simulated::new(channel(), channel());
    let mut end = Unreliable::new(link);
    let ms = Duration::from_millis;
    assert_eq!(end.limit(&[]), ms(1000), "nothing is known");
    assert_eq!(end.limit(&[0, 20_000]), SILENCE);
    end.longest = ms(10);
    assert_eq!(end.limit(&[0, 20_000]), ms(200), "an earlier block was slower");
    end.longest = ms(600);
    assert_eq!(end.limit(&[]), ms(1600));
}

#[test]
fn nobody_waits_for_an_end_that_is_gone() {
    let (_to, datagrams) = channel();
    let link = Simulated { is_alone: true, ..Simulated::new((channel().0, datagrams), channel()) };
    let mut end = Unreliable::new(link);
    let block = block(100, 1, 1);
    let mut region = Region::for_blocks(std::slice::from_ref(&block), Does::Exchanges).unwrap();
    let (mut walk, mut stamps) = (region.walk(&block, Does::Exchanges), Vec::new());
    end.prepare(Does::Exchanges, &block).unwrap();
    let answer = end.run(Does::Exchanges, &block, &mut walk, &mut stamps);
    assert_eq!(answer.unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
}

#[test]
fn a_message_of_another_block_is_told_apart() {
    let link = Simulated::new(channel(), channel());
    let end = Unreliable { block: 7, ..Unreliable::new(link) };
    let mut message = [0; 16];
    write_tag(&mut message, end.tag(3));
    assert!(end.is_of_block(&message, 16));
    let next = Unreliable { block: 8, ..end };
    assert!(!next.is_of_block(&message, 16));
    assert!(!next.is_of_block(&message[..9], 16));
}

#[test]
fn what_comes_twice_counts_once_and_is_told() {
    let does = [Does::Sends, Does::Receives];
    let [(sender, _), (receiver, came)] = play_with(does, (10, true), &block(100, 20, 5));
    assert_eq!((receiver.messages, receiver.lost, came.len()), (Some(100), Some(0), 5));
    let tally = receiver.tally.unwrap();
    assert_eq!((tally.duplicated, tally.reordered), (Some(10), Some(0)));
    assert!(sender.tally.unwrap().sent_within_ns.unwrap() > 0);
}

#[test]
fn paced_datagrams_are_never_early() {
    let paced = Block { pace: Pace::Every(200_000), ..block(100, 50, 1) };
    let [(sender, _), (receiver, _)] = play([Does::Sends, Does::Receives], u32::MAX, &paced);
    assert_eq!(receiver.messages, Some(50));
    let tally = sender.tally.unwrap();
    assert_eq!(tally.intended, Some(50));
    assert!(tally.sent_within_ns.unwrap() >= 50 * 200_000);
    assert_eq!(sender.samples[0].0, Sample::SentLate);
}

#[test]
fn a_lost_exchange_is_repeated_unsampled() {
    for size in [1, 8, 500] {
        let [first, second] = play([Does::Exchanges; 2], 4, &block(size, 1, 6));
        for (moved, stamps) in [&first, &second] {
            assert_eq!((moved.bytes, moved.messages), (6 * size, Some(6)), "{size} B");
            assert!(stamps.len() < 6 && stamps.is_sorted(), "{size} B: {} samples", stamps.len());
        }
        // It is the second end that noticed.
        assert!(second.0.lost > Some(0), "{size} B");
    }
}

#[test]
fn unanswered_requests_are_counted_untimed() {
    let asked = Block { pace: Pace::Every(100_000), lead: 1, ..block(64, 20, 11) };
    let [(asker, _), _] = play([Does::Requests, Does::Echoes], 10, &asked);
    assert_eq!((asker.messages, asker.lost, asker.bytes), (Some(198), Some(22), 198 * 64));
    let of = |wanted| asker.samples.iter().find(|(sample, _)| *sample == wanted).unwrap().1.count();
    // A tenth of each slice of 20, and the first slice is the lead.
    assert_eq!((of(Sample::FromIntended), of(Sample::FromSend)), (180, 180));
    assert_eq!(asker.tally.unwrap().intended, Some(200));
}

#[test]
fn a_search_accounts_for_all_that_was_sent() {
    // One in four is lost from the beginning: it never rises far.
    let does = [Does::Offers, Does::FindsCapacity];
    let [(offers, _), (finds, _)] = play(does, 4, &block(500, 3, 2));
    let (came, lost) = (finds.messages.unwrap(), finds.lost.unwrap());
    assert_eq!((came + lost) * 500, offers.bytes);
    let search = finds.tally.unwrap().search;
    assert_eq!(search.len(), 2);
    assert!(search.iter().all(|sub| sub.duration_ns >= 150_000_000 && sub.messages > 0), "{search:?}");
    assert!((0.2..0.3).contains(&(lost as f64 / (came + lost) as f64)), "{lost} of {came}");
}

#[test]
fn a_bisection_falls_while_anything_is_lost() {
    let does = [Does::Offers, Does::FindsZeroLoss];
    let [(offers, _), (finds, _)] = play(does, 40, &block(500, 1, 4));
    assert_eq!((finds.messages.unwrap() + finds.lost.unwrap()) * 500, offers.bytes);
    let search = finds.tally.unwrap().search;
    // The first one floods, which channels hold.
    let rates: Vec<f64> = search.iter().map(|sub| sub.offered_bps).collect();
    assert!(
        search.iter().all(|sub| sub.lost > 0) && rates.windows(2).all(|two| two[1] < two[0]),
        "{rates:?}"
    );
}
