//! Stamps of level 0 that are of no message, of lost ones, and of a sample.

use super::*;
use std::net::{TcpListener, TcpStream};

#[test]
fn ids_of_no_message_are_counted_and_put_nowhere() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let socket = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let ids = |cuts| Ids::Bytes { cuts, ahead: 1 };
    let mut stamped = Stamped::new(&socket, ids(vec![0, 10]), 3, Sample::new(1)).unwrap();
    let sent = |id| Sent { passed: Passed::Queued, id, ns: 7 };
    stamped.take(sent(0));
    assert_eq!(stamped.strays, 0, "the byte ahead of them");
    stamped.take(sent(10));
    stamped.take(sent(30));
    assert_eq!((stamped.strays, stamped.column(AT_QUEUED)), (0, &[7, 0, 7][..]));
    for id in [5, 29, 40, u32::MAX] {
        stamped.take(sent(id));
    }
    assert_eq!((stamped.strays, stamped.column(AT_QUEUED)), (4, &[7, 0, 7][..]));
    stamped.ids = ids(vec![0, 5, 10]);
    stamped.take(sent(15));
    assert_eq!(stamped.strays, 4, "the first of two calls of the second message");
    stamped.take(sent(20));
    assert_eq!(stamped.column(AT_QUEUED), [7, 7, 7]);
}

#[test]
fn datagrams_that_were_lost_leave_the_others_their_stamps() {
    let port = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let mut stamped = Stamped::new(&port, Ids::Datagrams(Vec::new()), 4, Sample::new(1)).unwrap();
    stamped.asked(0, 10, 20).unwrap();
    // The second one's answer did not come back, and the answering end had not the third.
    stamped.lost(1, true).unwrap();
    stamped.arrived = 25;
    stamped.lost(2, false).unwrap();
    stamped.asked(3, 30, 40).unwrap();
    for (id, ns) in [(0, 11), (1, 21), (2, 31), (3, 41)] {
        stamped.take(Sent { passed: Passed::Transmitted, id, ns });
    }
    assert_eq!((stamped.column(AT_TRANSMITTED), stamped.strays), (&[11, 0, 0, 31][..], 1));
    let mut side = TraceSide::default();
    assert_eq!(stamped.end(0, &mut side).unwrap(), [10, 0, 0, 10]);
    assert_eq!(side.points["send"], [Some(0), None, None, Some(20)]);
    assert_eq!(side.points["arrived"][3], Some(15), "of the one that came");
}

/// Of eight exchanges every other one is stamped, from the second one on. Two are lost, of which the fourth is a stamped one.
#[test]
fn lost_datagrams_leave_a_sample_its_stamps() {
    let at = |exchange: usize| 100 * exchange as u64 + 10;
    let port = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    for was_sent in [true, false] {
        let sample = Sample::new(2);
        let mut stamped = Stamped::new(&port, Ids::Datagrams(Vec::new()), 8, sample).unwrap();
        for exchange in 0..8 {
            stamped.begin(exchange);
            match exchange {
                2 | 3 => stamped.lost(exchange, was_sent).unwrap(),
                _ => {
                    stamped.arrived = if sample.has(exchange) { at(exchange) + 5 } else { 0 };
                    stamped.asked(exchange, at(exchange), at(exchange) + 10).unwrap();
                }
            }
        }
        // What was sent and lost has an id.
        let sent: &[usize] = if was_sent { &[1, 3, 5, 7] } else { &[1, 5, 7] };
        for (id, exchange) in sent.iter().enumerate() {
            stamped.take(Sent { passed: Passed::Transmitted, id: id as u32, ns: at(*exchange) + 2 });
        }
        stamped.take(Sent { passed: Passed::Transmitted, id: sent.len() as u32, ns: 1 });
        assert_eq!((stamped.column(AT_TRANSMITTED)[3], stamped.strays), (0, 1), "of no exchange");
        let mut side = TraceSide::default();
        assert_eq!(stamped.end(0, &mut side).unwrap(), [10, 10, 0, 0, 10, 10, 10, 10]);
        for (point, ns) in [("send", 0), ("transmitted", 2), ("arrived", 5), ("returned", 10)] {
            let since_first = |exchange: usize| Some(at(exchange) - at(0) + ns);
            assert_eq!(side.points[point], [since_first(1), None, since_first(5), since_first(7)], "{point}");
        }
        assert!(
            [0, 4].contains(&side.run_delay_ns.len()),
            "one of each that is stamped, where it is counted"
        );
    }
}
