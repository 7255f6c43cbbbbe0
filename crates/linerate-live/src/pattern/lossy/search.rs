//! Searches for a rate: the receiving end orders one, looks what became of it, and orders the next. Orders go over the
//! stream beside, every 50 ms (RFC 9097), or after each trial (RFC 2544).

mod judge;

use super::super::arrivals::{STAMPED_BYTES, number, sent_ns, write_sent};
use super::*;
use crate::record::{SubInterval, Tally};
use crate::vocabulary::FEEDBACK_NS;
use judge::{Bisection, Order, Seen, TypeB};

/// How often the sending end looks whether there is an order.
const LOOK_NS: u64 = 1_000_000;

/// What a sender owes after it was kept from sending is not sent at once beyond this.
const MOST_DEBT_NS: f64 = 2e6;

/// Messages that are told apart by their number; of later ones the number alone is looked at.
const MOST_NUMBERS: u64 = 1 << 26;

/// What the receiving end knows of a search.
#[derive(Debug)]
pub(super) struct SearchReceiver {
    /// A bit for each number that came.
    seen: Vec<u64>,
    len: usize,
    /// One more than the largest number so far.
    expected: u64,
    came: u64,
    least_ns: i64,
    /// Of the present interval.
    interval: Interval,
}

/// Sums of one feedback interval.
#[derive(Debug)]
struct Interval {
    came: u64,
    expected_before: u64,
    delay_sum_ns: i128,
    delay_most_ns: i64,
}

impl Interval {
    /// An empty one, before which so many numbers were expected.
    fn after(expected_before: u64) -> Interval {
        Interval { came: 0, expected_before, delay_sum_ns: 0, delay_most_ns: i64::MIN }
    }
}

impl SearchReceiver {
    /// Whether a block's datagrams have room for a number and a time.
    fn fits(block: &Block) -> io::Result<()> {
        let short = || io::Error::new(io::ErrorKind::InvalidInput, "a search needs messages of 16 B or more");
        if block.message_bytes < STAMPED_BYTES as u64 { Err(short()) } else { Ok(()) }
    }

    pub(super) fn new(block: &Block) -> io::Result<SearchReceiver> {
        SearchReceiver::fits(block)?;
        let len = block.message_bytes as usize;
        let seen = vec![0; (MOST_NUMBERS / 64) as usize];
        Ok(SearchReceiver {
            seen,
            len,
            expected: 0,
            came: 0,
            least_ns: i64::MAX,
            interval: Interval::after(0),
        })
    }

    /// One datagram of this block.
    #[inline]
    fn record(&mut self, datagram: &[u8], now_ns: u64) {
        let number = number(datagram);
        let (word, bit) = ((number / 64) as usize, 1 << (number % 64));
        if let Some(seen) = self.seen.get_mut(word) {
            if *seen & bit != 0 {
                return;
            }
            *seen |= bit;
        }
        self.came += 1;
        self.interval.came += 1;
        self.expected = self.expected.max(number + 1);
        let delay = now_ns.wrapping_sub(sent_ns(datagram)) as i64;
        self.least_ns = self.least_ns.min(delay);
        self.interval.delay_sum_ns += i128::from(delay);
        self.interval.delay_most_ns = self.interval.delay_most_ns.max(delay);
    }

    /// Ends an interval.
    fn take(&mut self) -> (Seen, u64) {
        let interval = std::mem::replace(&mut self.interval, Interval::after(self.expected));
        let expected = self.expected - interval.expected_before;
        let above = |delay: i128| (delay - i128::from(self.least_ns)).clamp(0, i128::from(u64::MAX)) as u64;
        let (mean, most) = match interval.came {
            0 => (0, 0),
            count => (above(interval.delay_sum_ns / i128::from(count)), above(interval.delay_most_ns.into())),
        };
        let lost = expected.saturating_sub(interval.came);
        (Seen { came: interval.came, lost, variation_ns: mean }, most)
    }
}

