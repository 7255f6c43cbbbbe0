//! Which rate comes next: what an interval showed decides.

use crate::record::SubInterval;

/// An order to the sending end, as a number on the stream beside.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Order {
    /// Send at this rate, payload bits a second, until the next order.
    Send(f64),
    /// Send as fast as it goes.
    Flood,
    /// Say how many went, and wait.
    Hold,
    /// It is over: say how many went.
    End,
}

/// Orders that are no rate; a rate is a whole number of bits a second.
const END: u64 = u64::MAX;
const HOLD: u64 = u64::MAX - 1;
const FLOOD: u64 = u64::MAX - 2;

/// The least rate that is ordered or obeyed: a message of any size goes within a second or so.
const LEAST_BPS: f64 = 8_000.0;

impl Order {
    /// As it travels.
    pub fn number(self) -> u64 {
        match self {
            Order::Send(bps) => bps.max(LEAST_BPS) as u64,
            Order::Flood => FLOOD,
            Order::Hold => HOLD,
            Order::End => END,
        }
    }

    /// As it came; the other end may say anything.
    pub fn from_number(number: u64) -> Order {
        match number {
            END => Order::End,
            HOLD => Order::Hold,
            FLOOD => Order::Flood,
            bps => Order::Send((bps as f64).max(LEAST_BPS)),
        }
    }
}

/// What came within one feedback interval.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Seen {
    /// Datagrams that came for the first time.
    pub came: u64,
    /// Those that should have come by their numbers and did not.
    pub lost: u64,
    /// The mean delay above the least one of the search.
    pub variation_ns: u64,
}

/// The rows of sending rates: 1 Mb/s to 1 Gb/s, then 100 Mb/s to 10 Gb/s, then 1 Gb/s (RFC 9097, section 8.1).
const MEGABIT: f64 = 1e6;
const SLOW_ROWS: u32 = 1000;
const MIDDLE_ROWS: u32 = 90;
const MOST_ROWS: u32 = SLOW_ROWS + MIDDLE_ROWS + 990;

/// Losses in an interval, and delays above the least one, by which the load goes up or down.
const LOST_AT_MOST: u64 = 10;
const CALM_NS: u64 = 30_000_000;
const FULL_NS: u64 = 90_000_000;
/// Rows at once while nothing was ever full, and three times so many back.
const LEAP: u32 = 10;
/// Bad intervals until that.
const BAD_AT_MOST: u32 = 3;

/// The search of type B (RFC 9097, section 8.1): it goes up while little is lost and delays are short.
#[derive(Debug, Default)]
pub struct TypeB {
    row: u32,
    bad: u32,
}

impl TypeB {
    /// The rate of the present row.
    pub fn bps(&self) -> f64 {
        let beyond = |first: u32| f64::from(self.row.saturating_sub(first));
        let slow = f64::from(self.row.min(SLOW_ROWS - 1) + 1) * MEGABIT;
        let middle = beyond(SLOW_ROWS - 1).min(f64::from(MIDDLE_ROWS)) * 100.0 * MEGABIT;
        slow + middle + beyond(SLOW_ROWS - 1 + MIDDLE_ROWS) * 1000.0 * MEGABIT
    }

    /// Takes an interval into account.
    pub fn judge(&mut self, seen: Seen) {
        let is_slow = self.row < SLOW_ROWS;
        if seen.lost <= LOST_AT_MOST && seen.variation_ns < CALM_NS {
            let rises = is_slow && self.bad < BAD_AT_MOST;
            self.row = (self.row + if rises { LEAP } else { 1 }).min(MOST_ROWS);
            self.bad = if rises { 0 } else { self.bad };
        } else if seen.lost > LOST_AT_MOST || seen.variation_ns > FULL_NS {
            self.bad += 1;
            let falls = is_slow && self.bad == BAD_AT_MOST;
            self.row = self.row.saturating_sub(if falls { 3 * LEAP } else { 1 });
        }
    }
}

/// The bounds are as near as this when a bisection ends.
const NEAR: f64 = 0.005;

/// While every rate lost something the next one is so many times smaller.
const FALL: f64 = 4.0;

/// The largest rate at which nothing is lost, by bisection (RFC 2544, section 26.1): the first trial floods. What came
/// of a flood is the next one, and no bound: hosts that are flooded take less than they could.
#[derive(Debug, Default)]
pub struct Bisection {
    /// The largest rate without a loss, and the least with one.
    clean_bps: f64,
    lossy_bps: Option<f64>,
    /// What came of the flood, until it has been tried.
    came_bps: Option<f64>,
    floods: bool,
}

