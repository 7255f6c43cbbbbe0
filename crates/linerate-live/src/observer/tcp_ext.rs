//! What TCP of the calling thread's network namespace counted beside its connections: `TcpExt` of /proc/net/netstat.

use std::collections::BTreeMap;

/// Counters that tell why a stream was slow, by the kernel's names (Documentation/networking/snmp_counter.rst).
const TOLD: [&str; 16] = [
    "PruneCalled",
    "RcvPruned",
    "OfoPruned",
    "TCPBacklogDrop",
    "TCPBacklogCoalesce",
    "TCPRcvQDrop",
    "TCPMemoryPressures",
    "TCPRcvCollapsed",
    "TCPToZeroWindowAdv",
    "TCPFromZeroWindowAdv",
    "TCPZeroWindowDrop",
    "TCPLostRetransmit",
    "TCPTimeouts",
    "TCPSpuriousRTOs",
    "TCPDSACKRecv",
    "TCPOFOQueue",
];

/// The counters at one moment.
#[derive(Debug, Default)]
pub struct TcpExt(BTreeMap<String, u64>);

impl TcpExt {
    /// Reads them; none where they cannot be read.
    pub fn read() -> TcpExt {
        TcpExt(counters(&std::fs::read_to_string("/proc/thread-self/net/netstat").unwrap_or_default()))
    }

    /// Those that moved since.
    pub fn moved(&self, later: &TcpExt) -> BTreeMap<String, u64> {
        let by = |(name, value): (&String, &u64)| {
            (name.clone(), value.saturating_sub(self.0.get(name).copied().unwrap_or_default()))
        };
        later.0.iter().map(by).filter(|(_, by)| *by > 0).collect()
    }
}

/// A line of names and a line of numbers.
fn counters(text: &str) -> BTreeMap<String, u64> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("TcpExt:"));
    let (names, numbers) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let pairs = names.split_ascii_whitespace().zip(numbers.split_ascii_whitespace());
    let told = pairs.filter(|(name, _)| TOLD.contains(name));
    told.filter_map(|(name, number)| Some((name.to_owned(), number.parse().ok()?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moved_is_told_by_the_kernels_names() {
        let text = |prunes, zeros| {
            format!(
                "TcpExt: SyncookiesSent PruneCalled TCPToZeroWindowAdv\nTcpExt: 9 {prunes} {zeros}\nIpExt: A\nIpExt: 1\n"
            )
        };
        let [before, after] = [text(3, 4), text(3, 9)].map(|text| TcpExt(counters(&text)));
        assert_eq!(before.moved(&after), [("TCPToZeroWindowAdv".to_owned(), 5)].into());
        assert!(
            ["", "TcpExt: PruneCalled", "TcpExt: PruneCalled\nTcpExt: x"]
                .iter()
                .all(|cut| counters(cut).is_empty())
        );
        assert!(!TcpExt::read().0.is_empty());
    }
}
