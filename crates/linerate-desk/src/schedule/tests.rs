//! Whole runs without time passing: a made-up machine answers each step at once.

mod blocks;
mod pairs;

use super::visit::{self, Planner, Visit, Visits};
use super::{Entry, Passes, Schedule};
use crate::plan::{Plan, Profile, Rungs, Step, View, Why};
use crate::record::synthetic::Synthetic;
use crate::record::{
    Addition, Calibration, Event, Figure, Flow, HostCalibration, NotMeasured, Reason, Recording, RoleRecord,
    StepRecord, Trial, UnavailableTransport,
};
use crate::vocabulary::{CLOCK_READ, Pattern, Place, ReasonKind, Wait};
use std::collections::BTreeMap;

/// A message (or one way of a round trip) takes this long.
fn message_ns(step: &Step, bytes: u64) -> f64 {
    let ways = if step.case.pattern == Pattern::PingPong { 2.0 } else { 1.0 };
    ways * (800.0 + 0.15 * bytes as f64)
}

/// What a run of this step would have recorded.
fn answer(step: &Step) -> Vec<Event> {
    let mut duration_ns = 0;
    let mut events = Vec::new();
    for block in &step.blocks {
        let messages = block.messages * u64::from(block.slices);
        let block_ns = (messages as f64 * message_ns(step, block.message_bytes)) as u64;
        duration_ns += block_ns;
        let flow = || Flow { duration_ns: block_ns, bytes: block.bytes(), ..Flow::default() };
        let role = |role: &crate::plan::Role| RoleRecord {
            host: role.host,
            does: role.does,
            flows: (0..step.case.flows).map(|_| flow()).collect(),
            histogram: None,
            samples: Default::default(),
            pair: role.pair,
        };
        if block.lead < block.slices {
            let roles = step.roles.iter().map(role).collect();
            events.extend(Trial::of_block(step, &step.case, block, roles).into_iter().map(Event::Trial));
        }
    }
    events.push(Event::Step(StepRecord {
        step: step.number,
        pass: step.pass,
        why: step.why,
        case: step.case.clone(),
        beside: None,
        roles: step.roles.clone(),
        at_ns: 0,
        duration_ns,
        predicted_ns: step.predicted_ns,
        kept_awake: true,
        timer_slack_lowered: true,
        suspended_ns: 0,
        hosts: Vec::new(),
        sockets: Vec::new(),
        wire: None,
    }));
    events
}

/// The header and the hosts of a run between two hosts on one machine, nothing measured yet.
fn begun(edit: impl Fn(&mut Plan)) -> (Plan, Recording) {
    let full = Synthetic { passes: 1, ..Synthetic::default() }.recording();
    let mut recording = Recording { header: full.header, hosts: full.hosts, ..Recording::default() };
    let header = recording.header.as_mut().unwrap();
    let unasked = crate::vocabulary::RUNGS.iter().filter(|rung| !rung.on_request);
    header.plan.view = View::Ladder(Rungs::unnamed(unasked.map(|rung| rung.id)));
    edit(&mut header.plan);
    (header.plan.clone(), recording)
}

/// Runs to the end, or for so many steps.
fn run(plan: &Plan, mut recording: Recording, most: usize) -> (Vec<Step>, Recording) {
    let mut schedule = Passes::new(plan, &recording);
    let mut steps = Vec::new();
    while let Some(step) = schedule.next(&recording).filter(|_| steps.len() < most) {
        answer(&step).into_iter().for_each(|event| recording.push(event));
        steps.push(step);
    }
    (steps, recording)
}

