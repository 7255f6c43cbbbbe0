//! The programs run, see one connection and no other, and go with who loaded them.

mod devices;
mod ends;

use super::*;
use crate::probe;
use crate::thread;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

/// Why nothing can be traced here.
fn may_not() -> Option<String> {
    probe::tracing().err().map(|error| error.to_string())
}

fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let one = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (other, _) = listener.accept().unwrap();
    one.set_nodelay(true).unwrap();
    (one, other)
}

fn watched_at(receiver: &TcpStream) -> Watched {
    let [local_port, remote_port] =
        [receiver.local_addr(), receiver.peer_addr()].map(|at| at.unwrap().port());
    let thread = thread::current().number();
    Watched {
        thread,
        process: 0,
        network: None,
        local_port,
        remote_port,
        cookie: 0,
        datagrams: false,
        least_bytes: [0; 2],
    }
}

#[test]
fn a_message_is_seen_on_its_way_in_and_the_answer_out() {
    if let Some(why) = may_not() {
        return println!("SKIP: a_message_is_seen_on_its_way_in_and_the_answer_out: {why}");
    }
    let (mut asker, mut answerer) = pair();
    let (mut other, mut stranger) = pair();
    let mut tracer = Tracer::load(&[]).unwrap();
    tracer.begin(watched_at(&answerer)).unwrap();
    let sender = std::thread::spawn(move || {
        // The receiver sleeps by then, as a rule.
        std::thread::sleep(std::time::Duration::from_millis(30));
        other.write_all(&[2; 100]).unwrap();
        asker.write_all(&[1; 64]).unwrap();
        asker.read_exact(&mut [0; 64]).unwrap();
        (asker, other)
    });
    let mut room = [0; 64];
    answerer.read_exact(&mut room).unwrap();
    answerer.write_all(&room).unwrap();
    // Until all is told: the end of a connection makes its socket ready, too.
    let _open = sender.join().unwrap();
    stranger.read_exact(&mut [0; 100]).unwrap();
    let (stamps, lost) = tracer.end().unwrap();
    let count = |point| stamps.iter().filter(|stamp| stamp.point == point).count();
    let wanted = [Point::Arrived, Point::Received, Point::Ready, Point::Queued, Point::Transmitted];
    for point in wanted.into_iter().filter(|point| !tracer.lacks(*point)) {
        assert_eq!(count(point), 1, "{point:?}: {stamps:?}");
    }
    assert!(count(Point::Running) >= 1 && lost == 0, "{stamps:?}");
    assert!(stamps.windows(2).all(|two| two[0].ns <= two[1].ns));
    tracer.begin(watched_at(&answerer)).unwrap();
    assert!(tracer.end().unwrap().0.iter().all(|stamp| stamp.point > Point::Ready), "nothing crossed");
}

#[test]
fn what_is_switched_off_is_not_stamped() {
    if let Some(why) = may_not() {
        return println!("SKIP: what_is_switched_off_is_not_stamped: {why}");
    }
    let (mut asker, mut answerer) = pair();
    let mut tracer = Tracer::load(&[]).unwrap();
    let switch = Stamping::switch(&tracer).unwrap();
    tracer.begin(watched_at(&answerer)).unwrap();
    let mut room = [0; 64];
    for ways in [Ways::NONE, Ways::IN, Ways::OUT, Ways::NONE.with(Ways::NONE), Ways::IN.with(Ways::OUT)] {
        switch.set(ways);
        asker.write_all(&room).unwrap();
        answerer.read_exact(&mut room).unwrap();
        answerer.write_all(&room).unwrap();
        asker.read_exact(&mut room).unwrap();
    }
    let (stamps, _) = tracer.end().unwrap();
    let count = |point| stamps.iter().filter(|stamp| stamp.point == point).count();
    for point in [Point::Arrived, Point::Ready, Point::Queued, Point::Transmitted] {
        assert_eq!(count(point), if tracer.lacks(point) { 0 } else { 2 }, "{point:?}: {stamps:?}");
    }
    tracer.begin(watched_at(&answerer)).unwrap();
    asker.write_all(&room).unwrap();
    answerer.read_exact(&mut room).unwrap();
    assert!(tracer.end().unwrap().0.iter().any(|stamp| stamp.point == Point::Arrived), "on again");
}

