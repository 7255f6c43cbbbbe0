//! What may be said of a lab: `lab:KEY=VALUE,…`.

/// A key of a lab's description.
#[derive(Debug)]
pub struct LabKey {
    /// As it is written.
    pub name: &'static str,
    /// What its value is.
    pub value: &'static str,
    /// What holds without it.
    pub default: &'static str,
    /// Whether it may be said of a single pair of hosts, `a-b.KEY=VALUE`, and of a link in a file.
    pub of_link: bool,
    /// One line.
    pub about: &'static str,
    /// Where its meaning comes from.
    pub source: &'static str,
}

/// Every key. Delays are one way, shares are of packets.
pub const LAB_KEYS: &[LabKey] = &[
    LabKey {
        name: "hosts",
        value: "2 to 64 hosts",
        default: "2",
        of_link: false,
        about: "the number of hosts, which are called a, b and so on",
        source: "network_namespaces(7)",
    },
    LabKey {
        name: "mtu",
        value: "an MTU of 576 to 65535",
        default: "1500",
        of_link: false,
        about: "the largest packet of every host's interface, the Ethernet header not counted",
        source: "RFC 791 and RFC 894; 576 B is what every IPv4 host takes",
    },
    LabKey {
        name: "rate",
        value: "a rate of 1Mb/s to 400Gb/s",
        default: "as fast as this machine is",
        of_link: true,
        about: "the rate of every link: each packet takes its time on it, the Ethernet header counted, preamble, \
                check and gap not",
        source: "serialisation as in RFC 1242 and tc-netem(8)",
    },
    LabKey {
        name: "queue",
        value: "a size of 2KiB to 4GiB",
        default: "50 ms of the rate, or what is under way in a round trip, and 256 KiB at least",
        of_link: true,
        about: "bytes that may wait for the link; what comes then is dropped",
        source: "a queue that drops at its tail: RFC 7567, section 2",
    },
    LabKey {
        name: "delay",
        value: "a time such as 10ms, at most 5s",
        default: "0",
        of_link: true,
        about: "what a packet takes besides, in one direction: a round trip pays it twice",
        source: "propagation: RFC 7679; one direction as in tc-netem(8)",
    },
    LabKey {
        name: "jitter",
        value: "a time such as 10ms, at most 5s",
        default: "0",
        of_link: true,
        about: "each packet's delay is up to this much longer or shorter, all values alike; the order is kept",
        source: "RFC 3393; tc-netem(8), which does not keep the order",
    },
    LabKey {
        name: "loss",
        value: "a share such as 1%, at most 50%",
        default: "0",
        of_link: true,
        about: "the share of packets that is lost: of segments, not of the kernel's super-packets",
        source: "RFC 7680",
    },
    LabKey {
        name: "burst",
        value: "a mean number of packets lost in a row, 1 to 1000",
        default: "losses that know nothing of each other",
        of_link: true,
        about: "how many packets are lost in a row, in the mean; the share stays that of loss=",
        source: "E. N. Gilbert: Capacity of a burst-noise channel, Bell System Technical Journal 39, 1960",
    },
    LabKey {
        name: "reorder",
        value: "a share such as 1%, at most 50%",
        default: "0",
        of_link: true,
        about: "the share of packets that later ones overtake, where the link is busy",
        source: "RFC 4737",
    },
    LabKey {
        name: "duplicate",
        value: "a share such as 1%, at most 50%",
        default: "0",
        of_link: true,
        about: "the share of packets that come twice",
        source: "RFC 5560",
    },
    LabKey {
        name: "coalesce",
        value: "a time such as 64us, at most 1s",
        default: "0: what has come is handed on at once",
        of_link: false,
        about: "how long what comes to a host is held, as an adapter does that delays its interrupt: from the first \
                frame that is held on",
        source: "ethtool(8), rx-usecs",
    },
    LabKey {
        name: "coalesce-frames",
        value: "1 to 65535 frames",
        default: "any number",
        of_link: false,
        about: "how many frames are held at most, whatever is left of the time",
        source: "ethtool(8), rx-frames",
    },
    LabKey {
        name: "hops",
        value: "0 to 16 switches",
        default: "0 between two hosts, 1 for more",
        of_link: false,
        about: "the number of switches in a row between two hosts; each adds one serialisation",
        source: "RFC 1242, section 3.8",
    },
    LabKey {
        name: "switch",
        value: "store-and-forward or cut-through",
        default: "store-and-forward",
        of_link: false,
        about: "whether a switch passes a packet on when all of it has come, or its first 64 bytes",
        source: "RFC 1242, section 3.8",
    },
    LabKey {
        name: "wire",
        value: "auto, user, netem or tbf",
        default: "auto: a virtual cable where nothing else is said, the program's own wire for the rest",
        of_link: false,
        about: "what carries the packets: the program's own wire, or the kernel's netem or tbf",
        source: "veth(4), tc-netem(8), tc-tbf(8)",
    },
    LabKey {
        name: "fault",
        value: "a known fault such as loss=1% or b:small-buffers=64KiB",
        default: "none",
        of_link: false,
        about: "a known fault that is put in, as by --fault; may be said several times",
        source: "`linerate list faults`",
    },
];