impl<L: Lossy> Unreliable<L> {
    /// Sends at whatever rate it is told, until it is told to end.
    pub(super) fn offer<K: Clock>(
        &mut self,
        clock: &K,
        block: &Block,
        walk: &mut Walk<'_>,
    ) -> io::Result<Moved> {
        let (begun, len) = (clock.now_ns(), block.message_bytes as usize);
        SearchReceiver::fits(block)?;
        let mut sent = 0;
        loop {
            let order = self.link.hear(self.link.patience())?.ok_or(io::ErrorKind::TimedOut)?;
            let mut order = Order::from_number(order);
            while let Some(gap_ns) = gap_ns(order, len) {
                order = self.offer_at(clock, block, gap_ns, walk, &mut sent)?;
            }
            self.link.flush()?;
            self.link.tell(sent)?;
            if order == Order::End {
                break;
            }
        }
        let tally = Tally { sent_within_ns: Some(clock.now_ns() - begun), ..Tally::default() };
        let bytes = sent * block.message_bytes;
        Ok(Moved { bytes, tally: Some(Box::new(tally)), ..Moved::default() })
    }

    /// Sends at one rate until the next order.
    fn offer_at<K: Clock>(
        &mut self,
        clock: &K,
        block: &Block,
        gap_ns: f64,
        walk: &mut Walk<'_>,
        sent: &mut u64,
    ) -> io::Result<Order> {
        let (begun, len) = (clock.now_ns(), block.message_bytes as usize);
        let longest = block.messages.saturating_mul(FEEDBACK_NS);
        let last = begun.saturating_add(longest).saturating_add(self.link.patience().as_nanos() as u64);
        let (mut due_ns, mut look_ns) = (begun as f64, begun + LOOK_NS);
        loop {
            let now = clock.now_ns();
            if now >= look_ns {
                if let Some(order) = self.link.hear(Duration::ZERO)? {
                    return Ok(Order::from_number(order));
                }
                if now > last {
                    return Err(io::ErrorKind::TimedOut.into());
                }
                look_ns = now + LOOK_NS;
            }
            if due_ns > now as f64 {
                self.link.flush()?;
                clock.wait_until(look_ns.min(due_ns as u64 + 1));
                continue;
            }
            due_ns = due_ns.max(now as f64 - MOST_DEBT_NS) + gap_ns;
            let message = walk.next(len);
            write_tag(message, self.tag(*sent));
            write_sent(message, now);
            self.link.send(message)?;
            *sent += 1;
        }
    }

    /// The search of type B: a slice is a sub-interval, a message of it a feedback interval.
    pub(super) fn find_capacity<K: Clock>(
        &mut self,
        clock: &K,
        block: &Block,
        walk: &mut Walk<'_>,
    ) -> io::Result<Moved> {
        let mut receiver = self.receiver.take().ok_or(io::ErrorKind::InvalidInput)?;
        let (mut search, mut found) = (TypeB::default(), Vec::with_capacity(block.slices as usize));
        let mut until = clock.now_ns();
        for _ in 0..block.slices {
            let begun = until;
            let mut sub = SubInterval::default();
            for _ in 0..block.messages {
                self.link.tell(Order::Send(search.bps()).number())?;
                sub.offered_bps = sub.offered_bps.max(search.bps());
                self.listen(clock, walk, &mut receiver, until + FEEDBACK_NS)?;
                until = clock.now_ns();
                let (seen, most_ns) = receiver.take();
                search.judge(seen);
                sub.add(seen.came, seen.lost, seen.variation_ns, most_ns);
            }
            sub.duration_ns = until - begun;
            found.push(sub);
        }
        self.end(clock, walk, receiver, found, block)
    }

    /// The bisection: a slice is a trial at one rate.
    pub(super) fn find_zero_loss<K: Clock>(
        &mut self,
        clock: &K,
        block: &Block,
        walk: &mut Walk<'_>,
    ) -> io::Result<Moved> {
        let mut receiver = self.receiver.take().ok_or(io::ErrorKind::InvalidInput)?;
        let (mut search, mut found) = (Bisection::default(), Vec::with_capacity(block.slices as usize));
        let mut sent_before = 0;
        for _ in 0..block.slices {
            let Some(order) = search.order() else { break };
            self.link.tell(order.number())?;
            let begun = clock.now_ns();
            self.listen(clock, walk, &mut receiver, begun + block.messages * FEEDBACK_NS)?;
            self.link.tell(Order::Hold.number())?;
            let sent = self.link.hear(self.link.patience())?.ok_or(io::ErrorKind::TimedOut)?;
            let duration_ns = clock.now_ns() - begun;
            // What is under way still comes within a silence.
            while self.receive_one(clock, walk, &mut receiver)? {}
            let (seen, most_ns) = receiver.take();
            let lost = sent.saturating_sub(sent_before).saturating_sub(seen.came);
            let offered_bps =
                8e9 * ((sent - sent_before.min(sent)) * block.message_bytes) as f64 / duration_ns as f64;
            let mut sub = SubInterval { duration_ns, offered_bps, ..SubInterval::default() };
            sub.add(seen.came, lost, seen.variation_ns, most_ns);
            search.judge(order, &sub, block.message_bytes);
            found.push(sub);
            sent_before = sent;
        }
        self.end(clock, walk, receiver, found, block)
    }