impl Bisection {
    /// The next rate; none when the bounds have met.
    pub fn order(&mut self) -> Option<Order> {
        if !self.floods {
            self.floods = true;
            return Some(Order::Flood);
        }
        // A flood that lost nothing says that no rate does.
        let lossy = self.lossy_bps?;
        if let Some(came) = self.came_bps.take().filter(|came| *came > 0.0 && *came < lossy) {
            return Some(Order::Send(came));
        }
        if self.clean_bps == 0.0 {
            return Some(Order::Send(lossy / FALL));
        }
        (lossy - self.clean_bps > NEAR * lossy).then(|| Order::Send((self.clean_bps * lossy).sqrt()))
    }

    /// Takes a trial into account.
    pub fn judge(&mut self, order: Order, trial: &SubInterval, message_bytes: u64) {
        let bps = match order {
            Order::Send(bps) => bps,
            _ => {
                self.came_bps = Some(trial.bps(message_bytes));
                trial.offered_bps
            }
        };
        match trial.lost {
            0 => self.clean_bps = self.clean_bps.max(bps),
            _ => self.lossy_bps = Some(self.lossy_bps.map_or(bps, |lossy| lossy.min(bps))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_come_back_and_other_numbers_are_rates() {
        for order in [Order::Send(1e9), Order::Flood, Order::Hold, Order::End] {
            assert_eq!(Order::from_number(order.number()), order);
        }
        assert_eq!(Order::from_number(0), Order::Send(LEAST_BPS));
        assert!(matches!(Order::from_number(u64::MAX - 3), Order::Send(bps) if bps > 1e18));
    }

    #[test]
    fn the_rows_are_those_of_the_table() {
        let rows = [(0, 1e6), (9, 10e6), (999, 1e9), (1000, 1.1e9), (1089, 10e9), (1090, 11e9)];
        for (row, bps) in rows {
            assert_eq!(TypeB { row, bad: 0 }.bps(), bps, "row {row}");
        }
    }

    /// A link that drops what exceeds its rate, and whose queue grows before.
    fn searched(link_bps: f64, intervals: u32) -> f64 {
        let mut search = TypeB::default();
        let mut most = 0.0f64;
        for _ in 0..intervals {
            let excess = (search.bps() / link_bps - 1.0).max(0.0);
            let sent = search.bps() * 0.05 / 8.0 / 1222.0;
            most = most.max(search.bps().min(link_bps));
            search.judge(Seen { came: sent as u64, lost: (sent * excess) as u64, variation_ns: 0 });
        }
        assert!((search.bps() / link_bps - 1.0).abs() < 0.4, "{} of {link_bps}", search.bps());
        most
    }

    #[test]
    fn a_search_stays_near_the_links_rate() {
        for link in [8e6, 97e6, 500e6, 2.5e9] {
            assert_eq!(searched(link, 200), link);
        }
    }

    #[test]
    fn delays_hold_a_search_and_long_ones_turn_it() {
        let mut search = TypeB { row: 500, bad: 0 };
        let late = |variation_ns| Seen { came: 100, lost: 0, variation_ns };
        search.judge(late(50_000_000));
        assert_eq!(search.row, 500);
        for row in [499, 498, 468, 467] {
            search.judge(late(100_000_000));
            assert_eq!(search.row, row);
        }
        search.judge(late(0));
        assert_eq!(search.row, 468, "after three bad ones it goes by single rows");
    }

    /// The trials that a bisection takes on a link of this rate, of which a flood of 4 Gb/s brings a share; and its end.
    fn bisected(limit: f64, of_flood: f64) -> (usize, f64) {
        let mut search = Bisection::default();
        let mut trials = 0;
        while let Some(order) = search.order() {
            let (offered_bps, came) = match order {
                Order::Send(bps) => (bps, bps.min(limit)),
                _ => (4e9, of_flood * limit),
            };
            let messages = (came / 8000.0) as u64;
            let lost = ((offered_bps - limit).max(0.0) / 8000.0).ceil() as u64;
            let trial =
                SubInterval { duration_ns: 1_000_000_000, offered_bps, messages, lost, ..Default::default() };
            search.judge(order, &trial, 1000);
            trials += 1;
        }
        (trials, search.clean_bps)
    }

    #[test]
    fn a_bisection_finds_the_largest_lossless_rate() {
        for limit in [10e6, 50e6, 730e6, 3.9e9] {
            for of_flood in [0.0, 0.3, 1.0] {
                let (trials, found) = bisected(limit, of_flood);
                assert!((0.99..=1.0).contains(&(found / limit)), "{found} of {limit} after {of_flood}");
                assert!(trials <= 16, "{trials} trials of {limit} after {of_flood}");
            }
        }
        let mut clean = Bisection::default();
        let order = clean.order().unwrap();
        clean.judge(order, &SubInterval { duration_ns: 1, messages: 5, ..SubInterval::default() }, 1);
        assert_eq!(clean.order(), None);
    }
}
