//! Who gets what, and who waits for it.

use super::*;
use std::sync::atomic::{AtomicBool, Ordering};

fn taken(outbox: &Outbox, copy: usize) -> Option<u8> {
    outbox.take(copy).unwrap().map(|buffer| buffer[0])
}

#[test]
fn buffers_are_handed_out_in_turn_or_on_demand() {
    let deal = |hand_out| {
        let outbox = Outbox::new(2, hand_out, 4);
        (0..4).for_each(|nth| assert_eq!(outbox.put(vec![nth]), Ok(0)));
        outbox.end();
        outbox
    };
    let in_turn = deal(HandOut::RoundRobin);
    assert_eq!([0, 0, 0].map(|copy| taken(&in_turn, copy)), [Some(0), Some(2), None]);
    assert_eq!([1, 1, 1].map(|copy| taken(&in_turn, copy)), [Some(1), Some(3), None]);
    let on_demand = deal(HandOut::DemandDriven);
    assert_eq!([0, 1, 1, 1].map(|copy| taken(&on_demand, copy)), [Some(0), Some(1), Some(2), Some(3)]);
    assert_eq!([0, 1].map(|copy| taken(&on_demand, copy)), [None, None]);
}

#[test]
fn the_least_loaded_copy_is_given_more() {
    let outbox = Outbox::new(2, HandOut::LeastLoaded, 4);
    outbox.put(vec![0]).unwrap();
    assert_eq!(taken(&outbox, 0), Some(0));
    // Copy 0 has not taken it up yet: the next ones go to copy 1 until it has as many.
    outbox.put(vec![1]).unwrap();
    assert_eq!(taken(&outbox, 1), Some(1));
    outbox.took(1);
    outbox.put(vec![2]).unwrap();
    assert_eq!(taken(&outbox, 1), Some(2));
}

#[test]
fn a_unit_ends_before_the_next_one_begins() {
    let outbox = Outbox::new(2, HandOut::DemandDriven, 4);
    outbox.put(vec![0]).unwrap();
    outbox.end();
    outbox.put(vec![1]).unwrap();
    assert_eq!([0, 0, 0].map(|copy| taken(&outbox, copy)), [Some(0), None, Some(1)]);
    assert_eq!(taken(&outbox, 1), None, "of the first unit nothing was left for it");
}

#[test]
fn an_inbox_is_over_when_all_have_ended() {
    let inbox = Inbox::new(vec![3, 2]);
    inbox.put(0, Some(vec![1])).unwrap();
    inbox.put(0, None).unwrap();
    inbox.put(0, Some(vec![9])).unwrap();
    inbox.put(1, Some(vec![2])).unwrap();
    inbox.put(1, None).unwrap();
    let next = || inbox.take().unwrap().0.map(|buffer| buffer[0]);
    assert_eq!([next(), next(), next(), next()], [Some(1), Some(2), None, Some(9)]);
}

/// Who waits for room is woken when half of it is free, and fills it: no buffer is lost or left, whatever the limit.
#[test]
fn every_buffer_comes_through_whatever_the_room() {
    const UNITS: usize = 400;
    for limit in [1, 2, 3, 4, 5] {
        let (inbox, outbox) = (Inbox::new(vec![limit; 2]), Outbox::new(2, HandOut::DemandDriven, limit));
        let taken = std::thread::scope(|scope| {
            scope.spawn(|| {
                for unit in 0..UNITS {
                    for nth in 0..unit % 4 {
                        outbox.put(vec![nth as u8]).unwrap();
                    }
                    outbox.end();
                }
            });
            for copy in 0..2 {
                let (inbox, outbox) = (&inbox, &outbox);
                scope.spawn(move || {
                    for _ in 0..UNITS {
                        while let Some(buffer) = outbox.take(copy).unwrap() {
                            inbox.put(copy, Some(buffer)).unwrap();
                        }
                        inbox.put(copy, None).unwrap();
                    }
                });
            }
            (0..UNITS).map(|_| std::iter::from_fn(|| inbox.take().unwrap().0).count()).collect::<Vec<_>>()
        });
        assert_eq!(taken, (0..UNITS).map(|unit| unit % 4).collect::<Vec<_>>(), "{limit}");
    }
}

#[test]
fn who_finds_no_room_waits_until_there_is_or_it_is_over() {
    let inbox = Inbox::new(vec![1]);
    let taken = AtomicBool::new(false);
    inbox.put(0, Some(vec![1])).unwrap();
    std::thread::scope(|scope| {
        let put = scope.spawn(|| inbox.put(0, Some(vec![2])).map(|_| taken.load(Ordering::SeqCst)));
        taken.store(true, Ordering::SeqCst);
        inbox.take().unwrap();
        assert_eq!(put.join().unwrap(), Ok(true), "it found room before there was any");
        let put = scope.spawn(|| inbox.put(0, Some(vec![3])));
        inbox.stop();
        assert_eq!(put.join().unwrap(), Err(Stopped));
    });
}
