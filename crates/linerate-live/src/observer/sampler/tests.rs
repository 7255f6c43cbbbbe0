//! Against sockets of the loopback interface.

use super::*;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (client, listener.accept().unwrap().0)
}

fn duplicate(stream: &TcpStream) -> OwnedFd {
    stream.as_fd().try_clone_to_owned().unwrap()
}

/// Waits until the storage is full.
fn full(sampler: Sampler) -> Vec<Series> {
    while !sampler.thread.is_finished() {
        std::thread::yield_now();
    }
    sampler.finish()
}

#[test]
fn each_sampled_metric_is_sampled_once() {
    let of_host = HOST.iter().map(|(metric, _)| metric.name).chain([sampled::CPU_BUSY.name]);
    let all = of_host.chain(INTERFACE.iter().map(|(metric, _)| metric.name));
    let all = all.chain(stream::METRICS.iter().map(|metric| metric.name));
    let all: Vec<&str> = all.chain(SOCKET.iter().map(|(metric, _)| metric.name)).collect();
    for metric in sampled::SAMPLED {
        assert_eq!(all.iter().filter(|name| **name == metric.name).count(), 1, "{}", metric.name);
    }
    assert_eq!(all.len(), sampled::SAMPLED.len());
}

#[test]
fn every_metric_of_a_socket_has_a_field() {
    for (metric, _) in SOCKET {
        assert!(metric.field().and_then(Field::named).is_some(), "{} is of {}", metric.name, metric.source);
    }
}

#[test]
fn a_column_that_comes_later_was_zero_before() {
    let mut track = Track::new(4, ["always".to_owned()].into_iter());
    for (at, value) in [(10, None), (20, Some(1.5)), (30, None)] {
        track.begin(at);
        track.set(0, 1.0);
        if let Some(value) = value {
            track.set_named("once", value);
        }
    }
    let series = track.series(None);
    assert_eq!(series.at_ns, [10, 20, 30]);
    assert_eq!(
        (&series.values["always"][..], &series.values["once"][..]),
        (&[1.0; 3][..], &[0.0, 1.5, 0.0][..])
    );
}

#[test]
fn bytes_show_at_sender_and_receiver() {
    let (mut client, mut server) = pair();
    let mut tracks = [&client, &server].map(|end| SocketTrack::new(0, duplicate(end), 8));
    client.write_all(&[1; 5000]).unwrap();
    server.read_exact(&mut [0; 5000]).unwrap();
    let sum = |track: &SocketTrack, name: &str| -> f64 {
        let column = track.track.columns.iter().find(|(known, _)| known == name);
        column.map_or(0.0, |(_, values)| values.iter().sum())
    };
    // The acknowledgement comes when it comes.
    while sum(&tracks[0], "tcp.acknowledged-bps") == 0.0 || sum(&tracks[1], "tcp.received-bps") == 0.0 {
        tracks.iter_mut().for_each(SocketTrack::sample);
    }
    assert_eq!((sum(&tracks[0], "tcp.received-bps"), sum(&tracks[1], "tcp.acknowledged-bps")), (0.0, 0.0));
    assert!(sum(&tracks[0], "tcp.congestion-window") >= 1.0);
}

#[test]
fn every_series_has_as_many_values_as_times() {
    let (client, server) = pair();
    let ends = [client, server].map(|end| duplicate(&end));
    let tracks = |room| (0..).zip(ends).map(|(flow, fd)| SocketTrack::new(flow, fd, room)).collect();
    let series = full(Sampler::start(SHORTEST, 3, tracks).unwrap());
    assert_eq!(series.iter().map(|one| one.flow).collect::<Vec<_>>(), [Some(0), Some(1)]);
    for one in &series {
        assert_eq!(one.at_ns.len(), 3);
        assert!(one.at_ns.is_sorted() && one.values.contains_key("tcp.retransmits"));
        assert!(one.values.values().flatten().all(|value| value.is_finite() && *value >= 0.0), "{one:?}");
        assert!(one.values.values().all(|values| values.len() == 3));
    }
}

#[test]
fn the_host_is_sampled_without_what_never_moves() {
    let (mut client, _server) = pair();
    let mut host = HostTrack::new(vec![0], 8);
    client.write_all(&[1; 4000]).unwrap();
    host.sample();
    let series = host.series();
    assert_eq!((series.worker, series.flow), (None, None));
    assert!(series.values.contains_key("cpu.0.busy"));
    assert!(series.values["interface.lo.rx-bps"][0] > 0.0, "{series:?}");
    assert!(series.values.values().all(|values| values.len() == 1));
}

#[test]
fn a_sampler_stops_at_once_without_a_series() {
    let (client, server) = pair();
    let hour = Duration::from_secs(3600);
    let samplers = [Sampler::of_sockets(&[&client, &server], hour), Sampler::of_host(&[0], hour)];
    drop(server);
    assert!(samplers.into_iter().flat_map(|sampler| sampler.unwrap().finish()).next().is_none());
}

#[test]
fn what_is_no_tcp_socket_has_no_series() {
    let fd: OwnedFd = std::fs::File::open("/dev/null").unwrap().into();
    let tracks = |room| vec![SocketTrack::new(0, fd, room)];
    assert!(full(Sampler::start(SHORTEST, 2, tracks).unwrap()).is_empty());
}

#[test]
fn a_thread_that_works_is_busy() {
    let stop = std::sync::atomic::AtomicBool::new(false);
    let (told, number) = std::sync::mpsc::channel();
    let series = std::thread::scope(|scope| {
        scope.spawn(|| {
            told.send(thread::current().number()).unwrap();
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        });
        let mut track = stream::StreamTrack::new(number.recv().unwrap(), 1, 40);
        for _ in 0..40 {
            std::thread::sleep(Duration::from_millis(10));
            track.sample();
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        track.series()
    });
    let share = |at: usize| series.values["thread.busy"][at] + series.values["thread.waiting"][at];
    // What it waited is told once it has its CPU: all of it together is nearly all of the time, if others are not many.
    assert!((0..40).map(share).sum::<f64>() > 4.0, "{series:?}");
    assert_eq!(series.values["queue.backlog-bytes"], [0.0; 40], "loopback has no queue");
}
