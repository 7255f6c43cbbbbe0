//! Known states come out as known lanes.

use super::*;
use crate::plan::Block;
use crate::record::synthetic::Synthetic;
use crate::record::{Flow, RoleRecord, Tally};
use crate::vocabulary::{Does, Pattern};

const MS: u64 = 1_000_000;

/// A stage that was watched for two units of 10 ms from a moment on, in parts of 1 ms, with what it waited for in each.
fn stage(of: &str, begun_ns: u64, input: &[u8], room: &[u8]) -> Activity {
    let spent = [(Doing::WaitsForInput, input.to_vec()), (Doing::WaitsForRoom, room.to_vec())].into();
    let done_ns = vec![10 * MS, 20 * MS];
    Activity { of: of.into(), begun_ns, done_ns, part_ns: MS, unit: 7, spent, ..Activity::default() }
}

fn trial(pass: u32, stages: Vec<(u16, Activity)>) -> Trial {
    let role = |(host, activity): (u16, Activity)| {
        let tally = Some(Box::new(Tally { activities: vec![activity], ..Tally::default() }));
        let flows = vec![Flow { tally, ..Flow::default() }];
        let (does, samples) = (Does::Stages, BTreeMap::new());
        RoleRecord { host: HostId(host), does, flows, histogram: None, samples, pair: 0 }
    };
    let case = Case { pattern: Pattern::Pipeline, ..Case::default() };
    let roles = stages.into_iter().map(role).collect();
    Trial { step: 0, pass, why: Default::default(), case, block: Block::default(), roles }
}

fn recording(machines: [&str; 2]) -> Recording {
    let mut hosts = Synthetic::default().recording().hosts;
    hosts.iter_mut().zip(machines).for_each(|(host, machine)| host.machine = machine.into());
    Recording { hosts, ..Recording::default() }
}

/// `read` on host a works for 4 ms and waits for room; `view` on host b waits for 6 ms and works.
fn usual(b_begun_ns: u64) -> Trial {
    let read = stage("read", 1000 * MS, &[], &[0, 0, 0, 0, 100, 100, 100, 100, 100, 50]);
    trial(1, vec![(1, stage("view", b_begun_ns, &[100; 6], &[])), (0, read)])
}

#[test]
fn known_states_come_out_as_known_lanes() {
    let trial = usual(1002 * MS);
    let values = of_point(&recording(["m", "m"]), Some("view"), &[&trial], String::new()).unwrap();
    assert_eq!((values.clocks, values.unit, values.units, values.span_ns), (1, 7, 1, 10e6));
    let names: Vec<(HostId, &str)> = values.lanes.iter().map(|lane| (lane.host, &*lane.of)).collect();
    assert_eq!(names, [(HostId(0), "read"), (HostId(1), "view")], "by host, however they were told");
    let piece = |from: u64, to: u64, doing, low, high| Piece {
        from_ns: (from * MS) as f64,
        to_ns: (to * MS) as f64,
        doing,
        low,
        high,
    };
    use Doing::{WaitsForInput, WaitsForRoom, Works};
    // One machine: the unit is that of `view`, which began it 2 ms later.
    assert_eq!(values.lanes[1].pieces, [piece(0, 6, WaitsForInput, 0.0, 1.0), piece(6, 10, Works, 0.0, 1.0)]);
    let read = [
        piece(0, 2, Works, 0.0, 1.0),
        piece(2, 7, WaitsForRoom, 0.0, 1.0),
        piece(7, 8, Works, 0.0, 0.5),
        piece(7, 8, WaitsForRoom, 0.5, 1.0),
        piece(8, 10, Works, 0.0, 1.0),
    ];
    assert_eq!(values.lanes[0].pieces, read);
    let totals = values.lanes[0].totals();
    assert_eq!((totals[&Works], totals[&WaitsForRoom]), (4.5e6, 5.5e6));
}

#[test]
fn lanes_of_other_machines_begin_with_their_first_thread() {
    // The other machine's clock says whatever it says.
    let trial = usual(77 * MS);
    let values = of_point(&recording(["m", "n"]), Some("view"), &[&trial], String::new()).unwrap();
    assert_eq!((values.clocks, values.span_ns), (2, 10e6));
    let first = |lane: usize| values.lanes[lane].pieces[0];
    assert_eq!((first(0).from_ns, first(0).to_ns, first(0).doing), (0.0, 4e6, Doing::Works));
    assert_eq!((first(1).from_ns, first(1).to_ns, first(1).doing), (0.0, 6e6, Doing::WaitsForInput));
}

#[test]
fn what_was_not_watched_is_blank() {
    let values = |began: u64| {
        of_point(&recording(["m", "m"]), Some("view"), &[&usual(began * MS)], String::new()).unwrap()
    };
    let reach = |lane: &LaneValues| {
        let ends = lane.pieces.iter().map(|piece| (piece.from_ns, piece.to_ns));
        ends.fold((f64::MAX, 0.0_f64), |(from, to), piece| (from.min(piece.0), to.max(piece.1)))
    };
    // Ahead by more than was watched: from when the first was watched.
    let ahead = values(1016);
    assert_eq!(
        (ahead.span_ns, reach(&ahead.lanes[0]), reach(&ahead.lanes[1])),
        (26e6, (0.0, 20e6), (16e6, 26e6))
    );
    let far_ahead = values(1500);
    assert_eq!((far_ahead.span_ns, far_ahead.lanes[0].pieces.len()), (10e6, 0));
}

#[test]
fn the_middle_pass_is_shown() {
    let of = |pass: u32, ns: u64| {
        let one = Activity { done_ns: vec![ns, 2 * ns], ..stage("view", 0, &[], &[]) };
        trial(pass, vec![(0, one)])
    };
    let trials = [of(1, 30 * MS), of(2, 10 * MS), of(3, 12 * MS)];
    let trials: Vec<&Trial> = trials.iter().collect();
    let values = of_point(&recording(["m", "m"]), Some("view"), &trials, String::new()).unwrap();
    assert_eq!((values.pass, values.passes, values.span_ns), (3, 3, 12e6));
}

#[test]
fn what_no_thread_can_have_told_is_left_out() {
    let sound = stage("view", 1000 * MS, &[], &[]);
    assert!(is_sound(&sound));
    let damaged = [
        Activity { part_ns: 1, done_ns: vec![1 << 59], ..sound.clone() },
        Activity { part_ns: 0, ..sound.clone() },
        Activity { begun_ns: u64::MAX, ..sound.clone() },
        Activity { done_ns: vec![0, 5], ..sound.clone() },
        Activity { done_ns: vec![9, 5], ..sound.clone() },
        Activity { done_ns: vec![], ..sound },
    ];
    for one in damaged {
        assert!(!is_sound(&one), "{one:?}");
    }
}

#[test]
fn recordings_without_watched_threads_have_no_time_line() {
    let empty = trial(1, vec![(0, Activity::default())]);
    assert_eq!(of_point(&recording(["m", "m"]), Some("view"), &[&empty], String::new()), None);
}
