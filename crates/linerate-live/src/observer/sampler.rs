//! Samples a host's counters or a worker's sockets on a thread of its own, until it is told to stop.
//!
//! A value belongs to the time since the sample before it; the first reading is a base and no sample.
//! A metric of the host that never moves has no column. The thread stays in the network namespace, and on
//! the CPUs, of the thread that starts it.

mod stream;

use super::snapshot::{Reader, Snapshot};
use super::tcp_info::Field;
use super::{Observer, Seen, Watched};
use crate::plan::HostId;
use crate::record::{HostDelta, InterfaceDelta, Series};
use crate::vocabulary::metric::sampled::{self, SampledMetric};
use crate::{Error, Result};
use Shape::{Grown, PerSecond, ShareOfTime, Value};
use linerate_sys::tcp_info::{ROOM, tcp_info_into};
use linerate_sys::{clock, thread};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A running sampler.
#[derive(Debug)]
pub struct Sampler {
    stop: Sender<()>,
    thread: JoinHandle<Vec<Series>>,
}

/// Samples for which storage is set aside: 200 s at 10 Hz. When it is full, nothing more is sampled, so
/// that a series stays one line of a recording.
const MOST: usize = 2_000;
/// No sampler is quicker than this.
const SHORTEST: Duration = Duration::from_millis(1);

/// A sampler as an observer; it is asked once.
struct Sampling(Option<Sampler>);

impl Observer for Sampling {
    fn end(&mut self, _: &Watched<'_>, seen: &mut Seen) -> Result<()> {
        seen.series.extend(self.0.take().into_iter().flat_map(Sampler::finish));
        Ok(())
    }
}

fn begun(sampler: Option<Result<Sampler>>) -> Result<Option<Box<dyn Observer>>> {
    Ok(sampler.transpose()?.map(|sampler| Box::new(Sampling(Some(sampler))) as Box<dyn Observer>))
}

/// Begins to sample the host, where the step has time lines.
pub(super) fn of_host(watched: &Watched<'_>) -> Result<Option<Box<dyn Observer>>> {
    begun(watched.sample.map(|every| Sampler::of_host(watched.cpus, every)))
}

/// Begins to sample the connections, where the step has time lines.
pub(super) fn of_sockets(watched: &Watched<'_>) -> Result<Option<Box<dyn Observer>>> {
    begun(watched.sample.map(|every| Sampler::of_sockets(&watched.sockets, every)))
}

impl Sampler {
    /// Samples these CPUs, and the host's interfaces and queues.
    pub fn of_host(cpus: &[u32], every: Duration) -> Result<Sampler> {
        let cpus = cpus.to_vec();
        Sampler::start(every, MOST, move |room| vec![HostTrack::new(cpus, room)])
    }

    /// Samples these connections; a series' flow is the place in the list.
    ///
    /// The descriptors are duplicated: a connection that is closed meanwhile ends when the sampler does.
    pub fn of_sockets(sockets: &[impl AsFd], every: Duration) -> Result<Sampler> {
        let duplicate = |socket: &_| AsFd::as_fd(socket).try_clone_to_owned();
        let duplicates = sockets.iter().map(duplicate).collect::<std::io::Result<Vec<_>>>();
        let fds = duplicates.map_err(|e| Error::io("dup", "socket", e))?;
        let track = |room| move |(flow, fd)| SocketTrack::new(flow, fd, room);
        Sampler::start(every, MOST, move |room| (0..).zip(fds).map(track(room)).collect())
    }

    /// Samples a thread of this process and the queueing discipline of an interface.
    pub fn of_stream(thread: u32, interface: u32, every: Duration) -> Result<Sampler> {
        Sampler::start(every, MOST, move |room| vec![stream::StreamTrack::new(thread, interface, room)])
    }

    /// Stops at once; the series lack the step, the host and the worker, which the caller knows.
    pub fn finish(self) -> Vec<Series> {
        drop(self.stop);
        self.thread.join().unwrap_or_default()
    }

    /// Starts the thread, which makes its tracks itself: what it reads is what its namespace shows.
    fn start<T: Sampled>(
        every: Duration,
        room: usize,
        tracks: impl FnOnce(usize) -> Vec<T> + Send + 'static,
    ) -> Result<Sampler> {
        let (stop, stopped) = channel();
        let sampled = move || run(tracks(room), every.max(SHORTEST), room, &stopped);
        Ok(Sampler { stop, thread: thread::start("sampler", sampled)? })
    }
}

/// Something that is read at every sample.
trait Sampled {
    /// Takes one sample.
    fn sample(&mut self);
    /// What was sampled.
    fn series(self) -> Series;
}

fn run<T: Sampled>(mut tracks: Vec<T>, every: Duration, room: usize, stopped: &Receiver<()>) -> Vec<Series> {
    let begin = Instant::now();
    let mut due = every;
    for _ in 0..room {
        let wait = due.saturating_sub(begin.elapsed());
        if stopped.recv_timeout(wait) != Err(RecvTimeoutError::Timeout) {
            break;
        }
        tracks.iter_mut().for_each(T::sample);
        // A sample that would come too soon after a late one is left out.
        while due < begin.elapsed() + every / 2 {
            due += every;
        }
    }
    tracks.into_iter().map(T::series).filter(|series| !series.at_ns.is_empty()).collect()
}

