//! The recording of a run: in memory for the schedule, on disk for everyone else.

use super::args::Hosts;
use super::onto::Earlier;
use super::output;
use super::stop::Stop;
use super::watch::Watcher;
use crate::plan::{Plan, Target};
use crate::record::{End, Event, Header, Recording, SCHEMA, Writer};
use crate::{Error, Result};
use jiff::Timestamp;
use std::path::{Path, PathBuf};

/// A recording that grows.
pub struct Recorder {
    /// The file.
    pub path: PathBuf,
    writer: Writer,
    /// What is in it so far.
    pub recording: Recording,
    /// Sees each event once it is in both.
    pub watcher: Box<dyn Watcher>,
    /// The user's wish to stop, until the last word is said.
    pub stop: Stop,
    made_folder: bool,
    begun: std::time::Instant,
    /// How much earlier the first of its runs began.
    earlier_ns: u64,
}

impl Recorder {
    /// A new file, with the plan as its first line, or that of the earlier run that this one adds to.
    pub fn create(args: &Hosts, plan: &Plan, earlier: Option<&Earlier>, stop: Stop) -> Result<Recorder> {
        let watcher = args.watching.start(&stop)?;
        let now = Timestamp::now();
        let made_folder = !args.output.exists();
        create_folder(&args.output)?;
        let (path, writer) = new_file(&args.output, &plan.target, now)?;
        let (recording, begun) = (Recording::default(), std::time::Instant::now());
        let earlier_ns = earlier.map_or(0, |earlier| earlier.addition.at_ns);
        let mut recorder =
            Recorder { path, writer, recording, watcher, stop, made_folder, begun, earlier_ns };
        let header = || Header {
            schema: SCHEMA.into(),
            version: env!("CARGO_PKG_VERSION").into(),
            utc: now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            command: args.asked.line.clone(),
            defaults: args.asked.defaults.clone(),
            plan_hash: plan.hash(),
            plan: plan.clone(),
        };
        let header = earlier.map_or_else(header, |earlier| earlier.header.clone());
        recorder.keep(Event::Header(header))?;
        Ok(recorder)
    }

    /// Adds what this run saw, by the clock of the first one.
    pub fn keep_new(&mut self, event: Event) -> Result<()> {
        self.keep(event.later(self.earlier_ns))
    }

    /// Adds an event to both.
    pub fn keep(&mut self, event: Event) -> Result<()> {
        let object = || self.path.display().to_string();
        let line = self.writer.write(&event).map_err(|e| Error::io("write", object(), e))?;
        self.watcher.written(&event, &line);
        if matches!(event, Event::Trial(_)) && self.recording.trials.is_empty() {
            output::records_in(Some(&self.path));
        }
        self.recording.push(event);
        Ok(())
    }

    /// The last line: how it ended.
    pub fn end(&mut self, ended: &Result<()>) -> Result<()> {
        let (reason, error) = match ended {
            Ok(()) => ("completed", None),
            Err(Error::Interrupted) => ("interrupted", None),
            Err(error) => ("failed", Some(super::chain(error))),
        };
        let at_ns = self.begun.elapsed().as_nanos() as u64;
        let kept = self.keep_new(Event::End(End { reason: reason.into(), error, at_ns }));
        let Recording { trials, steps, unavailable, .. } = &self.recording;
        // What was told of hosts before the first step is nothing; a step that failed is something.
        let is_nothing =
            trials.is_empty() && steps.is_empty() && unavailable.iter().all(|not| not.after_steps.is_none());
        let is_measured = trials.iter().any(|trial| trial.pass > 0);
        match ended {
            Err(_) if is_nothing => self.remove(),
            Err(Error::Interrupted) if !is_measured => {
                let on = format!("linerate resume {}", self.path.display());
                super::tell(&format!("nothing is measured yet; it goes on by: {on}"));
                // There is nothing that last words could tell of.
                output::records_in(None);
            }
            _ => {}
        }
        // A run that failed is told of by its own error: a full disk takes the last line no more than any.
        if ended.is_ok() { kept } else { Ok(()) }
    }
}

impl Recorder {
    /// How the run ended for who called it: a wish to stop while the report was written is one, too.
    pub fn unless_stopped(&self, ended: Result<()>) -> Result<()> {
        if self.stop.wanted() { ended.and(Err(Error::Interrupted)) } else { ended }
    }

    /// Takes a recording of nothing away: of what was refused, or failed before it began.
    fn remove(&self) {
        output::records_in(None);
        // It is empty but for a folder that this run made: nobody misses what cannot be removed.
        let _ = std::fs::remove_file(&self.path);
        if let (true, Some(folder)) = (self.made_folder, self.path.parent()) {
            let _ = std::fs::remove_dir(folder);
        }
    }
}

/// Makes the folder of recordings, or says at once why there can be none.
pub fn create_folder(folder: &Path) -> Result<()> {
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
        Target::Simulated(_) | Target::Launched(_) => target.kind().to_owned(),
        Target::Ssh(hosts) => {
            hosts.join("-").replace(|c: char| !c.is_ascii_alphanumeric() && c != '.' && c != '-', "_")
        }
    };
    new_recording(folder, &format!("{kind}-{}", now.strftime("%Y-%m-%dT%H-%M-%S")))
}

/// `STEM.jsonl`, new; where there is one, it gets a number.
pub fn new_recording(folder: &Path, stem: &str) -> Result<(PathBuf, Writer)> {
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
