//! The tools whose results can be imported: what each measures, and how.

/// A tool.
#[derive(Debug)]
pub struct Tool {
    /// Its name, as in `linerate import --tool iperf3`.
    pub name: &'static str,
    /// One line for `linerate list`.
    pub about: &'static str,
    /// What is read of it.
    pub files: &'static str,
    /// How it comes to its numbers: whose bytes and clock, which statistic, which units. Stands in each recording and report.
    pub how: &'static str,
    /// What carries its messages, where all of its tests have the same.
    pub transport: Option<&'static str>,
    /// Where that is told.
    pub source: &'static str,
}

/// Every tool, in the order in which a file is held against them.
pub const TOOLS: &[Tool] = &[
    Tool {
        name: "iperf3",
        about: "streams of TCP, UDP and SCTP",
        files: "the JSON of one run: iperf3 -c HOST -J",
        how: "throughput is bytes over the whole test, a mean, at each end by its own clock; the sender's bytes \
              include what had not left its buffers; CPU is of the whole process; 10^6 bits are a Mbit",
        transport: None,
        source: "esnet/iperf, src/iperf_api.c",
    },
    Tool {
        name: "xfr",
        about: "streams of TCP, UDP, QUIC and MPTCP",
        files: "the JSON of one run: xfr HOST --json",
        how: "throughput is bytes over the whole test, a mean, as the server counted them; 10^6 bits are a Mbit",
        transport: None,
        source: "lance0/xfr, src/protocol.rs and src/output/json.rs",
    },
    Tool {
        name: "sockperf",
        about: "single messages over sockets: ping-pong, under load, throughput",
        files: "what sockperf ping-pong, under-load or throughput prints",
        how: "latency is half of a round trip unless --full-rtt is given, of single messages after 400 ms of warm-up; \
              throughput is what the sender sent, a mean; its MBps are 2^20 bytes and its Mbps 2^20 bits, and are converted",
        transport: None,
        source: "Mellanox/sockperf, src/client.cpp",
    },
    Tool {
        name: "osu",
        about: "the OSU micro-benchmarks of MPI and OpenSHMEM",
        files: "what a program of the OSU micro-benchmarks prints",
        how: "latency of two ranks is half of a round trip, a mean of all iterations by rank 0's clock; of a collective \
              the time of one, a mean over iterations and ranks; bandwidth is rank 0's, a mean over windows; MB are 10^6 bytes",
        transport: None,
        source: "OSU micro-benchmarks 7, c/mpi/pt2pt/standard/osu_latency.c and osu_bw.c",
    },
    Tool {
        name: "imb",
        about: "the Intel MPI Benchmarks",
        files: "what IMB-MPI1 prints",
        how: "times are means of all repetitions, from one pair of clock reads; that of PingPong is half of a round \
              trip, others are of one operation, t_min and t_max of the quickest and the slowest rank; MB are 10^6 bytes, before the edition of 2018 2^20: the file's own times tell which",
        transport: Some("mpi"),
        source: "intel/mpi-benchmarks, src_c/IMB_pingpong.c and IMB_output.c",
    },
    Tool {
        name: "qperf",
        about: "TCP, UDP, SCTP and RDMA: bandwidth and latency",
        files: "what qperf prints, at best with -vvu",
        how: "latency is one half of a round trip, a mean; bandwidth is what arrived at the receiver over the whole test, \
              a mean; MB are 10^6 bytes; numbers are rounded to three digits unless precision is asked for",
        transport: None,
        source: "linux-rdma/qperf, src/qperf.c",
    },
    Tool {
        name: "netperf",
        about: "streams and transactions over sockets",
        files: "what netperf prints: its tables with their banner, the CSV of -o and the keywords of -k",
        how: "throughput of a stream is the bytes over the sender's time until the other end has closed, a mean; of UDP \
              there is one line an end; transactions are a mean rate; with -i the mean of several runs",
        transport: None,
        source: "HewlettPackard/netperf, src/nettest_omni.c",
    },
    Tool {
        name: "netpipe",
        about: "the curve over message sizes of NetPIPE 3",
        files: "the file of NPtcp -o FILE: bytes, Mbps, seconds",
        how: "the time is the least of several trials, of which each is half of the mean round trip; the throughput is \
              the size over that time, so the greatest; its Mbps are 2^20 bits, and are converted",
        transport: None,
        source: "NetPIPE 3.7.2, src/netpipe.c",
    },
];
