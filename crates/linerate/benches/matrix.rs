//! What a screening of many hosts costs its controller, by their number: 16 rounds on the made-up machine, whose trials take no time.
//!
//!     cargo bench --bench matrix
//!
//! Of each number of hosts five screenings: the CPU time a trial takes to plan its steps, to keep and to write what came of them, and
//! to say in the end who is slow. At most linear in trials is a time a trial that does not grow. Nothing here decides a test.
#![allow(clippy::print_stdout, missing_docs)]

use linerate::analysis::matrix::matrix;
use linerate::plan::{Plan, PlannedHost, Profile, Rungs, Screening, View, World};
use linerate::record::{Event, Header, Recording, SCHEMA};
use linerate::schedule::schedule_of;
use linerate::simulation::Simulation;
use linerate::statistic::Estimate;
use linerate_sys::clock::thread_cpu_ns;
use std::error::Error;

const HOSTS: [u32; 5] = [8, 64, 256, 512, 1000];
const ROUNDS: u32 = 16;
const SCREENINGS: u64 = 5;

/// What a screening came to.
struct Cost {
    trials: usize,
    steps_ns: u64,
    word_ns: u64,
    bytes: usize,
}

fn screen(hosts: u32, seed: u64) -> Result<Cost, Box<dyn Error>> {
    let profile = Profile::named("quick").ok_or("no profile is called quick")?;
    let plan = Plan {
        target: "simulated".parse()?,
        hosts: PlannedHost::first(hosts),
        profile: Profile { trial_ns: 400_000_000, warm_up_ns: 200_000_000, ..profile },
        view: View::Matrix {
            rungs: Rungs::named(["network.tcp"]),
            design: Screening::of_rounds(ROUNDS, hosts),
        },
        settings: Vec::new(),
        arms: Vec::new(),
        seed,
        budget_ns: None,
    };
    let header = Header {
        schema: SCHEMA.into(),
        version: env!("CARGO_PKG_VERSION").into(),
        utc: String::new(),
        command: Vec::new(),
        defaults: None,
        plan_hash: plan.hash(),
        plan: plan.clone(),
    };
    let mut recording = Recording { header: Some(header), ..Recording::default() };
    let world = World { noise: 0.01, ..World::default() };
    let mut machine = Simulation::new(&plan, &world, seed);
    machine.hosts().into_iter().for_each(|event| recording.push(event));
    let begun = thread_cpu_ns();
    let (mut schedule, mut bytes, mut made_up_ns) = (schedule_of(&plan, &recording), 0, 0);
    while let Some(step) = schedule.next(&recording) {
        let before = thread_cpu_ns();
        let events: Vec<Event> = machine.step(&step);
        made_up_ns += thread_cpu_ns() - before;
        for event in events {
            bytes += serde_json::to_vec(&event)?.len() + 1;
            recording.push(event);
        }
    }
    let steps_ns = thread_cpu_ns() - begun - made_up_ns;
    let begun = thread_cpu_ns();
    let said = matrix(&recording).ok_or("it is no matrix")?;
    let word_ns = thread_cpu_ns() - begun;
    if !said.told.named.is_empty() {
        return Err("somebody is named where nobody is slow".into());
    }
    Ok(Cost { trials: recording.trials.len(), steps_ns, word_ns, bytes })
}

fn main() -> Result<(), Box<dyn Error>> {
    println!(
        "{:>6} {:>8} {:>28} {:>28} {:>12}",
        "hosts", "trials", "steps, us of CPU a trial", "the word, us of CPU a trial", "recording"
    );
    for hosts in HOSTS {
        let costs = (0..SCREENINGS).map(|seed| screen(hosts, seed)).collect::<Result<Vec<_>, _>>()?;
        let each = |of: fn(&Cost) -> u64| {
            let all = costs.iter().map(|cost| of(cost) as f64 / 1e3 / cost.trials as f64);
            let (least, most) =
                all.clone().fold((f64::MAX, 0_f64), |(least, most), one| (least.min(one), most.max(one)));
            let median = Estimate::from_values(all).map_or(f64::NAN, |estimate| estimate.median);
            format!("{median:.1} ({least:.1} to {most:.1})")
        };
        let Some(first) = costs.first() else { continue };
        println!(
            "{hosts:>6} {:>8} {:>28} {:>28} {:>9.1} MB",
            first.trials,
            each(|cost| cost.steps_ns),
            each(|cost| cost.word_ns),
            first.bytes as f64 / 1e6
        );
    }
    Ok(())
}
