//! Where a rank calls, and what it is asked.

use crate::control::{Call, Client};
use crate::pattern::{FileOrder, Measured};
use crate::plan::Block;
use crate::record::{Flow, Latencies};
use crate::transport::Task;
use crate::vocabulary::{Does, Sample, Wait};
use crate::{Error, Result};
use linerate_sys::process::{Process, Signal};
use linerate_sys::{local, socket};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::{Duration, Instant};

/// What a launch may take: the slowest known takes 1.1 s.
const LAUNCH: Duration = Duration::from_secs(15);
/// How often it is looked whether the launcher still goes on.
const LOOK: Duration = Duration::from_millis(50);
/// What a rank has to take leave of the other one before it is killed: it may hang in its library.
const FAREWELL: Duration = Duration::from_secs(5);

/// What who calls says first: that it is a rank, or that none will come.
const HERE: u8 = b'r';
const NOBODY: u8 = b'n';

/// A rank's call home.
pub fn call(home: &str) -> Result<UnixStream> {
    connect_with(home, HERE)
}

/// Says that no rank will come.
pub fn forsake(home: &str) -> Result<()> {
    connect_with(home, NOBODY).map(drop)
}

fn connect_with(home: &str, word: u8) -> Result<UnixStream> {
    let mut stream = local::connect(home)?;
    stream.write_all(&[word]).map_err(|e| Error::io("write", home, e))?;
    Ok(stream)
}

/// How a rank receives, where its library has several ways.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Receive {
    /// From the other rank, once this one has sent its own.
    #[default]
    Blocking,
    /// Asked for before the message can come.
    Posted,
    /// From whichever rank sends.
    AnySource,
    /// Once it is there, before anybody asked for it.
    Unexpected,
    /// From the other rank, each message for itself, those of streams as well.
    Plain,
}

/// What a rank plays.
#[derive(Debug, Serialize, Deserialize)]
pub struct Play {
    pub does: Does,
    /// Its CPU; none leaves it to the scheduler.
    pub cpu: Option<u32>,
    pub wait: Wait,
    #[serde(default)]
    pub receive: Receive,
    /// What is asked of a file, where one is read or written.
    #[serde(default)]
    pub file: FileOrder,
    /// The blocks, one after the other.
    pub blocks: Vec<Block>,
}

impl Play {
    /// The only flow of a task, where a library has one way to receive.
    pub fn for_only_flow(task: &Task, wait: Wait, blocks: &[Block]) -> Play {
        let blocks = blocks.to_vec();
        let (receive, file) = (Receive::default(), FileOrder::default());
        Play { does: task.does, cpu: task.cpu(0), wait, receive, file, blocks }
    }
}

/// What it measured of one block.
#[derive(Debug, Serialize, Deserialize)]
pub struct Played {
    flow: Flow,
    timer_slack_lowered: bool,
    kept_awake: bool,
    /// What else was timed, each as the text of a histogram.
    #[serde(default)]
    samples: Vec<(Sample, String)>,
}

impl Played {
    /// For the journey.
    pub fn from_measured(measured: Measured) -> Result<Played> {
        let Measured { flow, timer_slack_lowered, kept_awake, samples } = measured;
        let samples = samples.into_iter().map(|(sample, times)| Ok((sample, times.encode()?)));
        Ok(Played { flow, timer_slack_lowered, kept_awake, samples: samples.collect::<Result<_>>()? })
    }

    /// After it.
    pub fn measured(self) -> Result<Measured> {
        let Played { flow, timer_slack_lowered, kept_awake, samples } = self;
        let broken = || Error::peer("a rank", "gave times that cannot be read", "please report it");
        let decode = |(sample, text): (Sample, String)| Some((sample, Latencies::decode(&text)?));
        let samples = samples.into_iter().map(decode).collect::<Option<_>>().ok_or_else(broken)?;
        Ok(Measured { flow, samples, timer_slack_lowered, kept_awake })
    }
}

/// A socket that one rank is expected on. Its name is no secret: who calls must run as this user.
#[derive(Debug)]
pub struct RankListener {
    name: String,
    listener: UnixListener,
}