#[test]
fn launches_are_part_of_a_runs_time() {
    let of = |rung: &str| {
        let (plan, recording) = begun(|plan| plan.view = View::Ladder(Rungs::unnamed([rung])));
        let passes = Passes::new(&plan, &recording);
        let steps: u64 = passes.entries().iter().map(|entry| entry.nominal_ns).sum();
        let launches = super::launch::launching_ns(passes.entries());
        assert!(passes.predicted_ns() >= u64::from(passes.passes()) * (steps + launches));
        launches
    };
    // One session serves both directions and all patterns.
    assert_eq!((of("network.tcp"), of("network.mpi")), (0, 800_000_000));
}

#[test]
fn every_pass_visits_all_in_an_order_of_its_own() {
    let (plan, recording) = begun(|plan| plan.profile.passes = 6);
    let (steps, _) = run(&plan, recording, usize::MAX);
    let mut orders = Vec::new();
    for pass in 1..=6 {
        let mut visits = BTreeMap::new();
        let mut order = Vec::new();
        for step in steps.iter().filter(|step| step.pass == pass && !step.case.timeline) {
            for block in step.blocks.iter().filter(|block| block.lead < block.slices) {
                *visits.entry((step.case.clone(), block.message_bytes)).or_insert(0) += 1;
            }
            order.push((step.case.clone(), step.blocks[0].message_bytes));
        }
        assert!(visits.values().all(|count| *count == 1), "pass {pass}");
        assert!(visits.keys().filter(|(case, _)| case.wait == Wait::Polling).count() >= 3 * 24);
        orders.push(order);
    }
    assert_eq!(orders[0].len(), orders[5].len());
    assert!(orders[0] != orders[1] && orders[1] != orders[2]);
    assert_eq!(steps.iter().filter(|step| step.case.timeline).count(), 1);
}

#[test]
fn known_rates_size_the_blocks() {
    let (plan, recording) = begun(|plan| plan.profile.passes = 2);
    let (steps, _) = run(&plan, recording, usize::MAX);
    for step in steps.iter().filter(|step| step.pass == 2 && step.case.pattern == Pattern::Stream) {
        let [.., block] = step.blocks.as_slice() else { panic!("a step without blocks") };
        let ns = (block.messages * u64::from(block.slices)) as f64 * message_ns(step, block.message_bytes);
        let wanted = plan.profile.trial_ns as f64;
        assert!((0.5 * wanted..8.0 * wanted).contains(&ns), "{} {}: {ns} ns", step.case, block.message_bytes);
    }
    let passes_alone = Plan { profile: Profile { budget_ns: 0, ..plan.profile.clone() }, ..plan.clone() };
    let predicted = Passes::new(&passes_alone, &begun(|_| ()).1).predicted_ns();
    let nominal: u64 = steps.iter().map(|step| step.predicted_ns).sum();
    assert!(predicted > nominal / 2 && predicted < 2 * nominal, "{predicted} and {nominal}");
}

#[test]
fn a_cut_run_goes_on_as_its_seed_says() {
    let (plan, recording) = begun(|plan| plan.profile.passes = 2);
    let (whole, _) = run(&plan, recording.clone(), usize::MAX);
    let (again, _) = run(&plan, recording.clone(), usize::MAX);
    assert_eq!(whole, again);
    let (first, cut) = run(&plan, recording.clone(), 333);
    let (rest, _) = run(&plan, cut, usize::MAX);
    assert_eq!(whole, first.into_iter().chain(rest).collect::<Vec<_>>());
    let (other, _) = run(&Plan { seed: plan.seed + 1, ..plan }, recording, usize::MAX);
    assert_ne!(whole, other);
}

#[test]
fn a_budget_sets_the_passes() {
    let passes = |budget_ns| {
        let (plan, recording) = begun(|plan| {
            plan.profile.passes = 10;
            plan.budget_ns = budget_ns;
        });
        Passes::new(&plan, &recording).passes()
    };
    let second = SECOND_NS;
    assert_eq!([passes(Some(second)), passes(Some(600 * second)), passes(None)], [1, 10, 10]);
}

const SECOND_NS: u64 = 1_000_000_000;

