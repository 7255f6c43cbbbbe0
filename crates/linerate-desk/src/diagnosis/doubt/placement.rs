//! CPUs of the hosts that a hint can name.

use crate::record::{HostFacts, Recording};
use crate::vocabulary::Placements;
use std::collections::BTreeSet;

/// The first CPUs that both ends may use, and the first that no end was on.
pub fn placements(recording: &Recording) -> Placements {
    let roles = recording.steps.iter().flat_map(|step| &step.roles);
    let used: BTreeSet<u32> = roles.flat_map(|role| &role.cpus).copied().collect();
    Placements { first: pair(recording, |_| true), other: pair(recording, |cpu| !used.contains(cpu)) }
}

/// A CPU for each of two ends. Those of one machine need two.
fn pair(recording: &Recording, wanted: impl Fn(&u32) -> bool) -> Option<String> {
    let from = recording.hosts.first()?;
    let to = recording.hosts.get(1).unwrap_or(from);
    let of = |host: &HostFacts, nth: usize| host.cpus.iter().copied().filter(&wanted).nth(nth);
    let (sender, receiver) = (of(from, 0)?, of(to, usize::from(from.machine == to.machine))?);
    Some(format!("{sender}/{receiver}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::synthetic::Synthetic;
    use crate::vocabulary::{WARNINGS, Warning};

    fn on(cpus: &[u32]) -> Placements {
        let mut recording = Synthetic::default().recording();
        for host in &mut recording.hosts {
            (host.cpus, host.machine) = (cpus.to_vec(), "one".into());
        }
        placements(&recording)
    }

    #[test]
    fn hints_name_cpus_that_there_are() {
        let hint = |code, cpus: &[u32]| Warning::named(code).unwrap().hint_with(&on(cpus));
        assert_eq!(hint("foreign-cpu", &[0, 1]), "stop it");
        assert_eq!(
            hint("foreign-cpu", &[0, 1, 4, 5]),
            "stop it, or choose other CPUs with --set cpu.placement=4/5"
        );
        assert_eq!(hint("migrated", &[3, 7]), "pin it: --set cpu.placement=3/7");
        assert_eq!(hint("migrated", &[3]), "pin it");
        for warning in WARNINGS {
            assert!(!warning.hint_with(&on(&[0])).contains(['[', ']', '{']), "{}", warning.code);
        }
    }
}
