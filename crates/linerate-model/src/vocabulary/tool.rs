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
    /// How to run it so that it can be read: the hint where a file holds nothing.
    pub again: &'static str,
    /// How it comes to its numbers: whose bytes and clock, which statistic, which units. Stands in each recording and report.
    pub how: &'static str,
    /// What carries its messages, where all of its tests have the same.
    pub transport: Option<&'static str>,
    /// Where that is told.
    pub source: &'static str,
}

/// Every tool.
pub const TOOLS: &[Tool] = &[
    Tool {
        name: "iperf3",
        about: "streams of TCP, UDP and SCTP",
        files: "the JSON of -J, the events of --json-stream, and what it prints, of the client or the server; several runs in a \
                file",
        again: "run iperf3 -c HOST -J > FILE and import the whole file",
        how: "throughput is bytes over the whole test, a mean, at each end by its own clock; the sender's bytes \
              include what had not left its buffers; CPU is of the whole process; 10^6 bits are a Mbit, and where it prints bytes 2^20 are a MByte",
        transport: None,
        source: "esnet/iperf, src/iperf_api.c and src/units.c",
    },
    Tool {
        name: "xfr",
        about: "streams of TCP, UDP, QUIC and MPTCP",
        files: "the JSON of xfr HOST --json, also behind the lines that --no-tui prints",
        again: "run xfr HOST --json > FILE and import the whole file",
        how: "throughput is bytes over the whole test, a mean, as the server counted them; 10^6 bits are a Mbit",
        transport: None,
        source: "lance0/xfr, src/protocol.rs and src/output/json.rs",
    },
    Tool {
        name: "sockperf",
        about: "single messages over sockets: ping-pong, under load, throughput",
        files: "what sockperf ping-pong, under-load or throughput prints",
        again: "run sockperf ping-pong -i HOST --tcp > FILE to its end: it prints its results last",
        how: "latency is half of a round trip unless --full-rtt is given, of single messages after 400 ms of warm-up; \
              throughput is what the sender sent, a mean; its MBps are 2^20 bytes and its Mbps 2^20 bits, and are converted",
        transport: None,
        source: "Mellanox/sockperf, src/client.cpp",
    },
    Tool {
        name: "osu",
        about: "the OSU micro-benchmarks of MPI and OpenSHMEM",
        files: "what a program of the OSU micro-benchmarks prints, also with -c and -f",
        again: "give all that osu_latency or its like printed, from the title line on: mpirun … osu_latency > FILE",
        how: "latency of two ranks is half of a round trip, a mean of all iterations by rank 0's clock; of a collective \
              the time of one, a mean over iterations and ranks; bandwidth is rank 0's, a mean over windows; MB are 10^6 bytes",
        transport: None,
        source: "OSU micro-benchmarks 7.4, c/mpi/pt2pt/standard/osu_latency.c and osu_bw.c, c/util/osu_util_mpi.c",
    },
    Tool {
        name: "imb",
        about: "the Intel MPI Benchmarks",
        files: "what IMB-MPI1, IMB-NBC, IMB-RMA, IMB-EXT, IMB-MT or IMB-IO prints",
        again: "give all that IMB printed, from the title of a benchmark on: mpirun … IMB-MPI1 PingPong > FILE",
        how: "times are means of all repetitions, from one pair of clock reads; that of PingPong is half of a round \
              trip, others are of one operation, t_min and t_max of the quickest and the slowest rank; MB are 10^6 \
              bytes, before the edition of 2018 2^20: the file's own times tell which, else its edition; overlap is of the \
              rank that took longest",
        transport: Some("mpi"),
        source: "intel/mpi-benchmarks, src_c/IMB_pingpong.c and IMB_output.c",
    },
    Tool {
        name: "qperf",
        about: "TCP, UDP, SCTP and RDMA: bandwidth and latency",
        files: "what qperf prints, at best with -vvu",
        again: "run qperf -vvu HOST tcp_bw tcp_lat > FILE",
        how: "latency is one half of a round trip, a mean; bandwidth is what arrived at the receiver over the whole test, \
              a mean; MB are 10^6 bytes; numbers are rounded to three digits unless precision is asked for",
        transport: None,
        source: "linux-rdma/qperf, src/qperf.c",
    },
    Tool {
        name: "netperf",
        about: "streams and transactions over sockets",
        files: "what netperf prints: its tables with their banner, the CSV of -o and the keywords of -k, with any columns",
        again: "run netperf -H HOST -t omni -- -k all > FILE, or any test with -o or with its banner",
        how: "throughput of a stream is the bytes over the sender's time until the other end has closed, a mean; of UDP \
              there is one line an end; transactions are a mean rate; with -i the mean of several runs, with the width of \
              its interval where the file has it",
        transport: None,
        source: "HewlettPackard/netperf, src/nettest_omni.c",
    },
    Tool {
        name: "netpipe",
        about: "the curve over message sizes of NetPIPE 3 and 5",
        files: "the file of NPtcp -o FILE: bytes, rates, time",
        again: "run NPtcp -h HOST -o FILE to its end and import FILE, not what it prints",
        how: "of 3 the time is the least of several trials, of which each is half of the mean round trip, and the throughput \
              the size over that time, so the greatest; its Mbps are 2^20 bits, and are converted; of 5 both are means of the \
              trials, of 10^6 or 10^9 bits: the columns prove which",
        transport: None,
        source: "NetPIPE 3.7.2, src/netpipe.c; NetPIPE 5, src/netpipe.c",
    },
    Tool {
        name: "iperf2",
        about: "streams of TCP and UDP, by iperf 2",
        files: "what iperf prints, also with -e, and the CSV of -y C, of 2.2 also with -e; both ways (-d, -r, --full-duplex) and \
                --bounceback; of the client or the server, several runs in a file",
        again: "run iperf -c HOST -i 1 > FILE to its end",
        how: "throughput is bytes over the whole test, a mean, of the end that printed it; of datagrams also what the server \
              reports; times of --bounceback are of whole round trips by the client; 10^6 bits are a Mbit and 2^20 bytes a MByte; printed rates have three digits",
        transport: None,
        source: "iperf 2.1.8, src/ReportOutputs.c and src/stdio.c; iperf 2.2, src/Locale.c",
    },
    Tool {
        name: "nuttcp",
        about: "streams of TCP and UDP",
        files: "what nuttcp prints, also with -i, -v or -fparse; several runs in a file",
        again: "run nuttcp -i1 HOST > FILE to its end",
        how: "throughput is the receiver's bytes over its time, a mean; its MB are 2^20 bytes and its Mbps 10^6 bits; the round \
              trip is that of connecting; CPU is of each process",
        transport: None,
        source: "nuttcp 8.2.2, nuttcp.c",
    },
    Tool {
        name: "neper",
        about: "streams and transactions over many sockets: tcp_rr, tcp_crr, tcp_stream, udp_rr, udp_stream",
        files: "the lines key=value of any of its programs",
        again: "run tcp_rr -c -H HOST > FILE to its end, and of a stream take what the reading end printed",
        how: "throughput is what this end read, a mean from the first sample to the last; latency is of whole transactions, in \
              seconds; Mbit are 10^6 bits, MiB 2^20 bytes",
        transport: None,
        source: "google/neper, stream.c, rr.c and common.c",
    },
    Tool {
        name: "pscheduler",
        about: "tests of perfSONAR's pScheduler: throughput, rtt, latency",
        files: "the JSON of a result: pscheduler task --format json throughput --dest HOST, alone or in the JSON of its run",
        again: "run pscheduler task --format json throughput --dest HOST > FILE",
        how: "its tools measure: throughput is the sender's bytes over the whole test, a mean, and the receiver's where it is \
              named so; a round trip is a whole one",
        transport: None,
        source: "perfsonar/pscheduler, pscheduler-test-throughput/throughput/validate.py and pscheduler-tool-iperf3",
    },
    Tool {
        name: "perftest",
        about: "RDMA: ib_write_bw, ib_send_lat and their like",
        files: "what a bandwidth or latency test of perftest prints, from its title on",
        again: "give all that ib_write_bw or its like printed, from the title on and without -C: ib_write_bw -a HOST > FILE",
        how: "time is half of a round trip, of RDMA_Read and Atomic a whole one; the two longest are cut off first, so its t_max is \
              none; t_stdev is of whole microseconds; with -C times are cycles under the same heads, and left out; bandwidth is a mean, both ways \
              together where it is bidirectional, its peak of any part; MB and MiB are 2^20 bytes, Gb 10^9 bits",
        transport: None,
        source: "linux-rdma/perftest, src/perftest_parameters.c and perftest_parameters.h",
    },
    Tool {
        name: "nccl",
        about: "collectives of GPUs by nccl-tests and rccl-tests: all_reduce_perf and its like",
        files: "what a program of nccl-tests prints, with any columns",
        again: "give all that it printed, from the line of its columns on: all_reduce_perf -b 8 -e 1G -f 2 -g 2 > FILE",
        how: "time is of one operation, a mean of all iterations; algbw is the size over it, and busbw that times a factor of the \
              operation and the number of ranks, to be held against a link; GB are 10^9 bytes",
        transport: Some("nccl"),
        source: "NVIDIA/nccl-tests, src/util.cu and doc/PERFORMANCE.md",
    },
    Tool {
        name: "ping",
        about: "round trips of single ICMP messages",
        files: "what ping of iputils, of busybox or of a BSD prints; several runs in a file",
        again: "run ping -c 100 -i 0.2 HOST > FILE to its end, or stop it with Ctrl-C: it prints its results last",
        how: "a time is of a whole round trip to a kernel that answers, with this end's wake-up in it; mdev and stddev are the \
              standard deviation; a size is without the 8 bytes of ICMP",
        transport: Some("icmp"),
        source: "iputils, ping/ping_common.c",
    },
    Tool {
        name: "fping",
        about: "round trips of ICMP messages to many hosts",
        files: "what fping -c, -C or -e prints on both outputs; a row a host, its answers once",
        again: "run fping -c 100 -p 200 HOST ... > FILE 2>&1: it prints its results on standard error",
        how: "a time is of a whole round trip to a kernel that answers, with this end's wake-up in it",
        transport: Some("icmp"),
        source: "schweikert/fping, src/fping.c",
    },
];
