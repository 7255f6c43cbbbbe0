//! What is added to a path to see what its rate is sensitive to: each costs one thing more, and where that is not what binds
//! the rate stays.

/// Something known that is added to the work of a stream.
#[derive(Debug)]
pub struct Hindrance {
    /// The name in reports.
    pub name: &'static str,
    /// What the rate is sensitive to where it falls: `the time of the sending thread`.
    pub of: &'static str,
    /// What is set. Where there are several values the one nearest to half of what is in flight is taken.
    pub settings: &'static [&'static str],
    /// The share of the rate that it costs at most, where that is known: where nothing but this binds.
    pub at_most: Option<f64>,
    /// What that says.
    pub hint: &'static str,
    /// Where it comes from.
    pub source: &'static str,
}

/// A fifth more of what binds leaves five sixths of the rate.
const OF_A_FIFTH: Option<f64> = Some(1.0 / 6.0);

const VIRTUAL: &str = "Curtsinger and Berger, Coz: finding code that counts with causal profiling, SOSP 2015";

/// Every hindrance; where there is no time for all of them the first ones are added.
pub const HINDRANCES: &[Hindrance] = &[
    Hindrance {
        name: "sender-work",
        of: "the time of the sending thread",
        settings: &["shim.sender-work=20"],
        at_most: OF_A_FIFTH,
        hint: "the sending thread binds: fewer copies, larger writes, more threads, a faster CPU",
        source: VIRTUAL,
    },
    Hindrance {
        name: "receiver-work",
        of: "the time of the receiving thread",
        settings: &["shim.receiver-work=20"],
        at_most: OF_A_FIFTH,
        hint: "the receiving thread binds: larger reads, fewer wake-ups, more threads, a faster CPU",
        source: VIRTUAL,
    },
    Hindrance {
        name: "half-window",
        of: "what may be in flight",
        settings: &[
            "socket.receive-buffer=8KiB",
            "socket.receive-buffer=16KiB",
            "socket.receive-buffer=32KiB",
            "socket.receive-buffer=64KiB",
            "socket.receive-buffer=128KiB",
            "socket.receive-buffer=256KiB",
            "socket.receive-buffer=512KiB",
            "socket.receive-buffer=1MiB",
            "socket.receive-buffer=2MiB",
            "socket.receive-buffer=4MiB",
            "socket.receive-buffer=8MiB",
            "socket.receive-buffer=16MiB",
        ],
        at_most: None,
        hint: "the window binds, as it would on a way twice as long: larger buffers, a shorter way",
        source: "RFC 7323, section 1.1: a window a round trip",
    },
    Hindrance {
        name: "more-packets",
        of: "packets",
        settings: &["tcp.mss=724"],
        at_most: None,
        hint: "what a packet costs counts: a larger MTU, offloads",
        source: "Feng et al., Optimizing 10-Gigabit Ethernet, SC 2003",
    },
    Hindrance {
        name: "more-calls",
        of: "calls of the sending end",
        settings: &["shim.write-size=16KiB"],
        at_most: None,
        hint: "what a call costs counts: send more with each",
        source: "write(2)",
    },
    Hindrance {
        name: "sender-copy",
        of: "copies at the sending end",
        settings: &["shim.copies=1"],
        at_most: None,
        hint: "memory of the sending end binds: send from where the data is",
        source: "Turner and Chen 2002, section 5",
    },
];

impl Hindrance {
    /// The hindrance with this name; none where this version has none.
    pub fn named(name: &str) -> Option<&'static Hindrance> {
        HINDRANCES.iter().find(|hindrance| hindrance.name == name)
    }

    /// Whether it is made by this setting.
    pub fn is_made_by(&self, setting: &str) -> bool {
        self.settings.contains(&setting)
    }
}

#[cfg(test)]
mod tests {
    use super::super::KNOBS;
    use super::*;

    #[test]
    fn each_is_a_setting_of_its_own() {
        let all: Vec<&str> = HINDRANCES.iter().flat_map(|hindrance| hindrance.settings).copied().collect();
        for (at, setting) in all.iter().enumerate() {
            let knob = setting.split('=').next();
            assert!(KNOBS.iter().any(|entry| Some(entry.name) == knob), "{setting}");
            assert!(!all[..at].contains(setting), "{setting} stands twice");
        }
    }
}
