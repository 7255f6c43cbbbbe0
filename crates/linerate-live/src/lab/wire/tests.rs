//! The wire in virtual time.

use super::course::{Course, Due};
use super::flight::Flight;
use super::frame::tests::super_packet;
use crate::plan::{Coalescing, Target, Topology};
use std::rc::Rc;

fn topology(text: &str) -> Topology {
    match format!("lab:{text}").parse().unwrap() {
        Target::Lab(topology) => topology,
        other => panic!("{other}"),
    }
}

fn course(text: &str) -> Course {
    Course::new(&topology(text).wiring(|host| host.to_string()), 7)
}

/// A packet of so many bytes on the wire.
fn packet(bytes: usize, at_ns: f64) -> Flight {
    Flight::new(Rc::new(vec![0; 10 + bytes]), 10 + bytes, 0, 1, at_ns)
}

fn all(course: &mut Course) -> Vec<Due> {
    let mut due = Vec::new();
    course.due(f64::INFINITY, &mut due);
    due
}

fn arrival_ns(text: &str, bytes: usize) -> f64 {
    let mut course = course(text);
    course.enter(packet(bytes, 0.0));
    let due = all(&mut course);
    assert_eq!(due.len(), 1, "{text}");
    due[0].at_ns
}

#[test]
fn each_hop_serialises_and_one_delays() {
    // 1250 B at 100 Mb/s are 100 us; a cut-through switch waits for 64 B, 5.12 us.
    let cases = [
        ("rate=100Mb/s", 100_000.0),
        ("rate=100Mb/s,delay=1ms", 1_100_000.0),
        ("rate=100Mb/s,hops=1", 200_000.0),
        ("rate=100Mb/s,hops=3", 400_000.0),
        ("rate=100Mb/s,hops=1,switch=cut-through", 105_120.0),
        ("rate=100Mb/s,hops=3,switch=cut-through", 115_360.0),
        ("delay=7ms", 7_000_000.0),
        ("hosts=3,rate=100Mb/s", 200_000.0),
    ];
    for (text, expected) in cases {
        let found = arrival_ns(text, 1250);
        assert!((found - expected).abs() < 1.0, "{text}: {found}");
    }
}

#[test]
fn a_super_packet_crosses_switches_by_packets() {
    // Ten packets of 1514 B over two hops: (10 + 2) frames' times, whether they come as one or as ten.
    let frame_ns = 1514.0 * 8e9 / 1e9;
    let mut course = course("rate=1Gb/s,hops=2");
    let frame = super_packet(10 * 1448, 1448);
    let length = frame.len();
    course.enter(Flight::new(Rc::new(frame), length, 0, 1, 0.0));
    let due = all(&mut course);
    let segments: usize = due.iter().map(|due| due.flight.segments.len()).sum();
    assert_eq!(segments, 10);
    let last = due.last().unwrap().at_ns;
    assert!((last - 12.0 * frame_ns).abs() < 1.0, "{last}");
}

#[test]
fn a_late_look_keeps_a_saturated_links_rate() {
    let mut course = course("rate=1Gb/s,queue=4MiB");
    let frame = super_packet(44 * 1448, 1448);
    let mut bytes = 0.0;
    for at in 0..50 {
        let flight = Flight::new(Rc::new(frame.clone()), frame.len(), 0, 1, f64::from(at) * 1000.0);
        bytes += flight.all_bytes();
        course.enter(flight);
    }
    let due = all(&mut course);
    let rate = bytes * 8e9 / due.last().unwrap().at_ns;
    assert!((rate / 1e9 - 1.0).abs() < 1e-9, "{rate}");
    assert!(due.windows(2).all(|two| two[0].at_ns <= two[1].at_ns));
    // No piece is longer than 200 us, so none comes much later than its first bits.
    assert!(due.iter().all(|due| due.flight.all_bytes() * 8.0 <= 200e3));
}

#[test]
fn a_full_queue_drops_only_what_does_not_fit() {
    let mut course = course("rate=100Mb/s,queue=15140");
    for _ in 0..30 {
        course.enter(packet(1514, 0.0));
    }
    assert_eq!(all(&mut course).len(), 10);
    let (links, _) = course.take_counts();
    assert_eq!(links[0].queue_drops, 20);
    assert_eq!(links[0].queue_bytes_max, 15_140);
}

