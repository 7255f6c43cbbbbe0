//! What the tracepoints stamped, put beside the program's own stamps: each event to its exchange.

use crate::record::TraceSide;
use crate::vocabulary::{
    ARRIVED, LOCKED, PROBED, QUEUED, READY, RECEIVED, RETURNED, RUNNING, SEND, TRANSMITTED, WAKING, WOKEN,
};
use linerate_sys::tracer::{Point, Stamp};
use std::collections::BTreeMap;

/// The points of a message out and in that tracepoints stamp, in the order of the way, and what recordings call them.
pub const OUT: &[(Point, &str)] =
    &[(Point::Locked, LOCKED.name), (Point::Queued, QUEUED.name), (Point::Transmitted, TRANSMITTED.name)];
/// See above.
pub const IN: &[(Point, &str)] = &[
    (Point::Arrived, ARRIVED.name),
    (Point::Received, RECEIVED.name),
    (Point::Probed, PROBED.name),
    (Point::Ready, READY.name),
    (Point::Waking, WAKING.name),
    (Point::Woken, WOKEN.name),
    (Point::Running, RUNNING.name),
];

/// Those of TCP alone.
pub const OF_TCP: [Point; 2] = [Point::Locked, Point::Probed];

/// The events of one exchange at one host lie between these: those of the message in, and those of the one out.
struct Windows {
    came: (u64, u64),
    went: (u64, u64),
}

/// Adds the points to what the program stamped itself; `asks` says which end this is, `first` since when times are told.
/// Answers how many events of packets are of no exchange.
pub fn put_beside(
    stamps: &[Stamp],
    asks: bool,
    own: (&[u64], &[u64]),
    first: u64,
    side: &mut TraceSide,
) -> u64 {
    // Between what came before a lost exchange and what comes after it nothing of it is looked for.
    let kept: Vec<usize> = (0..own.1.len()).filter(|exchange| own.1[*exchange] > 0).collect();
    let of_kept = |all: &[u64]| kept.iter().map(|exchange| all[*exchange]).collect::<Vec<u64>>();
    let (sent, returned) = (of_kept(own.0), of_kept(own.1));
    let mut used = 0;
    for (points, is_in) in [(OUT, false), (IN, true)] {
        let mut columns = vec![vec![None; own.1.len()]; points.len()];
        for (place, exchange) in kept.iter().copied().enumerate() {
            let windows = windows(asks, &sent, &returned, place);
            let (from, to) = if is_in { windows.came } else { windows.went };
            let row = of_window(within(stamps, from, to), points);
            let of_packets =
                |(at, (point, _)): &(&Option<u64>, &(Point, &str))| at.is_some() && *point < Point::Waking;
            used += row.iter().zip(points).filter(of_packets).count() as u64;
            for (column, at) in columns.iter_mut().zip(row) {
                column[exchange] = at.map(|ns| ns - first);
            }
        }
        for ((_, name), column) in points.iter().zip(columns) {
            if column.iter().any(Option::is_some) {
                side.points.insert((*name).into(), column);
            }
        }
    }
    let since = |all: &[u64]| all.iter().map(|ns| ns.checked_sub(first).filter(|_| *ns > 0)).collect();
    side.points.insert(SEND.name.into(), since(own.0));
    side.points.insert(RETURNED.name.into(), since(own.1));
    // The first message comes to the end that answers before its program has it.
    let first_sent = sent.first().copied().unwrap_or_default();
    let is_ours = |stamp: &&Stamp| match stamp.point {
        Point::Locked | Point::Queued | Point::Transmitted => stamp.ns >= first_sent,
        Point::Waking | Point::Woken | Point::Running => false,
        _ => !asks || stamp.ns >= first_sent,
    };
    (stamps.iter().filter(is_ours).count() as u64).saturating_sub(used)
}

/// Of a program that is not ours: each message that came with the one that went out after it, since the first stamp; and how many
/// have more than one packet. It begins with an arrival; what comes after something went out is the next one's.
pub fn cycles(stamps: &[Stamp]) -> (BTreeMap<String, Vec<Option<u64>>>, u64) {
    let is_out = |stamp: &Stamp| OUT.iter().any(|(point, _)| *point == stamp.point);
    let mut starts = Vec::new();
    // Until something came nothing can be told of what goes out.
    let mut went = true;
    for (at, stamp) in stamps.iter().enumerate() {
        if stamp.point == Point::Arrived && went {
            starts.push(at);
            went = false;
        }
        went |= is_out(stamp);
    }
    let (mut columns, mut several): (BTreeMap<String, Vec<Option<u64>>>, u64) = (BTreeMap::new(), 0);
    let first = stamps.first().map_or(0, |stamp| stamp.ns);
    let ends = starts.iter().skip(1).copied().chain([stamps.len()]);
    for (from, to) in starts.iter().copied().zip(ends) {
        let of_cycle = &stamps[from..to];
        let out = of_cycle.iter().position(is_out).unwrap_or(of_cycle.len());
        let (came, went) = of_cycle.split_at(out);
        let count = |part: &[Stamp], point| part.iter().filter(|stamp| stamp.point == point).count();
        several += u64::from(count(came, Point::Arrived) > 1 || count(went, Point::Transmitted) > 1);
        for (part, points) in [(came, IN), (went, OUT)] {
            for (at, (_, name)) in of_window(part, points).into_iter().zip(points) {
                columns.entry((*name).into()).or_default().push(at.map(|ns| ns - first));
            }
        }
    }
    (columns, several)
}

