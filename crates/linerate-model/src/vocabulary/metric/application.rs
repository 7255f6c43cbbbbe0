//! The numbers of whole applications: a monitor's rounds, a pipeline's units of work, a striped file's rates.

use super::Part::Named;
use super::{BASE, Metric, P99, WHOLE, bound, fault};

pub const ROUND_TIME: Metric = Metric {
    name: "round-time",
    title: "median round",
    margin: Some(0.10),
    key: "round_time_ns",
    unit: "ns",
    parts: &[WHOLE, P99],
    more_is_better: Some(false),
    faults: &[fault("delay")],
    about: "from the moment at which a monitor asks all nodes for their state until the last one has answered, or its deadline",
    formula: "the percentile over all rounds of a trial, by the asking host; of a set rate from when the round was due",
    source: "P. Balaji et al., Cluster 2005, section 6.3",
    hint: "against connect-time and transaction-time: whether connections or replies are what a round consists of",
    page: "applications.md",
    ..BASE
};

pub const POLLS_MISSED: Metric = Metric {
    name: "polls-missed",
    title: "polls missed",
    margin: Some(0.001),
    key: "polls_missed_share",
    unit: "1",
    parts: &[WHOLE],
    more_is_better: Some(false),
    about: "the share of a monitor's polls that were not answered whole before their deadline",
    formula: "missed polls / polls, over all nodes",
    source: "this program's monitor; gmetad gives up a node in the same way",
    hint: "which node: the trial's roles tell it for each; monitor.deadline says how long is waited",
    page: "applications.md",
    ..BASE
};

pub const UNIT_TIME: Metric = Metric {
    name: "unit-time",
    title: "median unit of work",
    margin: Some(0.10),
    key: "unit_time_ns",
    unit: "ns",
    parts: &[WHOLE, P99],
    more_is_better: Some(false),
    about: "from the request for a unit of work until the last stage of the pipeline has all of it; with pipeline.units=ahead from one unit to the next",
    formula: "the percentile over all units of a trial, by the host of the last stage",
    source: "P. Balaji et al., Cluster 2005, section 6.1",
    hint: "the table of stages says which of them binds, or which stream",
    page: "applications.md",
    ..BASE
};

pub const UNIT_RATE: Metric = Metric {
    name: "unit-rate",
    title: "units of work a second",
    margin: Some(0.10),
    key: "units_per_s",
    unit: "1/s",
    parts: &[WHOLE],
    more_is_better: Some(true),
    about: "units of work that came out of a pipeline in a second",
    formula: "units / time of the block, the first ones included, by the host of the last stage",
    source: "P. Balaji et al., Cluster 2005, section 6.1",
    hint: "pipeline.units=ahead: stages then work on several units at once",
    page: "applications.md",
    ..BASE
};

pub const STRIPED_THROUGHPUT: Metric = Metric {
    name: "striped-throughput",
    title: "throughput of all clients",
    margin: Some(0.10),
    key: "striped_throughput_bps",
    unit: "b/s",
    parts: &[WHOLE],
    more_is_better: Some(true),
    about: "what all clients of a file, in stripes or through MPI-IO, read or wrote in a second",
    formula: "the sum over clients of 8 * bytes / time, the lead left out, by each client's clock",
    source: "P. Balaji et al., Cluster 2005, section 6.2; pvfs-test",
    hint: "against a stream of the same size: what asking for each region costs",
    page: "applications.md",
    ..BASE
};

pub const DONE_TIME: Metric = Metric {
    name: "done-time",
    unit: "ns",
    parts: &[Named("first"), Named("last")],
    more_is_better: Some(false),
    about: "how long the first and the last client of a striped file took for all of their regions",
    formula: "the least and the largest time of a block over the clients",
    source: "P. Balaji et al., Cluster 2005, section 6.2; pvfs-test",
    hint: "far apart: servers serve one client before the other",
    page: "applications.md",
    ..BASE
};

pub const CPU_PER_UNIT: Metric = Metric {
    name: "cpu.per-unit",
    title: "CPU time of all ends a unit of work",
    unit: "ns",
    parts: &[WHOLE],
    more_is_better: Some(false),
    margin: Some(0.10),
    key: "cpu_ns_per_unit",
    bounds: &[bound("sender-cpu"), bound("receiver-cpu")],
    about: "CPU time of all threads of an application's ends for a monitor's round or a pipeline's unit of work; servers of a file in stripes make it in the same time, and of these it is not told",
    formula: "CPU time of all threads during the block / units of the block, the first ones included",
    source: "clock_gettime(2), CLOCK_THREAD_CPUTIME_ID",
    hint: "where hosts share CPUs, as in a lab, it is what bounds the application; other programs' time is not in it",
    page: "applications.md",
    ..BASE
};

pub const FILE_THROUGHPUT: Metric = Metric {
    name: "file-throughput",
    unit: "b/s",
    parts: &[WHOLE],
    more_is_better: Some(true),
    about: "what a file that is moved carries, from the start of the program until all of it is on the disk of the other host",
    formula: "8 * bytes of the file / time, the start of the program and what the receiving host waits for its disk included",
    source: "J. Cope et al., LCI 2007, Table 3",
    hint: "against throughput of network.tcp: what disks, digests, ciphers and the beginning of a program cost",
    page: "transfer.md",
    ..BASE
};