/// Whoever looks only when something may be due hands on all of it in its time.
#[test]
fn nothing_is_due_before_it_is_to_be_looked_at() {
    for text in
        ["hosts=3,rate=100Mb/s", "rate=10Mb/s,hops=3,delay=1ms", "hops=2,rate=1Gb/s,switch=cut-through"]
    {
        let mut course = course(&format!("{text},queue=4MiB"));
        let (mut due, mut looks) = (Vec::new(), 0);
        for at in 0..20 {
            course.enter(packet(60 + 70 * at, 0.0));
        }
        // Its last segment is short, and so is sooner through than the others.
        let frame = super_packet(40 * 1448 + 10, 1448);
        course.enter(Flight::new(Rc::new(frame.clone()), frame.len(), 0, 1, 0.0));
        while let Some(at_ns) = course.next_ns() {
            let before = due.len();
            course.due(at_ns + 1.0, &mut due);
            assert!(due[before..].iter().all(|due| due.at_ns >= at_ns - 1.0), "{text}");
            looks += 1;
        }
        assert_eq!(due.iter().map(|due| due.flight.segments.len()).sum::<usize>(), 61, "{text}");
        assert!(looks < 61 * 4, "{text}: {looks}");
    }
}

/// Sends packets a millisecond apart and tells the share of them that came, came twice, were reordered.
fn shares(text: &str, super_packets: bool) -> (f64, f64, f64) {
    let mut course = course(text);
    let frame = if super_packets { super_packet(40 * 1448, 1448) } else { vec![0; 1000] };
    let count = if super_packets { 10_000 } else { 200_000 };
    let (mut sent, mut came) = (0usize, 0usize);
    for at in 0..count {
        let flight = Flight::new(Rc::new(frame.clone()), frame.len(), 0, 1, f64::from(at) * 1e4);
        sent += flight.segments.len();
        course.enter(flight);
        let mut due = Vec::new();
        course.due(f64::from(at) * 1e4, &mut due);
        came += due.iter().map(|due| due.flight.segments.len()).sum::<usize>();
    }
    came += all(&mut course).iter().map(|due| due.flight.segments.len()).sum::<usize>();
    let (links, reordered) = course.take_counts();
    let twice: u64 = links.iter().map(|link| link.duplicated).sum();
    let share = |count: f64| count / sent as f64;
    (1.0 - share((came - twice as usize) as f64), share(twice as f64), share(reordered as f64))
}

#[test]
fn losses_repeats_and_reorderings_are_as_asked() {
    for super_packets in [false, true] {
        for (text, expected) in [
            ("loss=1%", (0.01, 0.0, 0.0)),
            ("duplicate=2%", (0.0, 0.02, 0.0)),
            ("reorder=3%", (0.0, 0.0, 0.03)),
            ("rate=100Gb/s,loss=0.5%,duplicate=1%", (0.005, 0.01, 0.0)),
        ] {
            let (lost, twice, reordered) = shares(text, super_packets);
            let near = |found: f64, asked: f64| {
                let error = (asked * (1.0 - asked) / 200_000.0).sqrt();
                (found - asked).abs() <= 4.0 * error
            };
            let fits = near(lost, expected.0) && near(twice, expected.1) && near(reordered, expected.2);
            assert!(fits, "{text}, super-packets {super_packets}: {lost} {twice} {reordered}");
        }
    }
}

#[test]
fn losses_come_in_bursts_of_the_asked_mean() {
    let mut course = course("loss=2%,burst=8");
    let mut came = Vec::new();
    for at in 0..400_000 {
        course.enter(packet(100, f64::from(at) * 1e4));
        let mut due = Vec::new();
        course.due(f64::from(at) * 1e4, &mut due);
        came.push(!due.is_empty());
    }
    let lost = came.iter().filter(|came| !**came).count();
    let bursts = came.windows(2).filter(|two| two[0] && !two[1]).count();
    let share = lost as f64 / came.len() as f64;
    assert!((share - 0.02).abs() < 0.003, "{share}");
    assert!((lost as f64 / bursts as f64 - 8.0).abs() < 0.6, "{lost} in {bursts}");
}

#[test]
fn an_idle_wire_ends_a_burst() {
    // One packet each 200 ms, as a sender whose timer runs out: each is lost for itself, and as often.
    let mut course = course("loss=10%,burst=8");
    let mut lost = Vec::new();
    for at in 0..40_000 {
        course.enter(packet(100, f64::from(at) * 2e8));
        lost.push(all(&mut course).is_empty());
    }
    let both = lost.windows(2).filter(|two| two[0] && two[1]).count() as f64;
    let all = lost.iter().filter(|lost| **lost).count() as f64;
    assert!((all / 40_000.0 - 0.1).abs() < 0.006, "{all}");
    assert!((both / all - 0.1).abs() < 0.02, "{both} of {all}");
}

