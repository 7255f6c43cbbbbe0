//! Why a rate is lost: causes, each with the signs that raise it and the experiment that decides.

mod paces;
mod table;

pub use table::CAUSES;

/// What a path shows that speaks of a cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// A [bound](super::BOUNDS) near the rate.
    Bound(&'static str),
    /// A [signal](super::SIGNALS).
    Signal(&'static str),
    /// A [warning](super::WARNINGS) of the report.
    Warning(&'static str),
}

/// A cause of lost performance.
#[derive(Debug)]
pub struct Cause {
    /// The name in reports.
    pub name: &'static str,
    /// What it is, as the object of a sentence: `a send buffer smaller than what is in flight`.
    pub what: &'static str,
    /// Its signs. One must be seen, so that nothing is named for an experiment alone; where there is no experiment all
    /// of them, so that nothing is named for a single sign.
    pub signs: &'static [Sign],
    /// Signs of another cause that looks the same.
    pub against: &'static [Sign],
    /// What is changed, each by itself; `+` joins what is changed together. One of them must move the rate. Empty where
    /// nothing of the test's own could change it.
    pub experiments: &'static [&'static str],
    /// Experiments between those: where one of them takes losses away, and gains nothing, what lies between it and the next
    /// one is tried.
    pub between: &'static [&'static str],
    /// The same on the hosts' own settings: only where that is allowed.
    pub on_hosts: &'static [&'static str],
    /// Whether its experiments take back what the plan itself sets: without that they change nothing.
    pub undoes: bool,
    /// Whether a healthy path has it not. Else it is what the work costs these hosts.
    pub is_fault: bool,
    /// What removes it.
    pub fix: &'static str,
    /// Where that comes from.
    pub source: &'static str,
}

/// The signal of a path as it stands on which no message came through.
pub const NOTHING_PASSES: &str = "nothing-passes";

impl Sign {
    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Sign::Bound(name) | Sign::Signal(name) | Sign::Warning(name) => name,
        }
    }
}

impl Cause {
    /// Whether nothing at all passes where it is, so that its experiments are made where the path as it stands has failed.
    pub fn stops_all(&self) -> bool {
        self.signs.contains(&Sign::Signal(NOTHING_PASSES))
    }

    /// The cause with this name; none where this version has none.
    pub fn named(name: &str) -> Option<&'static Cause> {
        CAUSES.iter().find(|cause| cause.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{BOUNDS, KNOBS, SIGNALS, WARNINGS};
    use super::*;

    fn is_known(sign: Sign) -> bool {
        match sign {
            Sign::Bound(name) => BOUNDS.iter().any(|bound| bound.name == name),
            Sign::Signal(name) => SIGNALS.iter().any(|signal| signal.name == name),
            Sign::Warning(code) => WARNINGS.iter().any(|warning| warning.code == code),
        }
    }

    #[test]
    fn every_sign_is_known_and_every_experiment_a_knob() {
        for cause in CAUSES {
            assert!(!cause.signs.is_empty(), "{}", cause.name);
            for sign in cause.signs.iter().chain(cause.against) {
                assert!(is_known(*sign), "{}: {sign:?}", cause.name);
            }
            let all = cause.experiments.iter().chain(cause.between).chain(cause.on_hosts);
            for setting in all.flat_map(|one| one.split('+')) {
                let knob = setting.split('=').next();
                assert!(KNOBS.iter().any(|entry| Some(entry.name) == knob), "{}: {setting}", cause.name);
            }
        }
    }

    #[test]
    fn what_is_changed_on_hosts_is_a_host_s() {
        use super::super::{Had, Knob};
        for (cause, setting) in
            CAUSES.iter().flat_map(|cause| cause.on_hosts.iter().map(move |it| (cause, it)))
        {
            for knob in setting.split('+').filter_map(|one| Knob::named(one.split('=').next()?)) {
                assert!(matches!(knob.had, Had::Host | Had::Links), "{}: {setting}", cause.name);
            }
        }
    }

    #[test]
    fn nothing_is_named_on_a_single_signal() {
        for cause in CAUSES.iter().filter(|cause| cause.experiments.is_empty()) {
            assert!(cause.signs.len() >= 2, "{}", cause.name);
        }
    }
}
