//! Where a stream's time goes. Each lap reads two clocks, once for some 256 KiB.

use crate::observer::tcp_info;
use crate::record::{Spent, TransferStream};
use linerate_sys::clock::{monotonic_ns, thread_cpu_ns};
use linerate_sys::thread::{Scheduling, scheduling};
use std::net::TcpStream;

/// What a lap was spent on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    File = 0,
    Digest = 1,
    Network = 2,
    Seal = 3,
}

/// The time of one stream, by the thread that plays it.
pub struct Meter {
    begun_ns: u64,
    at_ns: u64,
    cpu_ns: u64,
    spent: [Spent; 4],
    scheduling: Scheduling,
    tcp: Vec<u8>,
    pub bytes: u64,
}

impl Meter {
    /// Begins; the ends have met at `begun_ns`.
    pub fn begin(begun_ns: u64, stream: &TcpStream) -> Meter {
        Meter {
            begun_ns,
            at_ns: monotonic_ns(),
            cpu_ns: thread_cpu_ns(),
            spent: [Spent::default(); 4],
            scheduling: scheduling(),
            tcp: linerate_sys::tcp_info::tcp_info(stream).unwrap_or_default(),
            bytes: 0,
        }
    }

    /// What was done since the last lap was this.
    #[inline]
    pub fn lap(&mut self, part: Part) {
        let (at_ns, cpu_ns) = (monotonic_ns(), thread_cpu_ns());
        let spent = &mut self.spent[part as usize];
        spent.wall_ns += at_ns - self.at_ns;
        spent.cpu_ns += cpu_ns - self.cpu_ns;
        (self.at_ns, self.cpu_ns) = (at_ns, cpu_ns);
    }

    /// What the stream was.
    pub fn end(self, stream: &TcpStream) -> TransferStream {
        let after = linerate_sys::tcp_info::tcp_info(stream).unwrap_or_default();
        let mut tcp = tcp_info::last(&after);
        tcp.extend(tcp_info::moved(&self.tcp, &after));
        let [file, digest, network, seal] = self.spent;
        let waited = |of: Scheduling| of.run_delay_ns;
        let before = waited(self.scheduling);
        let run_delay_ns =
            waited(scheduling()).zip(before).map(|(after, before)| after.saturating_sub(before));
        TransferStream {
            bytes: self.bytes,
            elapsed_ns: monotonic_ns() - self.begun_ns,
            file,
            digest,
            network,
            seal,
            run_delay_ns,
            tcp,
        }
    }
}