#[test]
fn jitter_is_spread_evenly_and_keeps_the_order() {
    let mut course = course("delay=2ms,jitter=1ms");
    let mut delays: Vec<f64> = Vec::new();
    for at in 0..10_000 {
        let at_ns = f64::from(at) * 1e7;
        course.enter(packet(100, at_ns));
        delays.extend(all(&mut course).iter().map(|due| due.at_ns - at_ns));
    }
    delays.sort_by(f64::total_cmp);
    for (share, expected) in [(0.0, 1e6), (0.25, 1.5e6), (0.5, 2e6), (0.75, 2.5e6), (0.9999, 3e6)] {
        let found = delays[(share * delays.len() as f64) as usize];
        assert!((found - expected).abs() < 4e4, "{share}: {found}");
    }
    // Close together they are in order all the same.
    for at in 0..1000 {
        course.enter(packet(100 + at, 0.0));
    }
    let sizes: Vec<usize> = all(&mut course).iter().map(|due| due.flight.layout.payload).collect();
    assert!(sizes.is_sorted());
}

#[test]
fn a_held_packet_goes_on_if_not_overtaken() {
    let mut course = course("reorder=50%");
    for at in 0..100 {
        course.enter(packet(100, f64::from(at) * 1e9));
        assert_eq!(all(&mut course).len(), 1);
    }
    assert_eq!(course.take_counts().1, 0, "nothing was overtaken");
}

/// When packets of 100 B come that were sent at these times over a link without a rate.
fn arrivals_ns(text: &str, sent_ns: &[f64]) -> Vec<f64> {
    let mut course = course(text);
    let mut due = Vec::new();
    for at_ns in sent_ns {
        course.due(*at_ns, &mut due);
        course.enter(packet(100, *at_ns));
    }
    course.due(f64::INFINITY, &mut due);
    due.into_iter().map(|due| due.at_ns).collect()
}

#[test]
fn an_adapter_holds_from_the_first_frame_on() {
    let sent = [0.0, 10e3, 63e3, 64.5e3, 200e3];
    assert_eq!(arrivals_ns("coalesce=64us", &sent), [64e3, 64e3, 64e3, 128.5e3, 264e3]);
    assert_eq!(arrivals_ns("coalesce=64us,delay=1ms", &[0.0, 10e3]), [1064e3, 1064e3]);
}

#[test]
fn an_adapter_holds_so_many_frames_at_most() {
    // Two by number; the third begins anew, and the interrupt that was to come at 64 us is none of its own.
    let sent = [0.0, 10e3, 20e3, 100e3];
    assert_eq!(arrivals_ns("coalesce=64us,coalesce-frames=2", &sent), [10e3, 10e3, 84e3, 164e3]);
    assert_eq!(arrivals_ns("coalesce=64us,coalesce-frames=1", &sent), sent);
}

#[test]
fn each_host_has_an_adapter_of_its_own() {
    let mut course = course("hosts=3,coalesce=64us,coalesce-frames=2");
    for (from, to, at_ns) in [(0, 1, 0.0), (0, 2, 10e3), (2, 1, 20e3)] {
        course.enter(Flight::new(Rc::new(vec![0; 110]), 110, from, to, at_ns));
    }
    let due: Vec<(usize, f64)> = all(&mut course).iter().map(|due| (due.flight.to, due.at_ns)).collect();
    assert_eq!(due, [(1, 20e3), (1, 20e3), (2, 74e3)]);
    assert_eq!((course.take_interrupts(), course.take_interrupts()), (2, 0));
}

#[test]
fn an_adapter_that_holds_no_longer_hands_on() {
    let mut course = course("coalesce=64us");
    let mut due = Vec::new();
    course.enter(packet(100, 0.0));
    course.due(10e3, &mut due);
    course.set_coalescing(Coalescing::default());
    course.enter(packet(100, 20e3));
    course.enter(packet(100, 90e3));
    course.due(f64::INFINITY, &mut due);
    // The second does not overtake the first.
    let at_ns: Vec<f64> = due.into_iter().map(|due| due.at_ns).collect();
    assert_eq!(at_ns, [64e3, 64e3, 90e3]);
    assert_eq!(course.take_interrupts(), 1);
}