/// Times, and a column for each metric.
struct Track {
    room: usize,
    at_ns: Vec<u64>,
    columns: Vec<(String, Vec<f64>)>,
}

/// Storage that has been touched: it costs no page fault later.
fn storage<T: Clone + Default>(room: usize) -> Vec<T> {
    let mut storage = vec![T::default(); room];
    storage.clear();
    storage
}

impl Track {
    fn new(room: usize, names: impl Iterator<Item = String>) -> Track {
        let columns = names.map(|name| (name, storage(room))).collect();
        Track { room, at_ns: storage(room), columns }
    }

    /// Begins a sample: every metric is zero until it is set.
    fn begin(&mut self, at_ns: u64) {
        self.at_ns.push(at_ns);
        self.columns.iter_mut().for_each(|(_, values)| values.push(0.0));
    }

    /// Sets the metric at this place of the list, in the sample that was begun last.
    fn set(&mut self, index: usize, value: f64) {
        if let Some(last) = self.columns.get_mut(index).and_then(|(_, values)| values.last_mut()) {
            // Four decimals are more than any of these values is worth.
            *last = (value * 1e4).round() / 1e4;
        }
    }

    /// Sets a metric that may be new: before, it was zero.
    fn set_named(&mut self, name: &str, value: f64) {
        let known = self.columns.iter().position(|(known, _)| known == name);
        let index = known.unwrap_or_else(|| {
            let mut values = storage(self.room);
            values.resize(self.at_ns.len(), 0.0);
            self.columns.push((name.to_owned(), values));
            self.columns.len() - 1
        });
        self.set(index, value);
    }

    fn series(self, flow: Option<u32>) -> Series {
        Series {
            step: 0,
            host: HostId::default(),
            worker: None,
            flow,
            at_ns: self.at_ns,
            values: self.columns.into_iter().collect(),
        }
    }
}

