//! What one host of a lab sends or receives at, whoever the other one is.

use super::pair::{host_name, host_number};
use crate::unit::BitRate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The rate of one direction of a host's link to the switch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PortRate {
    /// The host.
    pub host: String,
    /// Whether it is what the host sends; else what it receives.
    pub sends: bool,
    /// Bits a second.
    pub rate: BitRate,
}

impl PortRate {
    /// `k-.rate=5000000b/s`, `-k.rate=5000000b/s`.
    pub(super) fn as_written(&self) -> String {
        let end = if self.sends { format!("{}-", self.host) } else { format!("-{}", self.host) };
        format!("{end}.rate={}b/s", self.rate.0)
    }
}

/// The host of `k-` or `-k`, and whether it sends; none of a pair.
pub(super) fn port_of(text: &str) -> Option<(String, bool)> {
    let (name, sends) = match (text.strip_suffix('-'), text.strip_prefix('-')) {
        (Some(name), None) => (name, true),
        (None, Some(name)) => (name, false),
        _ => return None,
    };
    Some((host_name(host_number(name)?), sends))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_of_a_host_is_told_from_a_pair() {
        assert_eq!(port_of("k-"), Some(("k".into(), true)));
        assert_eq!(port_of("-bl"), Some(("bl".into(), false)));
        for text in ["k", "-", "--", "-k-", "a-b", "K-", "-bm"] {
            assert_eq!(port_of(text), None, "{text}");
        }
    }
}
