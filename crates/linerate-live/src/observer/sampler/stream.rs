//! What a stream's host does beside its connection, over time: the thread that moves the bytes, and the queue of its interface.

use super::{Sampled, SampledMetric, Track, sampled};
use crate::record::Series;
use linerate_sys::{clock, link};
use std::fs::File;
use std::os::unix::fs::FileExt;

/// The columns.
pub(super) const METRICS: [&SampledMetric; 3] =
    [&sampled::THREAD_BUSY, &sampled::THREAD_WAITING, &sampled::QUEUE_BACKLOG_BYTES];

/// Three numbers of at most 20 digits, two blanks and a line's end.
const ROOM: usize = 64;

/// A thread and a queue.
pub(super) struct StreamTrack {
    schedstat: Option<File>,
    interface: u32,
    before: (u64, [u64; 2]),
    track: Track,
}

impl StreamTrack {
    /// A thread of this process by its number, an interface by its index.
    pub(super) fn new(thread: u32, interface: u32, room: usize) -> StreamTrack {
        let schedstat = File::open(format!("/proc/self/task/{thread}/schedstat")).ok();
        let track = Track::new(room, METRICS.iter().map(|metric| metric.name.to_owned()));
        let mut track = StreamTrack { schedstat, interface, before: (0, [0; 2]), track };
        track.before = (clock::monotonic_ns(), track.spent());
        track
    }

    /// Nanoseconds on a CPU, and waiting for one (Documentation/scheduler/sched-stats.rst).
    fn spent(&self) -> [u64; 2] {
        let mut room = [0; ROOM];
        let length = self.schedstat.as_ref().and_then(|file| file.read_at(&mut room, 0).ok());
        let text = std::str::from_utf8(&room[..length.unwrap_or(0)]).unwrap_or_default();
        let mut numbers = text.split_ascii_whitespace().map(|number| number.parse().unwrap_or(0));
        [numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)]
    }

    /// Of a root that passes on to others it is what these hold.
    fn backlog_bytes(&self) -> u64 {
        let all = link::qdiscs().unwrap_or_default();
        let ours = all.iter().filter(|queue| queue.index == self.interface);
        let held = |is_root: bool| {
            let of = ours.clone().filter(move |queue| queue.is_root == is_root);
            of.map(|queue| u64::from(queue.backlog_bytes)).sum::<u64>()
        };
        held(true).max(held(false))
    }
}

impl Sampled for StreamTrack {
    fn sample(&mut self) {
        let now = (clock::monotonic_ns(), self.spent());
        let elapsed = now.0.saturating_sub(self.before.0).max(1) as f64;
        self.track.begin(now.0);
        for place in 0..2 {
            self.track.set(place, now.1[place].saturating_sub(self.before.1[place]) as f64 / elapsed);
        }
        self.track.set(2, self.backlog_bytes() as f64);
        self.before = now;
    }

    fn series(self) -> Series {
        self.track.series(None)
    }
}
