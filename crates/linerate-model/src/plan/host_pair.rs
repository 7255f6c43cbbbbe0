//! The pairs of hosts between which something is measured at once.

use super::host::{HostGroup, HostId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;

/// A direction from one host to another, or within one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostPair {
    /// The host that sends (or pings, or works alone).
    pub from: HostId,
    /// The host that receives (or echoes).
    pub to: HostId,
}

impl fmt::Display for HostPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.from == self.to { write!(f, "{}", self.from) } else { write!(f, "{}>{}", self.from, self.to) }
    }
}

/// The pairs of hosts that a case is measured between at once.
///
/// Written as two lists: `a+b` to `c` are two pairs that share a host, and with `matched` `a+c` to `b+d` are `a` to `b`
/// and `c` to `d`.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Written", into = "Written")]
#[schemars(with = "Written")]
pub struct Pairs(Vec<HostPair>);

/// The most pairs of a case.
const MOST_PAIRS: usize = 1 << 12;

/// [`Pairs`] as they stand in a recording.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
struct Written {
    /// The hosts that send (or ping, or work alone): `a`, or `a+b`.
    from: HostGroup,
    /// The hosts that receive (or echo); the same ones for in-host rungs.
    to: HostGroup,
    /// Whether the first sends to the first, the second to the second and so on; else each to each.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    matched: bool,
}

impl From<Pairs> for Written {
    fn from(pairs: Pairs) -> Written {
        let (from, to) = (pairs.senders(), pairs.receivers());
        let matched = pairs != Pairs::each_to_each(&from.0, &to.0);
        if !matched {
            return Written { from, to, matched };
        }
        let list = |end: fn(HostPair) -> HostId| pairs.iter().map(end).collect();
        Written { from: list(|pair| pair.from), to: list(|pair| pair.to), matched }
    }
}

impl TryFrom<Written> for Pairs {
    type Error = String;

    fn try_from(written: Written) -> Result<Pairs, String> {
        let (HostGroup(from), HostGroup(to)) = (written.from, written.to);
        let pairs =
            if written.matched { from.len().max(to.len()) } else { from.len().saturating_mul(to.len()) };
        if pairs > MOST_PAIRS {
            return Err(format!("a case has at most {MOST_PAIRS} pairs of hosts"));
        }
        match written.matched {
            false => Ok(Pairs::each_to_each(&from, &to)),
            true if from.len() == to.len() => {
                Ok(from.into_iter().zip(to).map(|(from, to)| HostPair { from, to }).collect())
            }
            true => Err(format!("{} hosts cannot be matched with {}", from.len(), to.len())),
        }
    }
}

impl FromIterator<HostPair> for Pairs {
    fn from_iter<I: IntoIterator<Item = HostPair>>(pairs: I) -> Pairs {
        Pairs(pairs.into_iter().collect())
    }
}

impl Pairs {
    /// One pair.
    pub fn single(from: HostId, to: HostId) -> Pairs {
        Pairs(vec![HostPair { from, to }])
    }

    /// Each of these with each of those.
    pub fn each_to_each(from: &[HostId], to: &[HostId]) -> Pairs {
        from.iter().flat_map(|from| to.iter().map(|to| HostPair { from: *from, to: *to })).collect()
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Every pair.
    pub fn iter(&self) -> impl Iterator<Item = HostPair> {
        self.0.iter().copied()
    }

    /// The first pair: its ends play the same parts as those of the others.
    pub fn first(&self) -> HostPair {
        self.0.first().copied().unwrap_or_default()
    }

    /// The hosts that send (or ping), once each.
    pub fn senders(&self) -> HostGroup {
        once_each(self.iter().map(|pair| pair.from))
    }

    /// The hosts that receive (or echo), once each.
    pub fn receivers(&self) -> HostGroup {
        once_each(self.iter().map(|pair| pair.to))
    }

    /// The senders' names: `a+b`.
    pub fn from_names(&self) -> String {
        self.senders().to_string()
    }

    /// The receivers' names.
    pub fn to_names(&self) -> String {
        self.receivers().to_string()
    }

    /// Whether both ends stand on the same host.
    pub fn is_within_host(&self) -> bool {
        self.iter().all(|pair| pair.from == pair.to)
    }

    /// Whether data goes from the host that comes first; within a host it does.
    pub fn is_forward(&self) -> bool {
        self.first().from <= self.first().to
    }

    /// Whether a host plays a part.
    pub fn has(&self, host: HostId) -> bool {
        self.iter().any(|pair| pair.from == host || pair.to == host)
    }

    /// Whether there are several that have no host in common: then each has an outcome of its own.
    pub fn are_disjoint(&self) -> bool {
        let ends = self.iter().flat_map(|pair| BTreeSet::from([pair.from, pair.to])).collect::<Vec<_>>();
        self.len() > 1 && ends.iter().collect::<BTreeSet<_>>().len() == ends.len()
    }

    /// The parts that have an outcome each: of disjoint pairs every one, else all together.
    pub fn apart(&self) -> Vec<Pairs> {
        match self.are_disjoint() {
            true => self.iter().map(|pair| Pairs::single(pair.from, pair.to)).collect(),
            false => vec![self.clone()],
        }
    }

    /// The same hosts with their parts exchanged.
    pub fn reversed(&self) -> Pairs {
        self.iter().map(|pair| HostPair { from: pair.to, to: pair.from }).collect()
    }
}

/// `a>b, c>d`; hosts that share an end are joined: `b+c>a`.
impl fmt::Display for Pairs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_within_host() {
            return f.pad(&self.from_names());
        }
        let each = |pairs: &Pairs| format!("{}>{}", pairs.from_names(), pairs.to_names());
        f.pad(&self.apart().iter().map(each).collect::<Vec<_>>().join(", "))
    }
}

fn once_each(hosts: impl Iterator<Item = HostId>) -> HostGroup {
    let mut seen = BTreeSet::new();
    hosts.filter(|host| seen.insert(*host)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> Pairs {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn pairs_as_they_were_always_written() {
        for text in [
            r#"{"from":"a","to":"b"}"#,
            r#"{"from":"a","to":"a"}"#,
            r#"{"from":"b+c+d","to":"a"}"#,
            r#"{"from":"a","to":"b+c"}"#,
            r#"{"from":"a+c","to":"b+d","matched":true}"#,
            r#"{"from":"a+b","to":"c+a","matched":true}"#,
        ] {
            assert_eq!(serde_json::to_string(&pairs(text)).unwrap(), text);
        }
    }

    #[test]
    fn pairs_that_cannot_be() {
        let many = vec!["a"; MOST_PAIRS + 1].join("+");
        for (from, to, matched) in [
            ("a+b", "c", true),
            ("A", "b", true),
            (&many, &many, true),
            (&many, "a", false),
            ("a", &many, false),
        ] {
            let text = serde_json::json!({"from": from, "to": to, "matched": matched}).to_string();
            assert!(serde_json::from_str::<Pairs>(&text).is_err());
        }
    }

    #[test]
    fn only_disjoint_pairs_have_their_own_outcomes() {
        let [fan, two] =
            [r#"{"from":"b+c","to":"a"}"#, r#"{"from":"a+c","to":"b+d","matched":true}"#].map(pairs);
        assert_eq!(
            (fan.are_disjoint(), fan.apart(), fan.to_string()),
            (false, vec![fan.clone()], "b+c>a".into())
        );
        assert_eq!((two.are_disjoint(), two.apart().len(), two.to_string()), (true, 2, "a>b, c>d".into()));
        assert_eq!(pairs(r#"{"from":"a","to":"a"}"#).to_string(), "a");
    }
}
