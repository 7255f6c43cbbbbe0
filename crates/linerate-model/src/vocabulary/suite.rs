//! The suites that are shipped: plan files that make the figures of a paper anew.

/// A shipped suite.
#[derive(Debug)]
pub struct SuiteEntry {
    /// Its name: `--suite sockets`.
    pub name: &'static str,
    /// The paper.
    pub paper: &'static str,
    /// One line for `linerate list`.
    pub about: &'static str,
    /// The figures that it makes, by the paper's numbers.
    pub figures: &'static str,
    /// The plan file.
    pub plan: &'static str,
}

/// Every suite.
pub const SUITES: &[SuiteEntry] = &[
    SuiteEntry {
        name: "san",
        paper: "S000",
        about: "a fixed count of messages by payload, with large and small packets",
        figures: "000-F1",
        plan: include_str!("../../data/suites/san.toml"),
    },
    SuiteEntry {
        name: "libraries",
        paper: "S001",
        about: "message-passing libraries against raw TCP, as shipped and tuned, and their threshold moved",
        figures: "001-F1 to 001-F3 in one, 001-F4 within a host, 001-F5 native layers, 001-T",
        plan: include_str!("../../data/suites/libraries.toml"),
    },
    SuiteEntry {
        name: "adapter",
        paper: "S002",
        about: "one setting after the other on top of those before, the window of a connection, and which side binds",
        figures: "002-F2 to 002-F6 in one, 002-6",
        plan: include_str!("../../data/suites/adapter.toml"),
    },
    SuiteEntry {
        name: "sockets",
        paper: "S003",
        about: "latency polling and sleeping, one way and both, many streams, hot spots, fan-in and fan-out, connecting",
        figures: "003-F3 to 003-F6, 003-C, 003-F8, 003-F10, 003-F12",
        plan: include_str!("../../data/suites/sockets.toml"),
    },
    SuiteEntry {
        name: "grid",
        paper: "S004",
        about: "TCP and UDP by application buffer over a path between sites, copying and not, with both hosts' CPUs",
        figures: "004-F2, 004-F3, 004-F6 to 004-F8; 004-F5 over a path between sites",
        plan: include_str!("../../data/suites/grid.toml"),
    },
    SuiteEntry {
        name: "packet-filter",
        paper: "S004",
        about: "what the rules of a packet filter cost by their number: one after the other, in sets and maps, with states",
        figures: "004-T4, 004-T5; with lab:hosts=3 also at a router",
        plan: include_str!("../../data/suites/packet-filter.toml"),
    },
    SuiteEntry {
        name: "transfer",
        paper: "S004",
        about: "files moved by every program that does, by size, by streams, and between disks and memory",
        figures: "004-T3",
        plan: include_str!("../../data/suites/transfer.toml"),
    },
];