#[test]
fn a_budget_below_a_pass_is_refused_with_what_is_enough() {
    let with = |budget_ns| begun(|plan| plan.budget_ns = Some(budget_ns));
    let told = |budget_ns| {
        let (plan, recording) = with(budget_ns);
        Passes::new(&plan, &recording).too_short()
    };
    let (what, hint) = told(SECOND_NS).unwrap();
    assert!(what.starts_with("--budget 1s: the warm-up and one pass"), "{what}");
    let enough = hint.strip_prefix("--budget ").and_then(|rest| rest.split_once("s,")).unwrap().0;
    assert_eq!(told(enough.parse::<u64>().unwrap() * SECOND_NS), None, "{hint}");
    assert_eq!(told(600 * SECOND_NS), None);
    let (plan, recording) = begun(|_| ());
    assert_eq!(Passes::new(&plan, &recording).too_short(), None, "none was asked for");
}

/// Where passes take three times what was thought, a short run ends in its time and not with the passes that were planned.
#[test]
fn a_short_budget_ends_passes_that_take_longer() {
    let of =
        |seconds: u64| begun(|plan| (plan.budget_ns, plan.profile.passes) = (Some(seconds * SECOND_NS), 10));
    let passes = |seconds: &u64| {
        let (plan, recording) = of(*seconds);
        Passes::new(&plan, &recording).passes()
    };
    let each: Vec<(u64, u32)> = (1..60).map(|seconds| (seconds, passes(&seconds))).collect();
    let few = each.iter().find(|(_, passes)| (2..6).contains(passes)).unwrap_or_else(|| panic!("{each:?}")).0;
    let (plan, mut recording) = of(few);
    let mut schedule = Passes::new(&plan, &recording);
    let planned = schedule.passes();
    let mut last = 0;
    while let Some(step) = schedule.next(&recording) {
        last = step.pass;
        for mut event in answer(&step) {
            if let Event::Step(record) = &mut event {
                record.duration_ns = 3 * step.predicted_ns.max(record.duration_ns);
            }
            recording.push(event);
        }
    }
    assert!(last < planned, "{last} of {planned} passes");
}

#[test]
fn one_cpu_refuses_polling_and_says_why() {
    let (plan, mut recording) = begun(|_| ());
    recording.hosts.iter_mut().for_each(|host| host.cpus = vec![0]);
    let schedule = Passes::new(&plan, &recording);
    assert!(schedule.entries().iter().all(|entry| entry.case.wait != Wait::Polling));
    assert!(
        schedule
            .unavailable()
            .iter()
            .any(|it| it.wait == Some(Wait::Polling) && it.reason.why.contains("CPU"))
    );
}

#[test]
fn polling_between_hosts_leaves_the_wire_a_cpu() {
    let polling = |target: &str, cpus: u32| {
        let (plan, mut recording) = begun(|plan| plan.target = target.parse().unwrap());
        recording.hosts.iter_mut().for_each(|host| host.cpus = (0..cpus).collect());
        let schedule = Passes::new(&plan, &recording);
        let polls = |place| {
            let of_place = schedule.entries().iter().filter(|entry| entry.rung.place == place);
            of_place.filter(|entry| entry.case.wait == Wait::Polling).count() > 0
        };
        assert!(polls(Place::InHost), "{target}");
        let told = schedule.unavailable().iter().find(|it| it.wait == Some(Wait::Polling));
        (polls(Place::Network), told.map(|it| it.reason.why.contains("the wire needs a CPU of its own")))
    };
    assert_eq!(polling("lab:rate=10Gb/s", 2), (false, Some(true)));
    assert_eq!(polling("lab:rate=10Gb/s", 3), (true, None));
    assert_eq!(polling("lab", 2), (true, None));
}

