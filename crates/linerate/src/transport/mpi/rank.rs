//! A rank: a process that a library's launcher started. It loads the library, calls home, and plays what it is asked.

use super::home::{Play, Played};
use super::launch::ROLE;
use super::receive::Receive;
use crate::control::serve;
use crate::pattern::{Measured, Part, Passed, Passing, Posted, Runs, play};
use crate::{Error, Result};
use linerate_sys::library::Library;
use linerate_sys::local;
use linerate_sys::mpi::{Handle, Mpi, Rank};
use std::io::BufReader;
use std::path::Path;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What `MPI_Init` may take before it is said to hang, and a trial to end when nobody waits for it any more.
const INIT: Duration = Duration::from_secs(20);
const END: Duration = Duration::from_secs(2);

/// Whether this is the command that a launcher calls for a rank.
pub fn is_role(word: &str) -> bool {
    word == ROLE
}

/// Plays until the end that it works for goes away. What fails before it has called home is told by the launcher, whose
/// output this process's is.
pub fn main(library: &Path, abi: &str, homes: &[String]) -> Result<()> {
    let unknown =
        |()| Error::usage(format!("no ABI is called `{abi}`"), "linerate starts this command itself");
    let abi = abi.parse().map_err(unknown)?;
    let library = Library::open(library)?;
    let ready = limit(INIT);
    let mut mpi = Mpi::init(&library, abi)?;
    mpi.check()?;
    drop(ready);
    let lost = || Error::usage("a rank has no home", "linerate starts this command itself");
    let home = usize::try_from(mpi.rank()).ok().and_then(|rank| homes.get(rank)).ok_or_else(lost)?;
    let stream = local::connect(home)?;
    let reader = stream.try_clone().map_err(|e| Error::io("dup", home, e))?;
    let mpi = Arc::new(Mutex::new(mpi));
    let playing = mpi.clone();
    let served = serve(BufReader::new(reader), stream, move |method, params| {
        let play: Play = match method {
            "play" => {
                serde_json::from_value(params).map_err(|e| Error::usage(format!("{method}: {e}"), ""))?
            }
            _ => return Err(Error::usage(format!("a rank knows no `{method}`"), "")),
        };
        let mut mpi = playing.lock().unwrap_or_else(PoisonError::into_inner);
        let played = match &mut *mpi {
            Mpi::Narrow(rank) => played(rank, &play),
            Mpi::Wide(rank) => played(rank, &play),
        };
        serde_json::to_value(played?).map_err(|e| Error::usage(format!("{method}: {e}"), ""))
    });
    end(&mpi);
    served
}

/// Ends the process where this is not dropped in time.
fn limit(time: Duration) -> std::sync::mpsc::Sender<()> {
    let (keep, kept) = channel::<()>();
    std::thread::spawn(move || {
        if kept.recv_timeout(time) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
            linerate_sys::process::end_this();
        }
    });
    keep
}

/// A trial under way waits for a rank that may have gone: then this one goes without a farewell.
fn end(mpi: &Mutex<Mpi>) {
    let deadline = Instant::now() + END;
    loop {
        if let Ok(mut mpi) = mpi.try_lock() {
            let _ready = limit(END);
            return mpi.finalize();
        }
        if Instant::now() > deadline {
            linerate_sys::process::end_this();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn played<H: Handle>(rank: &mut Rank<H>, asked: &Play) -> Result<Vec<Played>> {
    rank.receive_from_any(asked.receive == Receive::AnySource);
    let measured = match asked.receive {
        Receive::Blocking | Receive::AnySource => play_by(Passed::new(Own(rank)), asked),
        Receive::Posted => play_by(Posted::new(Own(rank)), asked),
        Receive::Unexpected => play_by(Passed::new(Probed(Own(rank))), asked),
    };
    Ok(measured?.into_iter().flatten().map(Played::of).collect())
}

fn play_by(link: impl Runs, asked: &Play) -> Result<Vec<Vec<Measured>>> {
    play(vec![Part { link, does: asked.does, cpu: asked.cpu }], asked.wait, &asked.blocks)
}

/// A rank as the loops see it.
pub struct Own<'r, H>(pub &'r mut Rank<H>);

impl<H: Handle> Passing for Own<'_, H> {
    #[inline]
    fn send(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.0.send(bytes)
    }

    #[inline]
    fn receive(&mut self, room: &mut [u8]) -> std::io::Result<usize> {
        self.0.receive(room)
    }

    #[inline]
    fn exchange(&mut self, bytes: &[u8], room: &mut [u8]) -> std::io::Result<usize> {
        self.0.exchange(bytes, room)
    }

    #[inline]
    fn send_window(&mut self, bytes: &[u8], messages: usize) -> std::io::Result<()> {
        self.0.send_window(bytes, messages)
    }

    #[inline]
    fn receive_window(&mut self, rooms: &mut [u8], len: usize, messages: usize) -> std::io::Result<usize> {
        self.0.receive_window(rooms, len, messages)
    }
}

/// The same, which receives nothing before it is there.
struct Probed<'r, H>(Own<'r, H>);

impl<H: Handle> Passing for Probed<'_, H> {
    #[inline]
    fn send(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.0.send(bytes)
    }

    #[inline]
    fn receive(&mut self, room: &mut [u8]) -> std::io::Result<usize> {
        self.0.0.wait_for_message()?;
        self.0.receive(room)
    }

    /// Both ends wait for the other's message while their own is under way.
    #[inline]
    fn exchange(&mut self, bytes: &[u8], room: &mut [u8]) -> std::io::Result<usize> {
        self.0.exchange(bytes, room)
    }

    #[inline]
    fn send_window(&mut self, bytes: &[u8], messages: usize) -> std::io::Result<()> {
        self.0.send_window(bytes, messages)
    }

    #[inline]
    fn receive_window(&mut self, rooms: &mut [u8], len: usize, messages: usize) -> std::io::Result<usize> {
        rooms
            .chunks_exact_mut(len.max(1))
            .take(messages)
            .try_fold(0, |came, room| Ok(came + self.receive(room)?))
    }
}
