//! Datagrams arrive one by one as they were put, however they travelled.

use super::*;
use std::net::UdpSocket;

fn pair(place: &str) -> (UdpSocket, UdpSocket) {
    let [near, far] = [(); 2].map(|()| UdpSocket::bind(place).unwrap());
    near.connect(far.local_addr().unwrap()).unwrap();
    far.connect(near.local_addr().unwrap()).unwrap();
    far.set_read_timeout(Some(std::time::Duration::from_secs(5))).unwrap();
    (near, far)
}

/// Sends `count` datagrams with their numbers in front; gives what was carried at both ends.
fn carry(place: &str, sharing: Sharing, len: usize, count: u32) -> [Carried; 2] {
    let (near, far) = pair(place);
    can_segment(&near).unwrap();
    if sharing == Sharing::Packets {
        receive_joined(&far).unwrap();
    }
    let mut sender = Sender::new(&near, sharing, len).unwrap();
    let mut receiver = Receiver::new(sharing, len).unwrap();
    let content = Pages::filled(len).unwrap();
    let (mut expected, mut began_in, mut began_out) = (0u32, 0, 0);
    let mut take = |receiver: &mut Receiver, until: u32| {
        while expected < until {
            let datagram = receiver.next::<true>(&far).unwrap().expect("a datagram was lost");
            let head = expected.to_le_bytes();
            let head = &head[..len.min(4)];
            assert_eq!((datagram.len(), &datagram[..head.len()]), (len, head), "{sharing:?} {expected}");
            assert!(datagram[head.len()..] == content[head.len()..len]);
            expected += 1;
            began_in += u64::from(receiver.began_packet());
        }
    };
    for number in 0..count {
        began_out += u64::from(sender.begins_packet());
        sender.put(&number.to_le_bytes()[..len.min(4)]);
        if sender.is_full() || number + 1 == count {
            while !sender.is_empty() {
                sender.send::<true>(&near).unwrap();
            }
            take(&mut receiver, number + 1);
        }
    }
    assert!(receiver.next::<false>(&far).unwrap().is_none());
    assert_eq!((began_out, began_in), (sender.carried().packets, receiver.carried().packets));
    [sender.carried(), receiver.carried()]
}

#[test]
fn a_batch_brings_every_datagram_in_order() {
    for place in ["127.0.0.1:0", "[::1]:0"] {
        for len in [1, 18, 1400] {
            let [sent, came] = carry(place, Sharing::Calls, len, 200);
            assert_eq!((sent.packets, sent.datagrams), (200, 200));
            assert_eq!((came.packets, came.datagrams), (200, 200));
            assert_eq!((sent.calls, came.calls >= 4), (4, true));
        }
    }
}

#[test]
fn segments_are_joined_again_and_cost_few_calls() {
    for place in ["127.0.0.1:0", "[::1]:0"] {
        for len in [4, 1400] {
            let [sent, came] = carry(place, Sharing::Packets, len, 100);
            assert_eq!((sent.datagrams, came.datagrams), (100, 100));
            // 46 of 1400 B fit into a packet, and 64 of 4 B may, or more.
            let packets = if len == 4 { 100_usize.div_ceil(most_segments()) as u64 } else { 3 };
            assert_eq!((sent.packets, came.packets), (packets, packets));
            // A call has as many packets as the caches keep: one of 64 KiB, eight small ones.
            assert_eq!(sent.calls, if len == 4 { 1 } else { 3 });
        }
    }
}

#[test]
fn a_packet_has_what_the_kernel_takes() {
    let cases = [
        ("6.8.0-45-generic", (6, 8)),
        ("6.18.44-fc", (6, 18)),
        ("10.1", (10, 1)),
        ("6", (6, 0)),
        ("", (0, 0)),
    ];
    assert!(cases.iter().all(|(release, numbers)| version(release) == *numbers));
    assert!([64, 128].contains(&most_segments()));
    assert_eq!(shared(Sharing::Packets, 1400, true), (46, 1));
    assert_eq!(shared(Sharing::Packets, 1, true), (most_segments(), 8));
    assert_eq!(shared(Sharing::Packets, 40_000, false), (1, 1));
    assert_eq!(shared(Sharing::Calls, 1400, true), (1, 64));
}

#[test]
fn what_no_packet_can_share_goes_alone() {
    let [sent, came] = carry("127.0.0.1:0", Sharing::Packets, 40_000, 3);
    assert_eq!((sent.packets, sent.datagrams, came.datagrams), (3, 3, 3));
}

#[test]
fn single_and_empty_datagrams_arrive() {
    let (near, far) = pair("127.0.0.1:0");
    receive_joined(&far).unwrap();
    let mut receiver = Receiver::new(Sharing::Packets, 10).unwrap();
    near.send(&[]).unwrap();
    near.send(b"one").unwrap();
    assert_eq!(receiver.next::<true>(&far).unwrap(), Some(&b""[..]));
    assert_eq!(receiver.next::<true>(&far).unwrap(), Some(&b"one"[..]));
    assert_eq!(receiver.next::<false>(&far).unwrap(), None);
}