impl RankListener {
    /// One with a name of its own, in this network namespace.
    pub fn open() -> Result<RankListener> {
        let name = format!("linerate-rank-{:032x}", rand::random::<u128>());
        let listener = local::listen(&name)?;
        Ok(RankListener { name, listener })
    }

    /// What the rank is told.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Waits for the rank; `ended` says how its launcher ended, where it did.
    pub fn welcome(&self, ended: &dyn Fn() -> Option<String>) -> Result<RankConnection> {
        let deadline = Instant::now() + LAUNCH;
        loop {
            if let Some(how) = ended() {
                return Err(Error::unavailable(how, "does a program that is linked with it run?"));
            }
            if Instant::now() > deadline {
                let what = format!("the ranks were not there after {} s", LAUNCH.as_secs());
                return Err(Error::unavailable(what, "does a program that is linked with it run?"));
            }
            socket::wait_readable(&self.listener, LOOK)?;
            if let Ok((mut stream, _)) = self.listener.accept()
                && let Some(process) = socket::own_peer(&stream)
            {
                match first_word(&mut stream)? {
                    HERE => return RankConnection::from_stream(stream, process),
                    _ => return Err(Error::hung_up("the other end", "started no rank")),
                }
            }
        }
    }
}

fn first_word(stream: &mut UnixStream) -> Result<u8> {
    let failed = |e| Error::io("read", "rank", e);
    stream.set_nonblocking(false).map_err(failed)?;
    stream.set_read_timeout(Some(LAUNCH)).map_err(failed)?;
    let mut word = [0];
    stream.read_exact(&mut word).map_err(failed)?;
    stream.set_read_timeout(None).map_err(failed)?;
    Ok(word[0])
}

/// A rank that has called. It ends when this is dropped.
pub struct RankConnection {
    pub process: u32,
    client: Client,
    stream: UnixStream,
    /// By a descriptor: its number may be another one's by its end.
    own: Option<Process>,
}

impl RankConnection {
    fn from_stream(stream: UnixStream, process: u32) -> Result<RankConnection> {
        let copy = || stream.try_clone().map_err(|e| Error::io("dup", "rank", e));
        let client = Client::new("a rank", copy()?, copy()?)?;
        Ok(RankConnection { process, client, stream, own: Process::open(process)? })
    }

    /// Asks it for something else than to play.
    pub fn ask<A: DeserializeOwned>(&mut self, method: &str, gone: &dyn Fn() -> Result<()>) -> Result<A> {
        self.ask_with(method, &(), gone)
    }

    /// The same, with what it needs to know for it.
    pub fn ask_with<A: DeserializeOwned>(
        &mut self,
        method: &str,
        params: &impl Serialize,
        gone: &dyn Fn() -> Result<()>,
    ) -> Result<A> {
        self.client.call(method, params, LAUNCH, gone)
    }

    /// Has it play within the limit, as long as `gone` finds nothing wrong.
    pub fn play(
        &mut self,
        asked: &Play,
        limit: Duration,
        gone: &dyn Fn() -> Result<()>,
    ) -> Result<Vec<Played>> {
        let call = self.begin(asked)?;
        self.finish(call, limit, gone)
    }

    /// Has it play, and does not wait.
    pub fn begin(&mut self, asked: &Play) -> Result<Call<Vec<Played>>> {
        self.client.begin("play", asked)
    }

    /// Waits for what it played.
    pub fn finish(
        &mut self,
        call: Call<Vec<Played>>,
        limit: Duration,
        gone: &dyn Fn() -> Result<()>,
    ) -> Result<Vec<Played>> {
        self.client.finish(call, limit, gone)
    }
}

impl Drop for RankConnection {
    fn drop(&mut self) {
        // The thread that reads from it holds the socket open.
        let _ = self.stream.shutdown(Shutdown::Both);
        if let Some(own) = &self.own
            && !own.wait(FAREWELL).unwrap_or(false)
        {
            // It is no child of this process, and its launcher may be gone.
            let _ = own.signal(Signal::Kill);
        }
    }
}