    /// Takes what comes until a moment.
    fn listen<K: Clock>(
        &mut self,
        clock: &K,
        walk: &mut Walk<'_>,
        receiver: &mut SearchReceiver,
        until_ns: u64,
    ) -> io::Result<()> {
        while clock.now_ns() < until_ns {
            self.receive_one(clock, walk, receiver)?;
        }
        Ok(())
    }

    /// Takes one datagram; false where none came for a silence.
    fn receive_one<K: Clock>(
        &mut self,
        clock: &K,
        walk: &mut Walk<'_>,
        receiver: &mut SearchReceiver,
    ) -> io::Result<bool> {
        let room = walk.next(receiver.len);
        let Some(length) = self.link.receive(room)? else { return Ok(false) };
        if self.is_of_block(&room[..length], receiver.len) {
            receiver.record(&room[..length], clock.now_ns());
        }
        Ok(true)
    }

    /// Ends the search: what never came is lost, in the last interval where it was not noticed before.
    fn end<K: Clock>(
        &mut self,
        clock: &K,
        walk: &mut Walk<'_>,
        mut receiver: SearchReceiver,
        mut found: Vec<SubInterval>,
        block: &Block,
    ) -> io::Result<Moved> {
        self.link.tell(Order::End.number())?;
        let sent = self.link.hear(self.link.patience())?.ok_or(io::ErrorKind::TimedOut)?;
        while self.receive_one(clock, walk, &mut receiver)? {}
        let came = receiver.came;
        let tally = Tally { search: std::mem::take(&mut found), ..Tally::default() };
        Ok(Moved {
            bytes: came * block.message_bytes,
            messages: Some(came),
            lost: Some(sent.saturating_sub(came)),
            tally: Some(Box::new(tally)),
            ..Moved::default()
        })
    }
}

/// The time between two messages; none of what is no rate.
fn gap_ns(order: Order, len: usize) -> Option<f64> {
    match order {
        Order::Send(bps) => Some(8e9 * len as f64 / bps),
        Order::Flood => Some(0.0),
        Order::Hold | Order::End => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn receiver() -> SearchReceiver {
        SearchReceiver::new(&Block { message_bytes: 16, ..Block::default() }).unwrap()
    }

    fn datagram(number: u32, sent: u64) -> [u8; STAMPED_BYTES] {
        let mut bytes = [0; STAMPED_BYTES];
        write_tag(&mut bytes, number.into());
        write_sent(&mut bytes, sent);
        bytes
    }

    #[test]
    fn what_was_lost_late_or_doubled_is_told_apart() {
        let mut receiver = receiver();
        for (number, at) in [(0, 100), (2, 130), (1, 140), (2, 150), (5, 160)] {
            receiver.record(&datagram(number, 0), at);
        }
        let (seen, most) = receiver.take();
        // 3 and 4 are missing; delays are 100, 130, 140 and 160.
        assert_eq!((seen, most), (Seen { came: 4, lost: 2, variation_ns: 32 }, 60));
        receiver.record(&datagram(6, 0), 120);
        assert_eq!(receiver.take(), (Seen { came: 1, lost: 0, variation_ns: 20 }, 20));
        assert_eq!(receiver.take(), (Seen::default(), 0));
    }

    #[test]
    fn a_search_needs_room_for_a_time_in_datagrams() {
        assert!(SearchReceiver::new(&Block { message_bytes: 15, ..Block::default() }).is_err());
    }

    proptest! {
        /// The other end may write what it likes.
        #[test]
        fn no_datagram_breaks_the_account(all in proptest::collection::vec(any::<([u8; 16], u64)>(), 0..20)) {
            let mut receiver = receiver();
            let count = all.len() as u64;
            all.iter().for_each(|(bytes, now)| receiver.record(bytes, *now));
            prop_assert!(receiver.take().0.came <= count);
        }

        #[test]
        fn no_order_stops_the_clock(number in any::<u64>(), len in 16usize..9000) {
            let gap = gap_ns(Order::from_number(number), len);
            prop_assert!(gap.is_none_or(|ns| (0.0..=1e10).contains(&ns)), "{:?}", gap);
        }
    }
}
