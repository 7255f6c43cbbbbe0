//! The memory in which a host puts fragmented datagrams together.
//!
//! A datagram that lacks a fragment stays for `ipfrag_time`, 30 s, and where such ones fill `ipfrag_high_thresh` no
//! fragment of another datagram is taken (`inet_frag_alloc` in the kernel's net/ipv4/inet_fragment.c). After a flood
//! of large datagrams none would come through, for a reason that is not of what is measured next.

use std::time::Duration;

/// Of each family: what is used, the name of the line there, and how much may be.
const FILES: [[&str; 3]; 2] = [
    ["/proc/thread-self/net/sockstat", "FRAG:", "/proc/sys/net/ipv4/ipfrag_high_thresh"],
    ["/proc/thread-self/net/sockstat6", "FRAG6:", "/proc/sys/net/ipv6/ip6frag_high_thresh"],
];

/// Settings after which what is incomplete is given up, in seconds.
const TIMES: [&str; 2] = ["/proc/sys/net/ipv4/ipfrag_time", "/proc/sys/net/ipv6/ip6frag_time"];

/// The kernel's own time for IPv4 (`IP_FRAG_TIME`; IPv6 has 60 s), where it cannot be read.
const USUAL_S: u64 = 30;

/// From this share on it is not free: what is measured next wants some of it.
const FREE_SHARE: f64 = 0.5;

/// Whether what is incomplete leaves room for others, in the calling thread's network namespace. What cannot be read
/// is not full.
pub fn has_room() -> bool {
    FILES.iter().all(|[usage, name, threshold]| {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        share(&read(usage), name, &read(threshold)).is_none_or(|share| share < FREE_SHARE)
    })
}

/// After how long all that is incomplete now is given up.
pub fn lifetime() -> Duration {
    let seconds = TIMES.iter().filter_map(|path| std::fs::read_to_string(path).ok()?.trim().parse().ok());
    Duration::from_secs(seconds.max().unwrap_or(USUAL_S))
}

/// `FRAG: inuse 0 memory 0` against the most that may be used.
fn share(usage: &str, name: &str, threshold: &str) -> Option<f64> {
    let line = usage.lines().find_map(|line| line.strip_prefix(name))?;
    let mut words = line.split_ascii_whitespace().skip_while(|word| *word != "memory").skip(1);
    let (used, most): (f64, f64) = (words.next()?.parse().ok()?, threshold.trim().parse().ok()?);
    Some(used / most.max(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_is_a_share_of_what_may_be() {
        let usage = "UDP: inuse 1 mem 138\nFRAG: inuse 60 memory 4194448\n";
        assert!(share(usage, "FRAG:", "4194304\n").unwrap() > 1.0);
        assert_eq!(share("FRAG6: inuse 0 memory 0", "FRAG6:", "4194304"), Some(0.0));
        assert_eq!(share(usage, "FRAG6:", "4194304"), None);
        for cut in 0..usage.len() {
            share(&usage[..cut], "FRAG:", "");
        }
    }

    #[test]
    fn this_kernel_tells_it() {
        assert!(has_room() && lifetime() >= Duration::from_secs(1));
        let usage = std::fs::read_to_string(FILES[0][0]).unwrap();
        let threshold = std::fs::read_to_string(FILES[0][2]).unwrap();
        assert!(share(&usage, FILES[0][1], &threshold).is_some(), "{usage}{threshold}");
    }
}
