//! Why a rate is lost: causes, each with the sign that raises it and the experiment that decides.

/// A cause of lost performance.
#[derive(Debug)]
pub struct Cause {
    /// The name in reports.
    pub name: &'static str,
    /// What it is, as the object of a sentence: `a send buffer smaller than what is in flight`.
    pub what: &'static str,
    /// Its signs: bounds of which one must lie near the rate, so that nothing is named for an experiment alone.
    pub signs: &'static [&'static str],
    /// What is changed, each by itself; `+` joins what is changed together. One of them must move the rate.
    pub experiments: &'static [&'static str],
    /// Whether a healthy path has it not. Else it is what the work costs these hosts.
    pub is_fault: bool,
    /// What removes it.
    pub fix: &'static str,
    /// Where that comes from.
    pub source: &'static str,
}

/// Every cause, in the order of the ladder: what is below explains what is above.
pub const CAUSES: &[Cause] = &[
    Cause {
        name: "small-send-buffer",
        what: "a send buffer smaller than what must be in flight",
        signs: &["send-buffer", "congestion-window"],
        experiments: &["socket.send-buffer=4MiB"],
        is_fault: true,
        fix: "leave SO_SNDBUF alone, or raise the limit: sysctl -w net.ipv4.tcp_wmem='4096 65536 67108864'",
        source: "tcp(7), tcp_wmem; Turner and Chen 2002, section 3",
    },
    Cause {
        name: "small-receive-window",
        what: "a receive window smaller than what must be in flight",
        signs: &["receive-window"],
        experiments: &["socket.receive-buffer=4MiB"],
        is_fault: true,
        fix: "leave SO_RCVBUF alone, or raise the limit: sysctl -w net.ipv4.tcp_rmem='4096 131072 67108864'",
        source: "tcp(7), tcp_rmem; RFC 7323, section 2; Turner and Chen 2002, section 3",
    },
    Cause {
        name: "small-buffers",
        what: "buffers at both ends smaller than what must be in flight",
        signs: &["send-buffer", "receive-window", "congestion-window"],
        experiments: &["socket.send-buffer=4MiB+socket.receive-buffer=4MiB"],
        is_fault: true,
        fix: "raise both limits: sysctl -w net.ipv4.tcp_wmem='4096 65536 67108864' net.ipv4.tcp_rmem='4096 131072 67108864'",
        source: "tcp(7), tcp_wmem and tcp_rmem",
    },
    Cause {
        name: "unfit-congestion-control",
        what: "a congestion control that does not suit the path",
        signs: &["congestion-window"],
        experiments: &[
            "tcp.congestion-control=cubic",
            "tcp.congestion-control=bbr",
            "tcp.congestion-control=reno",
        ],
        is_fault: true,
        fix: "choose the better one: sysctl -w net.ipv4.tcp_congestion_control=NAME; bbr wants the fq queue",
        source: "RFC 9438; Cardwell et al., BBR, ACM Queue 14(5), 2016",
    },
    Cause {
        name: "sender-copies",
        what: "the copy that each send(2) makes",
        signs: &["sender-cpu"],
        experiments: &["tcp.send-engine=sendfile"],
        is_fault: false,
        fix: "send from the page cache (sendfile, splice) or without a copy (MSG_ZEROCOPY), or with more threads",
        source: "sendfile(2); Cope et al. 2007, section 5.2",
    },
    Cause {
        name: "receiver-copies",
        what: "the copy that each recv(2) makes",
        signs: &["receiver-cpu", "receive-window"],
        experiments: &["tcp.receive-engine=discard"],
        is_fault: false,
        fix: "receive with more threads, or without a copy (TCP_ZEROCOPY_RECEIVE)",
        source: "tcp(7), MSG_TRUNC; Cai et al., Understanding host network stack overheads, SIGCOMM 2021",
    },
    Cause {
        name: "receiver-wake-ups",
        what: "a receiver that is woken for each segment",
        signs: &["receiver-cpu", "sender-cpu", "receive-window"],
        experiments: &["tcp.receive-engine=coalescing"],
        is_fault: false,
        fix: "wait for more at once: larger reads, SO_RCVLOWAT",
        source: "socket(7), SO_RCVLOWAT",
    },
];

impl Cause {
    /// The cause with this name; none where this version has none.
    pub fn named(name: &str) -> Option<&'static Cause> {
        CAUSES.iter().find(|cause| cause.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{BOUNDS, KNOBS};
    use super::*;

    #[test]
    fn every_sign_is_a_bound_and_every_experiment_a_knob() {
        for cause in CAUSES {
            assert!(!cause.signs.is_empty() && !cause.experiments.is_empty(), "{}", cause.name);
            for sign in cause.signs {
                assert!(BOUNDS.iter().any(|bound| bound.name == *sign), "{}: {sign}", cause.name);
            }
            for setting in cause.experiments.iter().flat_map(|one| one.split('+')) {
                let knob = setting.split('=').next();
                assert!(KNOBS.iter().any(|entry| Some(entry.name) == knob), "{}: {setting}", cause.name);
            }
        }
    }
}