#[test]
fn only_a_slow_clock_lengthens_samples() {
    let least_messages = |clock_ns: Option<f64>| {
        let (plan, mut recording) = begun(|_| ());
        recording.calibration = clock_ns.map(|value| {
            let figure = Figure { value, low: None, high: None, n: 1 };
            let figures = [(CLOCK_READ.to_owned(), figure)].into();
            let host = HostCalibration { figures, ..HostCalibration::default() };
            Calibration { hosts: vec![host], ..Calibration::default() }
        });
        let (steps, _) = run(&plan, recording, usize::MAX);
        let counted = steps.iter().filter(|step| step.pass > 0 && step.case.pattern == Pattern::PingPong);
        counted.flat_map(|step| &step.blocks).map(|block| block.messages).max().unwrap()
    };
    // A round trip of the smallest message takes 1.6 µs: with 250 ns a stamp four belong together.
    assert_eq!(least_messages(None), 1);
    assert_eq!(least_messages(Some(18.0)), 1);
    assert_eq!(least_messages(Some(250.0)), 4);
}

#[test]
fn without_ipv6_its_rungs_are_unavailable() {
    let (plan, mut recording) = begun(|_| ());
    recording.hosts[1].address6 = None;
    let schedule = Passes::new(&plan, &recording);
    let rungs: Vec<&str> = schedule.entries().iter().map(|entry| entry.rung.id).collect();
    assert!(rungs.contains(&"in-host.tcp6") && rungs.contains(&"network.udp"), "{rungs:?}");
    for rung in ["network.tcp6", "network.udp6"] {
        assert!(!rungs.contains(&rung), "{rung}");
        let told = schedule.unavailable().iter().find(|it| it.rung == rung).unwrap();
        assert_eq!(told.reason.why, "no IPv6 address is known for host b");
        assert!(told.reason.hint.contains("--address b="), "{}", told.reason.hint);
    }
}

#[test]
fn a_named_sibling_is_measured_whole() {
    let sizes = |named| {
        let (plan, recording) = begun(|plan| {
            plan.view = View::Ladder(Rungs { named, ..Rungs::unnamed(plan.view.rungs()) });
        });
        let schedule = Passes::new(&plan, &recording);
        let entries = schedule.entries().iter().filter(|entry| entry.rung.id == "in-host.udp");
        let streams = entries.filter(|entry| entry.case.pattern == Pattern::Stream);
        streams.flat_map(|entry| entry.sizes.clone()).collect::<Vec<_>>()
    };
    assert_eq!(sizes(false), [1024]);
    // What no datagram can carry is left out.
    let whole = sizes(true);
    assert_eq!((whole.first(), whole.last(), whole.len()), (Some(&1), Some(&32768), 16));
}

#[test]
fn sizes_whose_way_is_audited_are_visited_apart() {
    let visits = |rung: &str| {
        let (plan, recording) = begun(|plan| plan.view = View::Ladder(Rungs::named([rung])));
        let schedule = Passes::new(&plan, &recording);
        let streams = schedule.entries().iter().filter(|entry| entry.case.pattern == Pattern::Stream);
        streams.filter(|entry| !entry.case.timeline).map(|entry| entry.sizes.len()).collect::<Vec<_>>()
    };
    assert!(visits("network.tcp").iter().any(|sizes| *sizes > 9));
    let audited = visits("network.mpi");
    assert!(audited.len() > 9 && audited.iter().all(|sizes| *sizes == 1), "{audited:?}");
}

#[test]
fn what_a_host_lacks_is_unavailable() {
    let (plan, mut recording) =
        begun(|plan| plan.view = View::Ladder(Rungs::unnamed(["network.tcp", "network.tls"])));
    let lack = UnavailableTransport {
        transport: "tls".into(),
        why: "unavailable: no such thing".into(),
        hint: "try".into(),
    };
    recording.hosts[1].lacks = vec![lack.clone()];
    let schedule = Passes::new(&plan, &recording);
    let of_tls: Vec<_> = schedule.unavailable().iter().filter(|it| it.rung == "network.tls").collect();
    assert!(!of_tls.is_empty());
    assert!(
        of_tls.iter().all(|it| (&it.reason.why, &it.reason.hint) == (&lack.why, &lack.hint)),
        "{of_tls:?}"
    );
    let (steps, _) = run(&plan, recording, 5);
    assert!(!steps.is_empty() && steps.iter().all(|step| step.case.rung == "network.tcp"));
}

