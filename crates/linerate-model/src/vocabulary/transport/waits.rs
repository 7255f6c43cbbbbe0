//! How the ends of a transport can wait, where they cannot wait either way.

use super::TransportEntry;
use crate::vocabulary::{Place, Wait};

/// A value of a knob with which ends that otherwise only poll wait otherwise.
#[derive(Debug)]
pub struct OtherWait {
    /// The knob.
    pub knob: &'static str,
    /// Its value.
    pub value: &'static str,
    /// Whether only where both ends are on one host.
    pub within_a_host: bool,
    /// How they wait then.
    pub wait: Wait,
}

/// Every one; of several that hold, the first. All of LAM's ways wait in select(2), read(2) or semop(2), but for spin
/// locks.
pub const OTHER_WAITS: &[OtherWait] = &[
    OtherWait { knob: "mpi.rpi", value: "usysv", within_a_host: true, wait: Wait::Polling },
    OtherWait { knob: "mpi.implementation", value: "lam", within_a_host: false, wait: Wait::Sleeping },
];

impl TransportEntry {
    /// The only way in which its ends can wait, with these values of knobs; none where they can wait either way.
    pub fn only_wait<'v>(&self, place: Place, value: impl Fn(&str) -> Option<&'v str>) -> Option<Wait> {
        let holds = |other: &&OtherWait| {
            (place == Place::InHost || !other.within_a_host) && value(other.knob) == Some(other.value)
        };
        let other = OTHER_WAITS.iter().find(holds).map(|other| other.wait);
        self.only_polls.then(|| other.unwrap_or(Wait::Polling))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::{Knob, KnobKind, TRANSPORTS};

    fn only(transport: &str, place: Place, settings: &[(&str, &'static str)]) -> Option<Wait> {
        let entry = TRANSPORTS.iter().find(|entry| entry.name == transport).unwrap();
        entry
            .only_wait(place, |knob| settings.iter().find(|(name, _)| *name == knob).map(|(_, value)| *value))
    }

    #[test]
    fn ranks_wait_as_their_library_does() {
        let lam = ("mpi.implementation", "lam");
        let spins = [lam, ("mpi.rpi", "usysv")];
        for place in [Place::InHost, Place::Network] {
            assert_eq!(only("mpi", place, &[]), Some(Wait::Polling));
            assert_eq!(only("mpi", place, &[("mpi.implementation", "mpich")]), Some(Wait::Polling));
            assert_eq!(only("mpi", place, &[lam]), Some(Wait::Sleeping));
            assert_eq!(only("tcp", place, &spins), None);
        }
        assert_eq!(only("mpi", Place::InHost, &spins), Some(Wait::Polling));
        assert_eq!(only("mpi", Place::Network, &spins), Some(Wait::Sleeping), "between two hosts it is TCP");
    }

    #[test]
    fn every_one_is_of_a_knob_that_has_this_value() {
        for other in OTHER_WAITS {
            let knob = Knob::named(other.knob).expect(other.knob);
            let KnobKind::OneOf(values) = knob.kind else { panic!("{} has no names", knob.name) };
            assert!(values.contains(&other.value), "{}", other.value);
        }
    }
}
