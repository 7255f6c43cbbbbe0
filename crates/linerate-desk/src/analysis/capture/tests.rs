//! Packets that are made up, and what must be said of them.

use super::*;
use crate::record::{Packet, encode_packets};
use proptest::prelude::*;

/// Data of the sender, or an acknowledgement of the receiver: Ethernet, IPv4, TCP.
fn packet(ns: u64, outgoing: bool, sequence: u32, acknowledged: u32, bytes: u16, window: u16) -> Packet {
    let mut head = vec![0; 54];
    head[12..14].copy_from_slice(&[8, 0]);
    head[14] = 0x45;
    head[16..18].copy_from_slice(&(40 + bytes).to_be_bytes());
    head[23] = 6;
    head[38..42].copy_from_slice(&sequence.to_be_bytes());
    head[42..46].copy_from_slice(&acknowledged.to_be_bytes());
    (head[46], head[47]) = (0x50, 0x10);
    head[48..50].copy_from_slice(&window.to_be_bytes());
    Packet { ns, length: 54 + u32::from(bytes), outgoing, head }
}

/// Just below where sequence numbers wrap.
const FIRST: u32 = u32::MAX - 1500;

fn data(ns: u64, at: u32) -> Packet {
    packet(ns, true, FIRST.wrapping_add(at), 7, 1000, 100)
}

fn ack(ns: u64, at: u32) -> Packet {
    packet(ns, false, 7, FIRST.wrapping_add(at), 0, 40)
}

fn capture(sender: &[Packet], receiver: &[Packet]) -> Capture {
    let side =
        |packets: &[Packet]| CapturedSide { packets: encode_packets(packets), ..CapturedSide::default() };
    let mut sides = vec![side(sender), side(receiver)];
    sides[0].tcp_last = [("snd_wscale", 7), ("snd_mss", 1000), ("rtt", 50), ("min_rtt", 40)]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
    Capture { sides, ..Capture::default() }
}

fn arrived(packets: &[Packet]) -> Vec<Packet> {
    packets.iter().map(|packet| Packet { outgoing: !packet.outgoing, ..packet.clone() }).collect()
}

#[test]
fn windows_and_round_trips_are_those_put_in() {
    let sent = [
        data(0, 0),
        data(10, 1000),
        data(20, 2000),
        ack(50_010, 2000),
        ack(60_020, 3000),
        data(100_000, 3000),
        ack(140_000, 4000),
    ];
    let of = analyse_capture(&capture(&sent, &arrived(&sent)));
    assert_eq!((of.packets, of.in_flight_most), ([7, 7], 3000));
    assert_eq!((of.advertised, of.advertised_aligned), (Some([5120, 5120]), Some([5000, 5000])));
    assert_eq!((of.acknowledged, of.window_full_share), (Some(1000.0), Some(0.0)));
    assert_eq!((of.series.len(), of.series[0].in_flight, of.series[4].in_flight), (5, 3000, 0));
    assert_eq!(
        (of.round_trips, of.round_trip_ns, of.least_round_trip_ns),
        (3, Some(50_000.0), Some(40_000.0))
    );
    assert_eq!((of.again, of.out_of_order, of.in_vain), (0, 0, 0));
    assert_eq!((of.tcp_least_round_trip_ns, of.tcp_round_trip_ns), (Some(40_000), Some(50_000)));
    assert_eq!(of.in_flight_half, 1000, "of 100 µs it was none for 40 and so much for 10");
}

#[test]
fn what_is_sent_again_is_told_from_what_is_late() {
    let sent = [data(0, 0), data(10, 1000), data(20, 2000), data(30, 3000), data(500, 1000), ack(900, 4000)];
    // The second was lost, the third and fourth changed places.
    let lost = [&sent[0], &sent[3], &sent[2], &sent[4]].map(Clone::clone);
    let of = analyse_capture(&capture(&sent, &arrived(&lost)));
    assert_eq!((of.again, of.out_of_order, of.in_vain), (1, 1, 0));
    assert_eq!(
        (of.round_trips, of.again_by_timer),
        (0, 1),
        "which of the two is acknowledged cannot be told"
    );
    let of = analyse_capture(&capture(&sent, &arrived(&sent)));
    assert_eq!((of.again, of.out_of_order, of.in_vain), (1, 0, 1), "it was there");
}

#[test]
fn a_part_of_what_was_sent_as_one_is_no_disorder() {
    // A super-packet of two segments is sent again, and comes as two packets.
    let sent = [data(0, 0), packet(10, true, FIRST.wrapping_add(1000), 7, 2000, 100), data(20, 3000)];
    let again = packet(500, true, FIRST.wrapping_add(1000), 7, 2000, 100);
    let came = [data(30, 0), data(40, 3000), data(600, 1000), data(610, 2000)];
    let mut of_sender = sent.to_vec();
    of_sender.push(again);
    let of = analyse_capture(&capture(&of_sender, &arrived(&came)));
    assert_eq!((of.again, of.out_of_order, of.in_vain), (1, 0, 0));
}

#[test]
fn a_window_without_room_for_a_segment_is_full() {
    // 5120 bytes are advertised: of six segments the sixth does not fit.
    let mut all = vec![data(0, 0), ack(10, 1000)];
    all.extend((1..6).map(|nth| data(10 + u64::from(nth), 1000 * nth)));
    all.extend([ack(115, 2000), data(120, 6000)]);
    let of = analyse_capture(&capture(&all, &[]));
    assert_eq!((of.in_flight_most, of.advertised), (5000, Some([5120, 5120])));
    assert_eq!(of.window_full_share, Some(100.0 / 110.0), "from the fifth until one was acknowledged");
}

proptest! {
    #[test]
    fn any_packets_give_finite_numbers(of in prop::collection::vec((any::<u64>(), any::<bool>(), prop::collection::vec(any::<u8>(), 0..80)), 0..20)) {
        let packets: Vec<Packet> = of
            .into_iter()
            .map(|(ns, outgoing, mut head)| {
                if let Some(at) = head.get_mut(12..15) {
                    at.copy_from_slice(&[8, 0, 0x45]);
                }
                Packet { ns, length: 60, outgoing, head }
            })
            .collect();
        let of = analyse_capture(&capture(&packets, &packets));
        prop_assert!(of.window_full_share.is_none_or(|share| (0.0..=1.0).contains(&share)));
    }
}