/// Runs to the end, or for so many steps; sessions of UDP fail from this step on.
fn run_failing(plan: &Plan, mut recording: Recording, from: u32, most: usize) -> (Vec<Step>, Recording) {
    let mut schedule = Passes::new(plan, &recording);
    let mut steps = Vec::new();
    while let Some(step) = schedule.next(&recording).filter(|_| steps.len() < most) {
        if step.number >= from && step.case.rung == "in-host.udp" {
            recording.push(Event::NotMeasured(NotMeasured {
                rung: step.case.rung.clone(),
                pattern: None,
                wait: None,
                host: None,
                reason: Reason::new(ReasonKind::Unsaid, "failed", ""),
                arm: Some(step.case.arm),
                between: None,
                after_steps: Some(step.number),
                ..NotMeasured::default()
            }));
            continue;
        }
        answer(&step).into_iter().for_each(|event| recording.push(event));
        steps.push(step);
    }
    (steps, recording)
}

#[test]
fn what_failed_is_not_tried_again() {
    let (plan, recording) = begun(|plan| {
        plan.profile.passes = 2;
        plan.view = View::Ladder(Rungs::unnamed(["in-host.udp", "in-host.unix"]));
    });
    let (whole, _) = run(&plan, recording.clone(), usize::MAX);
    let of = |steps: &[Step], rung: &str| steps.iter().filter(|step| step.case.rung == rung).count();
    for from in [0, 7, whole.len() as u32 / 2] {
        let (steps, ended) = run_failing(&plan, recording.clone(), from, usize::MAX);
        assert_eq!(ended.unavailable.len(), 1, "it is tried once");
        let after = ended.unavailable[0].after_steps.unwrap() as usize;
        assert_eq!(of(&steps[after..], "in-host.udp"), 0);
        let passes = |steps: &[Step]| steps.iter().filter(|step| step.pass > 0).count();
        assert!(passes(&steps) > 0 && of(&steps, "in-host.unix") >= of(&whole, "in-host.unix") / 2);
        assert!(steps.iter().any(|step| step.pass == 2), "from {from}");
        // A run that was cut goes on as it would have.
        for cut in [1, after, after + 1, steps.len() / 2] {
            let (first, cut_off) = run_failing(&plan, recording.clone(), from, cut);
            let (rest, _) = run_failing(&plan, cut_off, from, usize::MAX);
            assert_eq!(steps, first.into_iter().chain(rest).collect::<Vec<_>>(), "from {from}, cut at {cut}");
        }
    }
}

#[test]
fn where_everything_fails_the_run_ends() {
    let (plan, recording) = begun(|plan| plan.view = View::Ladder(Rungs::unnamed(["in-host.udp"])));
    let (steps, ended) = run_failing(&plan, recording, 0, usize::MAX);
    assert_eq!((steps.len(), ended.unavailable.is_empty()), (0, false));
}

