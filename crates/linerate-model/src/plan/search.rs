//! What a search for causes tries on a rung: an arm for each experiment that changes something there, and for each hindrance.

use super::{Arm, ArmKind, Setting, SettingError};
use crate::vocabulary::{CAUSES, Cause, HINDRANCES, Place, Rung};

/// The experiments of every cause, in the order of the causes; those on the hosts' settings where that is allowed.
pub fn experiments(rung: &Rung, settings: &[Setting], with_hosts: bool) -> Result<Vec<Arm>, SettingError> {
    let of_causes = CAUSES.iter().map(|cause| of_cause(cause, rung, settings, with_hosts));
    Ok(of_causes.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

/// The experiments of one cause, but for what holds there already, and for what would undo nothing.
fn of_cause(
    cause: &Cause,
    rung: &Rung,
    settings: &[Setting],
    with_hosts: bool,
) -> Result<Vec<Arm>, SettingError> {
    let arm = |text: &&str| -> Result<Arm, SettingError> {
        let changed = text.split('+').map(str::parse).collect::<Result<Vec<Setting>, _>>()?;
        Ok(Arm { cause: Some(cause.name.into()), ..Arm::candidate(changed) })
    };
    let on_hosts = cause.on_hosts.iter().filter(|_| with_hosts && rung.place == Place::Network);
    let own = cause.experiments.iter().chain(cause.between);
    let arms = own.chain(on_hosts).map(arm).collect::<Result<Vec<Arm>, _>>()?;
    let held = |setting: &Setting| {
        settings.iter().rfind(|held| held.knob == setting.knob && held.applies_to(rung.id))
    };
    let changes = |arm: &Arm| {
        let is_there = |setting: &Setting| held(setting).is_some_and(|held| held.value == setting.value);
        let is_set = |setting: &Setting| held(setting).is_some();
        arm.settings.iter().all(|setting| setting.acts_on(rung))
            && !arm.settings.iter().all(is_there)
            && (!cause.undoes || arm.settings.iter().any(is_set))
    };
    Ok(arms.into_iter().filter(changes).collect())
}

/// What can be added to a rung's streams; nothing of which the plan itself sets another value.
pub fn hindrances(rung: &Rung, settings: &[Setting]) -> Result<Vec<Arm>, SettingError> {
    let arm = |text: &&str| -> Result<Arm, SettingError> {
        Ok(Arm { kind: ArmKind::Hindered, ..Arm::candidate(vec![text.parse()?]) })
    };
    let all = HINDRANCES.iter().flat_map(|hindrance| hindrance.settings).map(arm);
    let is_set = |adds: &Setting| settings.iter().any(|it| it.knob == adds.knob && it.applies_to(rung.id));
    let adds = |arm: &Arm| arm.settings.iter().all(|adds| adds.acts_on(rung) && !is_set(adds));
    Ok(all.collect::<Result<Vec<_>, _>>()?.into_iter().filter(adds).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn causes(settings: &[&str]) -> Vec<String> {
        let settings: Vec<Setting> = settings.iter().map(|text| text.parse().unwrap()).collect();
        let arms = experiments(Rung::named("network.tcp").unwrap(), &settings, false).unwrap();
        arms.into_iter().filter_map(|arm| arm.cause).collect()
    }

    #[test]
    fn what_undoes_is_tried_where_the_plan_sets_it() {
        let is_tried = |settings: &[&str]| causes(settings).iter().any(|cause| cause == "slow-reader");
        assert!(!is_tried(&[]));
        assert!(is_tried(&["shim.read-rate=100Mb/s"]) && is_tried(&["network.tcp:shim.read-rate=100Mb/s"]));
        assert!(!is_tried(&["in-host.tcp:shim.read-rate=100Mb/s"]));
    }

    #[test]
    fn hosts_are_changed_where_that_is_allowed() {
        let count = |with_hosts: bool| {
            let arms = experiments(Rung::named("network.tcp").unwrap(), &[], with_hosts).unwrap();
            let is_of_host = |setting: &Setting| setting.knob.starts_with("host.");
            arms.iter().flat_map(|arm| &arm.settings).filter(|setting| is_of_host(setting)).count()
        };
        assert!(count(false) == 0 && count(true) >= 5);
    }

    #[test]
    fn what_the_plan_sets_itself_is_not_hindered() {
        let added = |settings: &[&str]| {
            let settings: Vec<Setting> = settings.iter().map(|text| text.parse().unwrap()).collect();
            hindrances(Rung::named("network.tcp").unwrap(), &settings).unwrap().len()
        };
        assert_eq!(added(&[]) - added(&["tcp.mss=536"]), 1);
        assert_eq!(added(&[]), added(&["in-host.tcp:tcp.mss=536"]));
    }

    #[test]
    fn what_holds_already_is_no_experiment() {
        let count =
            |settings: &[&str]| causes(settings).iter().filter(|it| *it == "small-send-buffer").count();
        assert_eq!((count(&[]), count(&["socket.send-buffer=4MiB"])), (1, 0));
    }
}
