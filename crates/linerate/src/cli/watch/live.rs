//! The whole terminal as a view of the run, drawn between steps.
//!
//! The hosts share their CPUs with this process in the lab, so it draws at most five times a second, never
//! more than a hundredth of the time, and never while a step is under way. Nothing here is polled: keys are
//! waited for by a thread that sleeps in the kernel. The terminal is taken when the hosts are known, so
//! that ssh may ask for a password before.

mod draw;
mod keys;
mod load;
mod note;
mod pace;
mod row;
mod scene;
mod screen;

use super::progress::{Progress, share_done};
use super::{Watcher, warn};
use crate::cli::stop::Stop;
use crate::plan::Step;
use crate::record::{Event, Recording};
use crate::schedule::Schedule;
use crate::{Error, Result};
use draw::View;
use keys::Keys;
use pace::Pace;
use scene::{Now, Scene};
use screen::Screen;
use std::io::IsTerminal;
use std::path::Path;

/// The view.
pub struct Live {
    stop: Stop,
    scene: Scene,
    /// What is shown before the terminal is taken.
    before: Option<Progress>,
    page: Option<Page>,
    pace: Pace,
    drawn: View,
    warnings: Vec<String>,
    failed: Option<Error>,
}

/// What is held while the view is shown.
struct Page {
    // In this order: no key is waited for once the terminal is given back.
    keys: Keys,
    screen: Screen,
}

impl Live {
    /// A view on the terminal of standard error; ends the run by `stop`.
    pub fn new(stop: &Stop) -> Result<Live> {
        let dumb = std::env::var("TERM").is_ok_and(|name| name == "dumb");
        if !std::io::stderr().is_terminal() || dumb {
            let what = "--live needs a terminal on standard error";
            return Err(Error::usage(what, "leave it out, or follow the run as a program does: --json"));
        }
        Ok(Live {
            stop: stop.clone(),
            scene: Scene::default(),
            before: Some(Progress::new()),
            page: None,
            pace: Pace::default(),
            drawn: View::default(),
            warnings: Vec::new(),
            failed: None,
        })
    }

    fn open(&mut self) -> Result<()> {
        let screen = Screen::enter()?;
        self.page = Some(Page { keys: Keys::listen(&self.stop)?, screen });
        Ok(())
    }

    fn draw(&mut self, step_ns: u64) {
        let Some(page) = &mut self.page else { return };
        let view = View { held: page.keys.asked.is_held(), help: page.keys.asked.is_help() };
        let changed = view != self.drawn;
        // A view that is held is drawn once more, to say so.
        if (view.held && !changed) || !self.pace.is_due(step_ns) {
            return;
        }
        let scene = &self.scene;
        if self.pace.time(|| page.screen.draw(scene, &view)).is_err() {
            // The terminal is gone; the run is not.
            self.page = None;
        }
        self.drawn = view;
    }
}

impl Watcher for Live {
    fn announce(&mut self, what: &str) {
        self.before.iter_mut().for_each(|progress| progress.announce(what));
    }

    fn moved(&mut self, what: &str) {
        self.before.iter_mut().for_each(|progress| progress.moved(what));
    }

    fn warned(&mut self, what: &str) {
        match &mut self.before {
            Some(progress) => progress.warned(what),
            None => self.warnings.push(what.into()),
        }
        self.scene.note(what.into());
    }

    fn planned(&mut self, schedule: &dyn Schedule, _: &Path) {
        self.before = None;
        schedule.note().into_iter().for_each(|note| self.scene.note(note));
        if let Err(error) = self.open() {
            self.failed = Some(error);
            self.stop.ask();
        }
    }

    fn step(&mut self, step: &Step, schedule: &dyn Schedule, recording: &Recording) {
        let done = share_done(schedule, recording);
        self.scene.begin(Now::from_step(step, schedule, recording, done));
        self.draw(step.predicted_ns);
    }

    fn written(&mut self, event: &Event, _: &[u8]) {
        self.scene.apply(event);
    }

    fn ended(&mut self) -> Result<()> {
        (self.page, self.before) = (None, None);
        self.warnings.drain(..).for_each(|warning| warn(&warning));
        self.failed.take().map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests;