#[test]
fn late_failures_leave_out_what_may_fail_likewise() {
    let (plan, begun) = begun(|plan| {
        plan.profile.passes = 1;
        plan.view = View::Ladder(Rungs::unnamed(["in-host.tcp", "network.tcp", "network.udp"]));
    });
    let (whole, _) = run(&plan, begun.clone(), usize::MAX);
    let of = |steps: &[Step], place: &str| {
        steps.iter().filter(|step| step.why == Why::Pass && step.case.rung.starts_with(place)).count()
    };
    // Every exchange over the network moves nothing, and takes so much time as no run has.
    let run_late = |mut recording: Recording, most: usize| {
        let mut schedule = Passes::new(&plan, &recording);
        let mut steps = Vec::new();
        while let Some(step) = schedule.next(&recording).filter(|_| steps.len() < most) {
            if step.case.rung.starts_with("network.") {
                recording.push(Event::NotMeasured(NotMeasured {
                    rung: step.case.rung.clone(),
                    reason: Reason::new(ReasonKind::Failed, "failed", ""),
                    arm: Some(step.case.arm),
                    after_steps: Some(step.number),
                    case: Some(Box::new(step.case.clone())),
                    at_ns: Some(3_600_000_000_000),
                    ..NotMeasured::default()
                }));
                continue;
            }
            answer(&step).into_iter().for_each(|event| recording.push(event));
            steps.push(step);
        }
        (steps, recording)
    };
    let (steps, ended) = run_late(begun.clone(), usize::MAX);
    assert_eq!(ended.unavailable.len(), 1, "the second is not tried");
    assert!(of(&whole, "in-host") > 0 && of(&steps, "in-host") == of(&whole, "in-host"));
    for cut in [1, steps.len() / 2] {
        let (first, cut_off) = run_late(begun.clone(), cut);
        // As one that goes on says where it does, before it plans again.
        let mut cut_off = cut_off;
        let (after_steps, at_ns) = (cut as u32, 3_700_000_000_000);
        cut_off.push(Event::Addition(Addition { after_steps, at_ns, ..Addition::default() }));
        let (rest, _) = run_late(cut_off, usize::MAX);
        assert_eq!(steps, first.into_iter().chain(rest).collect::<Vec<_>>(), "cut at {cut}");
    }
}

/// Plans batches that are given.
struct Batches(Visits, Vec<Vec<Visit>>);

impl Planner for Batches {
    fn visits(&mut self) -> &mut Visits {
        &mut self.0
    }

    fn further(&mut self, _: &Recording) -> Vec<Visit> {
        self.1.pop().unwrap_or_default()
    }

    fn step(&self, number: usize, visit: &Visit, _: &Recording) -> Step {
        Step {
            number: number as u32,
            pass: visit.pass,
            why: visit.why,
            case: visit.entry.case.clone(),
            roles: Vec::new(),
            blocks: Vec::new(),
            predicted_ns: 0,
            sample_ns: None,
            beside: None,
            patience_ns: 0,
        }
    }
}

#[test]
fn the_next_batch_follows_a_failed_one() {
    let (plan, mut recording) = begun(|plan| {
        plan.view = View::Ladder(Rungs::unnamed(["in-host.udp", "in-host.unix"]));
    });
    let entries = Passes::new(&plan, &recording).entries().to_vec();
    let visits = |rung: &str| {
        let of_rung = entries.iter().filter(|entry| entry.case.rung == rung);
        let visit = |entry: &Entry| Visit {
            pass: 1,
            why: Why::Pass,
            entry: entry.clone(),
            probe: None,
            again: false,
        };
        of_rung.take(2).map(visit).collect::<Vec<_>>()
    };
    let lost = visits("in-host.udp")[0].entry.case.clone();
    let (host, arm) = (Some(lost.pairs.first().from), Some(lost.arm));
    recording.push(Event::NotMeasured(NotMeasured {
        rung: lost.rung,
        host,
        arm,
        after_steps: Some(0),
        ..NotMeasured::default()
    }));
    let mut planner = Batches(
        Visits::default(),
        vec![visits("in-host.unix"), visits("in-host.udp"), visits("in-host.udp")],
    );
    let step = visit::next(&mut planner, &recording).expect("the third batch has what has not failed");
    assert_eq!((step.number, step.case.rung.as_str()), (0, "in-host.unix"));
    let mut planner = Batches(Visits::default(), vec![visits("in-host.udp")]);
    assert_eq!(visit::next(&mut planner, &recording), None);
}
