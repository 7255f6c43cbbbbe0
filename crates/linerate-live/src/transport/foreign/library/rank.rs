//! A rank: a process beside an end, which calls home and plays what it is asked until that end goes away.

use super::home::{Play, Played, call};
use super::parts;
use super::rank_report::PARTS;
use crate::control::serve_in_turn;
use crate::pattern::{Loops, Part, play_here};
use crate::{Error, Result};
use linerate_sys::thread;
use serde_json::Value;
use std::io::BufReader;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// What a trial may take to end when nobody waits for it any more, and a farewell.
const END: Duration = Duration::from_secs(2);

/// What a library makes of a rank.
pub trait RankProgram {
    /// Plays the blocks.
    fn play(&mut self, asked: &Play) -> Result<Vec<Played>>;
    /// Answers what else it is asked; none where it does not know the method.
    fn answer(&mut self, _method: &str, _params: &Value) -> Option<Result<Value>> {
        None
    }
    /// Takes leave of the other rank.
    fn leave(&mut self);
}

/// Plays until the end that it works for goes away. Whatever the library is asked, it is asked by the thread that calls this,
/// which has begun it.
pub fn serve_home(home: &str, mut rank: impl RankProgram) -> Result<()> {
    let stream = call(home)?;
    let reader = stream.try_clone().map_err(|e| Error::io("dup", home, e))?;
    let handle = |method: &str, params: Value| {
        if method == PARTS {
            return parts::of_this_process().map(Value::from);
        }
        if method != "play" {
            let unknown = || Err(Error::usage(format!("a rank knows no `{method}`"), ""));
            return rank.answer(method, &params).unwrap_or_else(unknown);
        }
        let asked: Play =
            serde_json::from_value(params).map_err(|e| Error::usage(format!("{method}: {e}"), ""))?;
        let played = rank.play(&asked)?;
        serde_json::to_value(played).map_err(|e| Error::usage(format!("{method}: {e}"), ""))
    };
    let (over, is_over) = channel::<()>();
    // A trial under way waits for a rank that may have gone: then this one goes without a farewell.
    let ended = move || {
        if is_over.recv_timeout(END) == Err(RecvTimeoutError::Timeout) {
            linerate_sys::process::end_this();
        }
    };
    let served = serve_in_turn(BufReader::new(reader), stream, handle, ended);
    drop(over);
    let _ready = limit(END);
    rank.leave();
    served
}

/// Loops what is asked by these loops.
pub fn played(link: impl Loops, asked: &Play) -> Result<Vec<Played>> {
    let part = Part { link, does: asked.does, cpu: asked.cpu };
    play_here(part, asked.wait, &asked.blocks)?.into_iter().map(Played::from_measured).collect()
}

/// Ends the process where this is not dropped in time.
pub fn limit(time: Duration) -> Sender<()> {
    let (keep, kept) = channel::<()>();
    // Without that thread it waits for the process that it works for.
    let _ = thread::start("limit", move || {
        if kept.recv_timeout(time) == Err(RecvTimeoutError::Timeout) {
            linerate_sys::process::end_this();
        }
    });
    keep
}