/// Who asks sends first and has the answer by the time that recv() returns; who answers has the message by then, and sends after it.
fn windows(asks: bool, sent: &[u64], returned: &[u64], exchange: usize) -> Windows {
    let (sent_at, returned_at) = (sent[exchange], returned[exchange]);
    if asks {
        return Windows { came: (sent_at, returned_at), went: (sent_at, returned_at) };
    }
    let before = exchange.checked_sub(1).map_or(0, |earlier| sent[earlier]);
    let next = returned.get(exchange + 1).copied().unwrap_or(u64::MAX);
    Windows { came: (before, returned_at), went: (sent_at, next) }
}

fn within(stamps: &[Stamp], from: u64, to: u64) -> &[Stamp] {
    let begin = stamps.partition_point(|stamp| stamp.ns < from);
    let end = stamps.partition_point(|stamp| stamp.ns <= to);
    &stamps[begin..end.max(begin)]
}

/// The first event of each point behind those of the points before it. A message's way begins anew with its first point: a thread
/// that is woken before anything came was woken for something else.
fn of_window(stamps: &[Stamp], points: &[(Point, &str)]) -> Vec<Option<u64>> {
    let mut row: Vec<Option<u64>> = vec![None; points.len()];
    let mut furthest = 0;
    for stamp in stamps {
        let Some(at) = points.iter().position(|(point, _)| *point == stamp.point) else { continue };
        if at == 0 && row[0].is_none() {
            row.fill(None);
            furthest = 0;
        }
        if at >= furthest && row[at].is_none() {
            row[at] = Some(stamp.ns);
            furthest = at;
        }
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamps(of: &[(u64, Point)]) -> Vec<Stamp> {
        of.iter().map(|(ns, point)| Stamp { ns: *ns, point: *point }).collect()
    }

    #[test]
    fn events_go_to_their_exchange() {
        use Point::{Arrived, Locked, Queued, Ready, Running, Transmitted, Waking};
        let seen = stamps(&[
            (101, Locked),
            (105, Queued),
            (106, Transmitted),
            // Woken for something else, before anything came.
            (110, Waking),
            (111, Running),
            (120, Arrived),
            (125, Ready),
            (130, Waking),
            (140, Running),
            (201, Locked),
            (205, Queued),
            (206, Transmitted),
            (220, Arrived),
            (225, Ready),
            // It did not sleep.
        ]);
        let mut side = TraceSide::default();
        let strays = put_beside(&seen, true, (&[100, 200], &[150, 250]), 100, &mut side);
        let column = |name: &str| side.points[name].clone();
        assert_eq!(column("locked"), [Some(1), Some(101)]);
        assert_eq!(column("arrived"), [Some(20), Some(120)]);
        assert_eq!((column("waking"), column("running")), (vec![Some(30), None], vec![Some(40), None]));
        assert_eq!(column("returned"), [Some(50), Some(150)]);
        assert_eq!((strays, side.points.contains_key("probed")), (0, false));
    }

    #[test]
    fn events_of_a_lost_exchange_go_to_no_other() {
        use Point::{Arrived, Queued};
        let seen = stamps(&[(90, Arrived), (112, Queued), (150, Arrived), (190, Arrived), (212, Queued)]);
        let mut side = TraceSide::default();
        // Of three the second one was lost.
        put_beside(&seen, false, (&[110, 0, 210], &[100, 0, 200]), 50, &mut side);
        assert_eq!(side.points["queued"], [Some(62), None, Some(162)]);
        assert_eq!(side.points["arrived"], [Some(40), None, Some(100)]);
        assert_eq!(side.points["returned"], [Some(50), None, Some(150)]);
    }

    #[test]
    fn messages_of_a_running_program_are_told_apart() {
        use Point::{Arrived, Queued, Ready, Running, Transmitted};
        let seen = stamps(&[
            (90, Queued),
            (100, Arrived),
            (105, Arrived),
            (110, Ready),
            (120, Running),
            (130, Queued),
            (131, Transmitted),
            (150, Running),
            (200, Arrived),
            (210, Ready),
            (230, Queued),
        ]);
        let (points, several) = cycles(&seen);
        assert_eq!((&points["arrived"], several), (&vec![Some(10), Some(110)], 1));
        assert_eq!(
            (&points["running"], &points["queued"]),
            (&vec![Some(30), None], &vec![Some(40), Some(140)])
        );
        assert_eq!((points["transmitted"].as_slice(), cycles(&[]).1), (&[Some(41), None][..], 0));
    }

    #[test]
    fn the_answering_end_has_its_message_before_it_sends() {
        use Point::{Arrived, Queued, Transmitted};
        let seen = stamps(&[
            (90, Arrived),
            (112, Queued),
            (113, Transmitted),
            (190, Arrived),
            (212, Queued),
            // Sent again, after all was over.
            (213, Transmitted),
            (300, Queued),
        ]);
        let mut side = TraceSide::default();
        let strays = put_beside(&seen, false, (&[110, 210], &[100, 200]), 50, &mut side);
        assert_eq!(side.points["arrived"], [Some(40), Some(140)]);
        assert_eq!(side.points["transmitted"], [Some(63), Some(163)]);
        assert_eq!(strays, 1, "what was sent when all was over");
    }
}
