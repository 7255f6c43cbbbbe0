//! The papers, their hosts, and what is ambiguous in each as a whole.

/// A paper.
#[derive(Debug, PartialEq, Eq)]
pub struct Paper {
    /// The name in the files: `S002`.
    pub id: &'static str,
    /// Authors and year: `Hurwitz & Feng 2003`.
    pub short: &'static str,
    /// The title.
    pub title: &'static str,
    /// All authors.
    pub authors: &'static str,
    /// Where it was published.
    pub venue: &'static str,
    /// When.
    pub year: u16,
    /// The hosts that it measured on.
    pub testbeds: &'static [Testbed],
    /// What is ambiguous in it, apart from the notes of single values.
    pub doubts: &'static [&'static str],
}

/// The hosts and the network of a paper's measurements.
#[derive(Debug, PartialEq, Eq)]
pub struct Testbed {
    /// The letter in the files.
    pub id: &'static str,
    /// The hosts.
    pub hosts: &'static str,
    /// How they are connected.
    pub network: &'static str,
    /// What runs on them.
    pub software: &'static str,
}

/// Every paper.
pub const PAPERS: &[Paper] = &[
    Paper {
        id: "S000",
        short: "Hurwitz & Feng 2005",
        title: "Analyzing MPI performance over 10-Gigabit Ethernet",
        authors: "J. Hurwitz, W. Feng",
        venue: "Journal of Parallel and Distributed Computing 65(10)",
        year: 2005,
        testbeds: &[Testbed {
            id: "A",
            hosts: "2 × dual Opteron 246 2.0 GHz, 2 GB PC3200, PCI-X 64 bit 133 MHz",
            network: "Intel PRO/10GbE LR, back to back",
            software: "Linux 2.4.25, LAM-MPI",
        }],
        doubts: &[
            "NetPIPE of that time counted a Mb as 2^20 bits; NTTCP rates are decimal",
            "the load is a decaying average over a minute, not a utilisation",
        ],
    },
    Paper {
        id: "S001",
        short: "Turner & Chen 2002",
        title: "Protocol-dependent message-passing performance on Linux clusters",
        authors: "D. Turner, X. Chen",
        venue: "IEEE International Conference on Cluster Computing",
        year: 2002,
        testbeds: &[
            Testbed {
                id: "B",
                hosts: "2 × Pentium 4 1.8 GHz, 768 MB PC133, PCI 32 bit 33 MHz",
                network: "Netgear GA620 fibre, GA622 and TrendNet copper, SysKonnect SK-9843, Myrinet PCI64A-2, \
                          back to back; Giganet CL1000 through a switch",
                software: "Red Hat 7.2, Linux 2.4.7-10 (2.4.2-2 for M-VIA)",
            },
            Testbed {
                id: "C",
                hosts: "2 × Compaq DS20, dual Alpha 21264 500 MHz, PCI 64 bit 33 MHz",
                network: "SysKonnect SK-9843, MTU 9000",
                software: "Linux",
            },
        ],
        doubts: &[
            "NetPIPE of that time counted a Mb as 2^20 bits: rates may be 4.9 % higher in decimal units",
            "latencies are half of a round trip of messages below 64 B",
        ],
    },
    Paper {
        id: "S002",
        short: "Hurwitz & Feng 2003",
        title: "Initial end-to-end performance evaluation of 10-Gigabit Ethernet",
        authors: "J. Hurwitz, W. Feng",
        venue: "Hot Interconnects 11",
        year: 2003,
        testbeds: &[Testbed {
            id: "D",
            hosts: "Dell PE2650: dual Xeon 2.2 GHz, 1 GB, PCI-X 133 MHz; PE4600: dual Xeon 2.4 GHz, PCI-X 100 MHz",
            network: "Intel PRO/10GbE LR, back to back or through a Foundry FastIron 1500",
            software: "Debian, Linux 2.4.19 to 2.5.44",
        }],
        doubts: &[
            "of the curves only the peaks are stated",
            "the window of 52 KB is for back to back; through the switch the same sum gives 67.5 KB, above the \
             default window that the text calls large enough",
            "8160 B frames at 88 400 a second are 5.77 Gb/s, not the printed 5.5",
            "the load is a decaying average over a minute, not a utilisation",
        ],
    },
    Paper {
        id: "S003",
        short: "Balaji et al. 2005",
        title: "Head-to-TOE evaluation of high-performance sockets over protocol offload engines",
        authors: "P. Balaji, W. Feng, Q. Gao, R. Noronha, W. Yu, D. K. Panda",
        venue: "IEEE International Conference on Cluster Computing",
        year: 2005,
        testbeds: &[Testbed {
            id: "E",
            hosts: "4 × dual Xeon 3.0 GHz, 512 KB L2, 2 GB DDR266, PCI-X 64 bit 133 MHz",
            network: "Chelsio T110 with its offload engine and Foundry SuperX; InfiniBand 4x MT23108; \
                      Myrinet-2000 E, two ports",
            software: "Red Hat 9, Linux 2.4.25smp, SDP over InfiniBand, GM 2.1.9 and MX 1.0.0",
        }],
        doubts: &[
            "the text and the caption swap polling and event-driven in Figures 3a and 3b",
            "SDP/MX is slower than SDP/GM when event-driven and faster when polling, as printed",
            "hot-spot, fan-in, fan-out and most application results are in figures only and not here",
        ],
    },
    Paper {
        id: "S004",
        short: "Cope et al. 2007",
        title: "Experiences deploying a 10 Gigabit Ethernet computing environment to support regional \
                computational science",
        authors: "J. Cope, T. Voran, M. Woitaszek, A. Boggs, S. McCreary, M. Oberg, H. M. Tufo",
        venue: "8th LCI International Conference on High-Performance Clustered Computing",
        year: 2007,
        testbeds: &[
            Testbed {
                id: "F",
                hosts: "five types of Opteron and Xeon hosts, of Table 1",
                network: "Myri-10G, crossover or through a Force10 S50",
                software: "SLES9, Linux 2.6.18, myri10ge 1.1.0, MX 1.2.0e",
            },
            Testbed {
                id: "G",
                hosts: "quad-core Xeon in Boulder, dual Opteron 252 at NCAR",
                network: "a metropolitan 10 Gb/s path between two sites",
                software: "SLES9, Linux 2.6.18",
            },
        ],
        doubts: &[
            "the rows of Table 1 and the cells of Table 2 were put together again from a text without columns",
            "the 2808 Mb/s of Table 1 is less than either direction alone: a digit is probably lost",
            "three cells of Table 3 (HPN scp, arcfour) look like MB/s",
            "Table 5 holds whole round trips",
        ],
    },
];
