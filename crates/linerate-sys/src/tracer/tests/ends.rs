//! Two hosts of one kernel are stamped by the programs of one of them.

use super::devices::done;
use super::{Beside, MapIds, Point, Stamp, Stamping, Tracer, Ways, may_not, watched_at};
use crate::{namespace, thread};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};

const EXCHANGES: usize = 3;

/// The end that answers, and stamps by the other one's programs; of the second exchange nothing is stamped here. With its socket: the
/// end of a connection would make the other one ready.
fn answers(tell: &Sender<String>, maps: &Receiver<Option<MapIds>>) -> (Vec<Stamp>, u64, TcpStream) {
    namespace::become_another_host().unwrap();
    tell.send(format!("/proc/{}/task/{}/ns/net", std::process::id(), thread::current().number())).unwrap();
    maps.recv().unwrap();
    done("ip", "addr add 10.9.8.2/24 dev vb");
    done("ip", "link set vb up");
    let listener = TcpListener::bind("10.9.8.2:0").unwrap();
    tell.send(listener.local_addr().unwrap().to_string()).unwrap();
    let (mut socket, _) = listener.accept().unwrap();
    socket.set_nodelay(true).unwrap();
    let ids = maps.recv().unwrap().unwrap();
    let mut beside = Beside::open(ids, &Tracer::load(&[]).unwrap()).unwrap();
    beside.begin(watched_at(&socket)).unwrap();
    socket.write_all(&[0]).unwrap();
    let switch = beside.switch().unwrap();
    let mut room = [0; 64];
    for exchange in 0..EXCHANGES {
        socket.read_exact(&mut room).unwrap();
        socket.write_all(&room).unwrap();
        // Before the next one is asked for.
        switch.set(if exchange == 0 { Ways::NONE } else { Ways::BOTH });
        tell.send(String::new()).unwrap();
    }
    let (stamps, lost) = beside.end().unwrap();
    (stamps, lost, socket)
}

#[track_caller]
fn are_of(stamps: &[Stamp], lost: u64, exchanges: usize, lacks: impl Fn(Point) -> bool) {
    for point in [Point::Arrived, Point::Received, Point::Ready, Point::Queued, Point::Transmitted] {
        let count = stamps.iter().filter(|stamp| stamp.point == point).count();
        assert_eq!(count, if lacks(point) { 0 } else { exchanges }, "{point:?}: {stamps:?}");
    }
    assert!(stamps.iter().any(|stamp| stamp.point == Point::Running) && lost == 0, "{stamps:?}");
}

#[test]
fn both_ends_are_stamped_by_the_programs_of_one() {
    if let Some(why) = may_not() {
        return println!("SKIP: both_ends_are_stamped_by_the_programs_of_one: {why}");
    }
    let ((tell, told), (share, maps)) = (channel(), channel());
    let other = std::thread::spawn(move || answers(&tell, &maps));
    let own = std::thread::spawn(move || {
        namespace::become_another_host().unwrap();
        done("ip", "link add va type veth peer name vb");
        done("ip", &format!("link set vb netns {}", told.recv().unwrap()));
        done("ip", "addr add 10.9.8.1/24 dev va");
        done("ip", "link set va up");
        share.send(None).unwrap();
        let mut socket = TcpStream::connect(told.recv().unwrap()).unwrap();
        socket.set_nodelay(true).unwrap();
        let mut tracer = Tracer::load(&[]).unwrap();
        share.send(tracer.maps()).unwrap();
        socket.read_exact(&mut [0]).unwrap();
        tracer.begin(watched_at(&socket)).unwrap();
        for _ in 0..EXCHANGES {
            socket.write_all(&[7; 64]).unwrap();
            socket.read_exact(&mut [0; 64]).unwrap();
            told.recv().unwrap();
        }
        let (stamps, lost) = tracer.end().unwrap();
        are_of(&stamps, lost, EXCHANGES, |point| tracer.lacks(point));
        (tracer, socket)
    });
    let (tracer, _open) = own.join().unwrap();
    let (stamps, lost, _others) = other.join().unwrap();
    are_of(&stamps, lost, EXCHANGES - 1, |point| tracer.lacks(point));
}
