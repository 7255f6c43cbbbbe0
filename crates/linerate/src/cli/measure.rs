//! `linerate run`: the loop. The schedule says the next step, the runner runs it, the recording keeps it.

use super::args::Run;
use super::progress::Progress;
use super::report::{columns, text_report};
use super::stop::Stop;
use super::{chain, print};
use crate::plan::{Plan, Profile, Setting, Target};
use crate::record::{End, Event, Header, Recording, SCHEMA, Writer};
use crate::run::{Means, Runner, this_program};
use crate::schedule::Schedule;
use crate::vocabulary::RUNGS;
use crate::{Error, Result};
use jiff::Timestamp;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Measures, prints the report, and says how it ended.
pub fn main(args: &Run) -> Result<ExitCode> {
    let plan = plan(args)?;
    let stop = Stop::listen()?;
    let mut run = Recorder::create(args, &plan)?;
    let means = Means { program: this_program()?, ssh: args.ssh.clone() };
    let ended = measure(&plan, &means, &stop, &mut run, args.quiet);
    run.end(&ended)?;
    if run.recording.trials.iter().all(|trial| trial.pass == 0) {
        // Nothing was measured: there is nothing to report, but for the reason.
        return Err(ended
            .err()
            .unwrap_or_else(|| Error::usage("nothing was measured", "see --only and --skip")));
    }
    print(&text_report(&run.recording, columns()))?;
    print(&format!("\n{}\n", run.path.display()))?;
    match ended {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(Error::Interrupted) => Ok(ExitCode::from(Error::Interrupted.exit_code())),
        Err(error) => Err(error),
    }
}

fn measure(plan: &Plan, means: &Means, stop: &Stop, run: &mut Recorder, quiet: bool) -> Result<()> {
    let wanted = || stop.wanted();
    let mut progress = Progress::new(quiet);
    progress.say(match &plan.target {
        Target::Lab(_) => "building the lab",
        Target::Ssh(_) => "reaching the hosts",
    });
    let mut runner = Runner::start(plan, means, &wanted)?;
    runner.hosts().into_iter().try_for_each(|event| run.keep(event))?;
    let schedule = Schedule::new(plan, &run.recording);
    schedule.unavailable.iter().cloned().map(Event::Unavailable).try_for_each(|event| run.keep(event))?;
    progress.planned(plan, &schedule);
    while let Some(step) = schedule.next(&run.recording) {
        if stop.wanted() {
            return Err(Error::Interrupted);
        }
        progress.step(&step, &schedule, &run.recording);
        runner.step(&step, &mut |event| run.keep(event))?;
    }
    Ok(())
}

fn plan(args: &Run) -> Result<Plan> {
    let profile = Profile::named(&args.profile)
        .ok_or_else(|| Error::usage(format!("no profile is called `{}`", args.profile), ""))?;
    let mut settings = args.set.clone();
    let chosen = settings.iter().any(|setting| setting.knob == "tcp.congestion-control");
    if matches!(args.target, Target::Lab(_)) && !chosen {
        // The lab's hosts are ours: they do not inherit this machine's default, which may be one
        // that cannot pace itself here.
        settings.insert(
            0,
            "tcp.congestion-control=cubic".parse::<Setting>().map_err(|e| Error::usage(e.what, e.hint))?,
        );
    }
    Ok(Plan {
        target: args.target.clone(),
        profile,
        rungs: rungs(&args.only, &args.skip)?,
        settings,
        addresses: args.addresses.iter().cloned().collect(),
        seed: args.seed.unwrap_or_else(rand::random),
        budget_ns: args.budget,
    })
}

/// The rungs whose name or prefix is in `only` (all when it is empty) and not in `skip`.
fn rungs(only: &[String], skip: &[String]) -> Result<Vec<String>> {
    let named = |list: &[String], id: &str| list.iter().any(|name| crate::plan::is_prefix(name, id));
    let unknown = |name: &&String| !RUNGS.iter().any(|rung| crate::plan::is_prefix(name, rung.id));
    if let Some(name) = only.iter().chain(skip).find(unknown) {
        let near = crate::vocabulary::find(RUNGS, |rung| rung.id, name).err().unwrap_or_default();
        return Err(Error::usage(
            format!("no rung is called `{name}`"),
            format!("did you mean {}?", near.join(" or ")),
        ));
    }
    let chosen = |id: &str| (only.is_empty() || named(only, id)) && !named(skip, id);
    let rungs: Vec<String> =
        RUNGS.iter().map(|rung| rung.id).filter(|id| chosen(id)).map(String::from).collect();
    if rungs.is_empty() {
        Err(Error::usage("no rung is left to measure", "see --only and --skip"))
    } else {
        Ok(rungs)
    }
}

/// The recording, in memory for the schedule and on disk for everyone else.
struct Recorder {
    path: PathBuf,
    writer: Writer,
    recording: Recording,
    begun: std::time::Instant,
}

impl Recorder {
    fn create(args: &Run, plan: &Plan) -> Result<Recorder> {
        let now = Timestamp::now();
        create_folder(&args.output)?;
        let (path, writer) = new_file(&args.output, &plan.target, now)?;
        let mut recorder =
            Recorder { path, writer, recording: Recording::default(), begun: std::time::Instant::now() };
        recorder.keep(Event::Header(Header {
            schema: SCHEMA.into(),
            version: env!("CARGO_PKG_VERSION").into(),
            utc: now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            command: std::env::args().collect(),
            plan_hash: plan.hash(),
            plan: plan.clone(),
        }))?;
        Ok(recorder)
    }

    fn keep(&mut self, event: Event) -> Result<()> {
        let object = || self.path.display().to_string();
        self.writer.write(&event).map_err(|e| Error::io("write", object(), e))?;
        self.recording.push(event);
        Ok(())
    }

    fn end(&mut self, ended: &Result<()>) -> Result<()> {
        let (reason, error) = match ended {
            Ok(()) => ("completed", None),
            Err(Error::Interrupted) => ("interrupted", None),
            Err(error) => ("failed", Some(chain(error))),
        };
        let at_ns = self.begun.elapsed().as_nanos() as u64;
        self.keep(Event::End(End { reason: reason.into(), error, at_ns }))
    }
}

fn create_folder(folder: &Path) -> Result<()> {
    if folder.exists() && !folder.is_dir() {
        // The program itself is called like the default folder, and may lie right here.
        let what = format!("`{}` is no folder, so no recording can be written there", folder.display());
        return Err(Error::usage(what, "choose another one: --output results"));
    }
    std::fs::create_dir_all(folder).map_err(|e| Error::io("mkdir", folder.display().to_string(), e))
}

/// `lab-2026-11-21T14-02-11.jsonl`; a second run in the same second gets a number.
fn new_file(folder: &Path, target: &Target, now: Timestamp) -> Result<(PathBuf, Writer)> {
    let kind = match target {
        Target::Lab(_) => "lab".to_owned(),
        Target::Ssh(hosts) => {
            hosts.join("-").replace(|c: char| !c.is_ascii_alphanumeric() && c != '.' && c != '-', "_")
        }
    };
    let stem = format!("{kind}-{}", now.strftime("%Y-%m-%dT%H-%M-%S"));
    for number in 1..100 {
        let suffix = if number == 1 { String::new() } else { format!("-{number}") };
        let path = folder.join(format!("{stem}{suffix}.jsonl"));
        match Writer::create(&path) {
            Ok(writer) => return Ok((path, writer)),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(Error::io("open", path.display().to_string(), error)),
        }
    }
    Err(Error::usage(format!("{stem} exists a hundred times"), "choose another folder with --output"))
}