#[test]
fn tracepoints_that_are_hidden_are_missing_and_no_error() {
    if let Some(why) = may_not() {
        return println!("SKIP: tracepoints_that_are_hidden_are_missing_and_no_error: {why}");
    }
    // What Linux 6.1 has not.
    let hidden = ["tcp_sendmsg_locked", "sk_data_ready"];
    let tracer = Tracer::load(&hidden).unwrap();
    assert!(hidden.iter().all(|name| tracer.missing().contains(name)));
    assert!(tracer.lacks(Point::Locked) && tracer.lacks(Point::Ready) && !tracer.lacks(Point::Queued));
}

/// The objects that are committed are what their sources make, with the clang that made them.
#[test]
fn the_object_is_built_from_its_source() {
    const NAME: &str = "the_object_is_built_from_its_source";
    let told = std::process::Command::new("clang").arg("--version").output();
    let told = told.map_or(String::new(), |output| String::from_utf8_lossy(&output.stdout).into_owned());
    if !told.contains("version 14.")
        || std::process::Command::new("llvm-strip").arg("--version").output().is_err()
    {
        return println!("SKIP: {NAME}: clang 14 and llvm-strip are not installed");
    }
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/bpf");
    let built = std::env::temp_dir().join(format!("linerate-objects-{}", std::process::id()));
    std::fs::create_dir(&built).unwrap();
    let status =
        std::process::Command::new("sh").arg(format!("{folder}/build.sh")).arg(&built).status().unwrap();
    let bytes = ["stages", "stream"].map(|name| std::fs::read(built.join(format!("{name}.bpf.o"))).unwrap());
    std::fs::remove_dir_all(&built).unwrap();
    assert!(status.success() && bytes == [OBJECT, counting::OBJECT], "run {folder}/build.sh");
}

#[test]
fn a_stream_is_counted_and_no_other() {
    if let Some(why) = may_not() {
        return println!("SKIP: a_stream_is_counted_and_no_other: {why}");
    }
    let (mut sender, mut receiver) = pair();
    let (mut other, mut stranger) = pair();
    let mut counting = Counting::load(&["tcp_retransmit_skb"]).unwrap();
    assert_eq!(counting.missing(), ["tcp_retransmit_skb"]);
    counting.begin(watched_at(&receiver), thread::current_cpu()).unwrap();
    let sent = std::thread::spawn(move || {
        other.write_all(&[2; 10_000]).unwrap();
        sender.write_all(&[1; 50_000]).unwrap();
        (sender, other)
    });
    receiver.read_exact(&mut [0; 50_000]).unwrap();
    stranger.read_exact(&mut [0; 10_000]).unwrap();
    let _open = sent.join().unwrap();
    let counted = counting.end().unwrap();
    assert_eq!(counted.number("in-bytes"), Some(50_000), "{counted:?}");
    assert_eq!((counted.number("out-bytes"), counted.number("retransmitted")), (Some(0), None));
    let packets = counted.number("in-packets").unwrap();
    assert!(packets >= 1 && counted.in_sizes.iter().sum::<u64>() == packets, "{counted:?}");
    assert!(counted.number("taken") >= Some(packets) && counted.drops.is_empty(), "{counted:?}");
}

#[test]
fn reasons_to_drop_have_the_kernels_own_names() {
    if let Some(why) = may_not() {
        return println!("SKIP: reasons_to_drop_have_the_kernels_own_names: {why}");
    }
    // What this kernel calls them: include/net/dropreason-core.h.
    let names = reasons::names().unwrap();
    assert!(names.values().any(|name| name == "QDISC_DROP") && !names.contains_key(&0), "{names:?}");
    assert_eq!(reasons::named(b"no BTF"), None);
}
