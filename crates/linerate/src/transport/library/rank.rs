//! A rank: a process beside an end, which calls home and plays what it is asked until that end goes away.

use super::home::{Play, Played, call};
use crate::control::serve;
use crate::pattern::{Part, Runs, play};
use crate::{Error, Result};
use serde_json::Value;
use std::io::BufReader;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What a trial may take to end when nobody waits for it any more, and a farewell.
const END: Duration = Duration::from_secs(2);

/// What a library makes of a rank.
pub trait Plays: Send + 'static {
    /// Plays the blocks.
    fn play(&mut self, asked: &Play) -> Result<Vec<Played>>;
    /// Answers what else it is asked; none where it does not know the method.
    fn answer(&mut self, _method: &str, _params: &Value) -> Option<Result<Value>> {
        None
    }
    /// Takes leave of the other rank.
    fn leave(&mut self);
}

/// Plays until the end that it works for goes away.
pub fn serve_home(home: &str, rank: impl Plays) -> Result<()> {
    let stream = call(home)?;
    let reader = stream.try_clone().map_err(|e| Error::io("dup", home, e))?;
    let rank = Arc::new(Mutex::new(rank));
    let playing = rank.clone();
    let served = serve(BufReader::new(reader), stream, move |method, params| {
        let mut rank = playing.lock().unwrap_or_else(PoisonError::into_inner);
        if method != "play" {
            let unknown = || Err(Error::usage(format!("a rank knows no `{method}`"), ""));
            return rank.answer(method, &params).unwrap_or_else(unknown);
        }
        let asked: Play =
            serde_json::from_value(params).map_err(|e| Error::usage(format!("{method}: {e}"), ""))?;
        let played = rank.play(&asked)?;
        serde_json::to_value(played).map_err(|e| Error::usage(format!("{method}: {e}"), ""))
    });
    end(&rank);
    served
}

/// Runs what is asked by these loops.
pub fn played(link: impl Runs, asked: &Play) -> Result<Vec<Played>> {
    let parts = vec![Part { link, does: asked.does, cpu: asked.cpu }];
    let measured = play(parts, asked.wait, &asked.blocks)?;
    measured.into_iter().flatten().map(Played::of).collect()
}

/// Ends the process where this is not dropped in time.
pub fn limit(time: Duration) -> Sender<()> {
    let (keep, kept) = channel::<()>();
    std::thread::spawn(move || {
        if kept.recv_timeout(time) == Err(RecvTimeoutError::Timeout) {
            linerate_sys::process::end_this();
        }
    });
    keep
}

/// A trial under way waits for a rank that may have gone: then this one goes without a farewell.
fn end(rank: &Mutex<impl Plays>) {
    let deadline = Instant::now() + END;
    loop {
        if let Ok(mut rank) = rank.try_lock() {
            let _ready = limit(END);
            return rank.leave();
        }
        if Instant::now() > deadline {
            linerate_sys::process::end_this();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
