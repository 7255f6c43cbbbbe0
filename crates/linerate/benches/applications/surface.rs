//! The stage that finds a surface against the same lines without a pipeline, by the CPU time of its thread: alone, and
//! beside one that draws, as the next stages of the pipeline do. Two CPUs may be of one core, whose caches and units they share.

use super::hand_over::{row_of, stage};
use super::row::{self, Row, Side};
use super::sessions::{self, Sessions};
use linerate::vocabulary::Does;
use linerate::workload::pipeline::{drawn, surface_of};
use std::sync::atomic::{AtomicBool, Ordering};

/// How much of the volume a unit is of, and units a slice.
const UPDATE: u64 = 1 << 20;
const UNITS: u64 = 2;

/// By the size of its buffers.
pub fn rows() -> Vec<Row> {
    let row = |(against, beside, name, buffer): (&'static str, Beside, &str, u64)| Row {
        name: format!("surface, buffers of {name}"),
        against,
        unit: "units a CPU second",
        aim: Some(0.95),
        measure: row::by_turns(move || {
            let mut ours = Sessions::open("tcp")?;
            let stages = [
                ("read", "volume.read", 1),
                ("extract", "volume.extract", 0),
                ("raster", "volume.raster", 0),
            ];
            let mut stages: Vec<_> = stages.map(|(id, filter, host)| stage(id, filter, host)).into();
            stages.push(stage("merge", "volume.merge", 0));
            let graph = row_of(stages);
            let mut found = Vec::new();
            let units = UNITS * u64::from(sessions::SLICES);
            Ok(Box::new(move |side| match side {
                Side::Other => {
                    let cpu_ns = beside(&mut || {
                        let begun = linerate_sys::clock::thread_cpu_ns();
                        (0..units).for_each(|unit| surface_of(unit, UPDATE, &mut found));
                        linerate_sys::clock::thread_cpu_ns() - begun
                    });
                    Ok(1e9 * units as f64 / cpu_ns as f64)
                }
                Side::Ours => {
                    let settings = ["pipeline.units=ahead", "pipeline.update=1MiB"];
                    let [here, _] = ours.play(
                        [Does::Stages; 2],
                        &settings,
                        Some(&graph),
                        sessions::block(buffer, UNITS),
                    )?;
                    let stages = here.flow.tally.map_or(Vec::new(), |tally| tally.stages);
                    let extract = stages.into_iter().find(|one| one.stage == "extract");
                    let cpu_ns = extract.and_then(|one| one.cpu_ns).ok_or("its CPU time is not known")?;
                    Ok(1e9 * units as f64 / cpu_ns as f64)
                }
            }))
        }),
    };
    let sizes = [("64 KiB", 64 << 10), ("1 MiB", 1 << 20)];
    BESIDE
        .iter()
        .flat_map(|(against, beside)| sizes.map(|(name, buffer)| row((*against, *beside, name, buffer))))
        .collect()
}

/// Work whose CPU time is told, and what goes on beside it.
type Beside = fn(&mut dyn FnMut() -> u64) -> u64;

const BESIDE: [(&str, Beside); 2] =
    [("one thread alone", |work| work()), ("one thread beside one that draws", beside_one_that_draws)];

/// Does it while another thread draws.
fn beside_one_that_draws(work: &mut dyn FnMut() -> u64) -> u64 {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut units = 0..;
            while !is_over.load(Ordering::Relaxed) {
                std::hint::black_box(units.next().map(|unit| drawn(unit, UPDATE)));
            }
        });
        let done = work();
        is_over.store(true, Ordering::Relaxed);
        done
    })
}