/// A metric of the whole host, from what its counters did and for how many seconds.
type HostMetric = (&'static SampledMetric, fn(&HostDelta, f64) -> f64);

const HOST: &[HostMetric] = &[
    (&sampled::CPU_STEAL, |delta, seconds| delta.steal_ns as f64 / 1e9 / seconds),
    (&sampled::CONTEXT_SWITCHES, |delta, seconds| delta.context_switches as f64 / seconds),
    (&sampled::SOFTNET_DROPPED, |delta, _| delta.softnet_dropped as f64),
    (&sampled::SOFTNET_SQUEEZED, |delta, _| delta.softnet_squeezed as f64),
    (&sampled::TCP_RETRANSMITTED_SEGMENTS, |delta, _| delta.tcp_retransmitted_segments as f64),
];

/// A metric of each interface, likewise.
type InterfaceMetric = (&'static SampledMetric, fn(&InterfaceDelta, f64) -> f64);

const INTERFACE: &[InterfaceMetric] = &[
    (&sampled::INTERFACE_RX_BPS, |delta, seconds| delta.rx_bytes as f64 * 8.0 / seconds),
    (&sampled::INTERFACE_TX_BPS, |delta, seconds| delta.tx_bytes as f64 * 8.0 / seconds),
    (&sampled::INTERFACE_RX_PACKETS_PER_S, |delta, seconds| delta.rx_packets as f64 / seconds),
    (&sampled::INTERFACE_TX_PACKETS_PER_S, |delta, seconds| delta.tx_packets as f64 / seconds),
    (&sampled::INTERFACE_DROPS, |delta, _| delta.drops as f64),
];

/// The host's counters. A CPU's busy share is counted in ticks of 10 ms: at 10 Hz it moves in steps of a
/// tenth and may pass 1 by one, and only its mean is finer.
struct HostTrack {
    cpus: Vec<u32>,
    before: Snapshot,
    reader: Reader,
    track: Track,
}

impl HostTrack {
    fn new(cpus: Vec<u32>, room: usize) -> HostTrack {
        let mut reader = Reader::open();
        let before = Snapshot::read(&cpus, &[], &mut reader);
        let names = cpus.iter().map(|cpu| sampled::CPU_BUSY.name_for(&cpu.to_string()));
        let track = Track::new(room, names);
        HostTrack { cpus, before, reader, track }
    }
}

impl Sampled for HostTrack {
    fn sample(&mut self) {
        let now = Snapshot::read(&self.cpus, &[], &mut self.reader);
        let delta = self.before.delta(&now);
        let seconds = delta.wall_ns.max(1) as f64 / 1e9;
        self.track.begin(now.at_ns());
        for (index, cpu) in self.cpus.iter().enumerate() {
            let busy = delta.busy_ns.get(cpu).copied().unwrap_or(0) as f64;
            self.track.set(index, busy / 1e9 / seconds);
        }
        for (metric, value) in HOST {
            let value = value(&delta, seconds);
            if value > 0.0 {
                self.track.set_named(metric.name, value);
            }
        }
        for interface in &delta.interfaces {
            for (metric, value) in INTERFACE {
                self.track.set_named(&metric.name_for(&interface.name), value(interface, seconds));
            }
        }
        self.before = now;
    }

    fn series(self) -> Series {
        self.track.series(None)
    }
}

/// How a field of `tcp_info` becomes a sample; the number scales it.
#[derive(Debug, Clone, Copy)]
enum Shape {
    /// As it is.
    Value(f64),
    /// How far it moved.
    Grown,
    /// How far it moved in a second.
    PerSecond(f64),
    /// The share of the time: the field counts microseconds.
    ShareOfTime,
}

/// A metric of a socket, and what becomes of its field. Rates are bits a second, windows are segments where the kernel
/// counts segments and bytes where the name says so.
type SocketMetric = (&'static SampledMetric, Shape);

const SOCKET: &[SocketMetric] = &[
    (&sampled::TCP_CONGESTION_WINDOW, Value(1.0)),
    (&sampled::TCP_SLOW_START_THRESHOLD, Value(1.0)),
    (&sampled::TCP_IN_FLIGHT, Value(1.0)),
    (&sampled::TCP_ROUND_TRIP_US, Value(1.0)),
    (&sampled::TCP_ROUND_TRIP_VARIATION_US, Value(1.0)),
    (&sampled::TCP_MINIMUM_ROUND_TRIP_US, Value(1.0)),
    (&sampled::TCP_RECEIVER_ROUND_TRIP_US, Value(1.0)),
    (&sampled::TCP_RETRANSMITS, Grown),
    (&sampled::TCP_LOST, Value(1.0)),
    (&sampled::TCP_REORDERED, Grown),
    (&sampled::TCP_OUT_OF_ORDER, Grown),
    (&sampled::TCP_DELIVERY_RATE, Value(8.0)),
    (&sampled::TCP_PACING_RATE, Value(8.0)),
    (&sampled::TCP_ACKNOWLEDGED_BPS, PerSecond(8.0)),
    (&sampled::TCP_RECEIVED_BPS, PerSecond(8.0)),
    (&sampled::TCP_BUSY, ShareOfTime),
    (&sampled::TCP_RECEIVE_WINDOW_LIMITED, ShareOfTime),
    (&sampled::TCP_SEND_BUFFER_LIMITED, ShareOfTime),
    (&sampled::TCP_NOT_SENT_BYTES, Value(1.0)),
    (&sampled::TCP_PEER_WINDOW_BYTES, Value(1.0)),
    (&sampled::TCP_RECEIVE_WINDOW_BYTES, Value(1.0)),
    (&sampled::TCP_RECEIVE_SPACE_BYTES, Value(1.0)),
];

/// One reading of a socket.
struct Reading {
    at_ns: u64,
    bytes: [u8; ROOM],
    length: usize,
}

/// A socket and its readings.
struct SocketTrack {
    flow: u32,
    fd: OwnedFd,
    before: Reading,
    now: Reading,
    /// One for each column of the track.
    metrics: Vec<(&'static Field, Shape)>,
    track: Track,
}

impl Reading {
    /// Reads again into the same bytes. A socket that cannot be read has no fields.
    fn take(&mut self, fd: &OwnedFd) {
        self.at_ns = clock::monotonic_ns();
        self.length = tcp_info_into(fd, &mut self.bytes).unwrap_or(0);
    }

    fn info(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl SocketTrack {
    fn new(flow: u32, fd: OwnedFd, room: usize) -> SocketTrack {
        let empty = || Reading { at_ns: 0, bytes: [0; ROOM], length: 0 };
        let (mut before, now) = (empty(), empty());
        before.take(&fd);
        // What this kernel does not tell has no column.
        let known = |(metric, shape): &SocketMetric| {
            let field = Field::named(metric.field()?).filter(|field| field.value(before.info()).is_some())?;
            Some((metric.name.to_owned(), (field, *shape)))
        };
        let (names, metrics): (Vec<_>, Vec<_>) = SOCKET.iter().filter_map(known).unzip();
        SocketTrack { flow, fd, before, now, metrics, track: Track::new(room, names.into_iter()) }
    }
}

impl Sampled for SocketTrack {
    fn sample(&mut self) {
        self.now.take(&self.fd);
        if self.now.length == 0 {
            return;
        }
        self.track.begin(self.now.at_ns);
        let seconds = self.now.at_ns.saturating_sub(self.before.at_ns).max(1) as f64 / 1e9;
        let (before, now) = (self.before.info(), self.now.info());
        for (index, (field, shape)) in self.metrics.iter().enumerate() {
            let moved = || field.moved(before, now).unwrap_or(0) as f64;
            let value = match shape {
                Value(scale) => field.value(now).unwrap_or(0) as f64 * scale,
                Grown => moved(),
                PerSecond(scale) => moved() * scale / seconds,
                ShareOfTime => moved() / 1e6 / seconds,
            };
            self.track.set(index, value);
        }
        std::mem::swap(&mut self.before, &mut self.now);
    }

    fn series(self) -> Series {
        self.track.series(Some(self.flow))
    }
}

#[cfg(test)]
mod tests;
