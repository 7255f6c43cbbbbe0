//! The terminal while it is the view's: taken, drawn on, and given back however the run ends.

use super::draw::{View, draw};
use super::scene::Scene;
use crate::{Error, Result};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use std::io::{self, BufWriter, Stderr, stderr};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the terminal is ours: a panic or a second signal gives it back from any thread.
static TAKEN: AtomicBool = AtomicBool::new(false);
static PANICS: Once = Once::new();

/// Whether it was given back and may be taken again, and whether nothing of ours is on it.
static LENT: AtomicBool = AtomicBool::new(false);
static BLANK: AtomicBool = AtomicBool::new(false);

/// What one drawing writes is written at once.
const DRAWING: usize = 1 << 16;

/// The terminal on standard error, with its own page.
pub struct Screen(Terminal<CrosstermBackend<BufWriter<Stderr>>>);

impl Screen {
    /// Takes the terminal.
    pub fn enter() -> Result<Screen> {
        PANICS.call_once(|| {
            let before = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                leave();
                before(panic);
            }));
        });
        let failed = |e: io::Error| Error::io("tcsetattr", "terminal", e);
        TAKEN.store(true, Ordering::SeqCst);
        let taken = enable_raw_mode().and_then(|()| execute!(stderr(), EnterAlternateScreen, Hide));
        let backend = CrosstermBackend::new(BufWriter::with_capacity(DRAWING, stderr()));
        let terminal = taken.and_then(|()| Terminal::new(backend)).inspect_err(|_| leave());
        Ok(Screen(terminal.map_err(failed)?))
    }

    /// Draws; a terminal of another size than before is drawn anew.
    pub fn draw(&mut self, scene: &Scene, view: &View) -> io::Result<()> {
        if TAKEN.load(Ordering::SeqCst) {
            if BLANK.swap(false, Ordering::SeqCst) {
                self.0.clear()?;
            }
            self.0.draw(|frame| draw(scene, view, frame))?;
        }
        Ok(())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        leave();
        LENT.store(false, Ordering::SeqCst);
    }
}

/// Takes the terminal again after it was given back for a while.
pub fn take_again() {
    if LENT.swap(false, Ordering::SeqCst) {
        // Where that fails, nothing is drawn.
        if enable_raw_mode().and_then(|()| execute!(stderr(), EnterAlternateScreen, Hide)).is_ok() {
            BLANK.store(true, Ordering::SeqCst);
            TAKEN.store(true, Ordering::SeqCst);
        }
    }
}

/// Gives the terminal back; once is enough.
pub fn leave() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        LENT.store(true, Ordering::SeqCst);
        // A terminal that is gone needs nothing back.
        let _ = disable_raw_mode();
        let _ = execute!(stderr(), LeaveAlternateScreen, Show);
    }
}
