//! A made-up machine for the target `simulated`: every number that it will show is put in by hand.
//!
//! Time is virtual, so a whole run takes as long as its analysis. What goes in must come out: this is
//! how schedules and analyses are tested, and how a reader sees what a report says about known causes.

use crate::unit::{Bytes, Nanoseconds, Share, within};
use crate::vocabulary::{CAUSES, Cause, did_you_mean};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What the made-up machine is like. Shares are of one: 0.02 is 2 %.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct World {
    /// The spread of each trial: the standard deviation of its logarithm.
    pub noise: f64,
    /// The spread that all trials of one connection share.
    pub between: f64,
    /// The spread that a whole run shares.
    pub run: f64,
    /// How much of one trial's deviation the next one keeps.
    pub autocorrelation: f64,
    /// How much slower everything becomes each minute.
    pub drift: f64,
    /// The share of trials that another process disturbs, which take three times as long.
    pub bursts: f64,
    /// The share of connections that are a fifth slower from their first to their last message.
    pub modes: f64,
    /// The share of datagrams that are lost.
    pub loss: f64,
    /// From this size on each message between the hosts pays [`World::step_ns`].
    pub step_at: u64,
    /// What such a message pays.
    pub step_ns: f64,
    /// From this size on each further byte costs half as much again, as where a cache ends.
    pub knee_at: u64,
    /// What a packet between the hosts takes, in one direction.
    #[serde(default)]
    pub delay_ns: f64,
    /// Messages above this size between the hosts vanish; 0 where none do.
    #[serde(default, skip_serializing_if = "is_none")]
    pub swallows_above: u64,
    /// Causes that hold a stream between the hosts back. Where one is named, or `none`, its connections tell what those of
    /// TCP do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<PlantedCause>,
}

/// A cause that is put in, with its signs; what its experiments change takes it away.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlantedCause {
    /// Its name in the vocabulary; `none` for no cause.
    pub cause: String,
    /// How many times faster a stream is without it.
    pub strength: f64,
}

fn is_none(bytes: &u64) -> bool {
    *bytes == 0
}

/// One key of `simulated:KEY=VALUE`.
struct Key {
    name: &'static str,
    wanted: &'static str,
    set: fn(&mut World, &str) -> Result<(), String>,
    show: fn(&World) -> String,
}

/// The largest spread and share that make sense.
const MOST: f64 = 0.9;

macro_rules! share {
    ($name:literal, $field:ident) => {
        Key {
            name: $name,
            wanted: "a share such as 2%, at most 90%",
            set: |world, text| {
                world.$field = within(text.parse(), Share(0.0), Share(MOST), |share| share)?.0;
                Ok(())
            },
            show: |world| world.$field.to_string(),
        }
    };
}

const KEYS: &[Key] = &[
    share!("noise", noise),
    share!("between", between),
    share!("run", run),
    share!("autocorrelation", autocorrelation),
    share!("drift", drift),
    share!("bursts", bursts),
    share!("modes", modes),
    share!("loss", loss),
    Key {
        name: "step",
        wanted: "a size and a time such as 64KiB/3ms",
        set: |world, text| {
            let (at, time) = text.split_once('/').ok_or("it has no `/`")?;
            world.step_at = size(at)?;
            world.step_ns = time_up_to(1e9, time)?;
            Ok(())
        },
        show: |world| format!("{}/{}ns", world.step_at, world.step_ns),
    },
    Key {
        name: "knee",
        wanted: "a size such as 512KiB",
        set: |world, text| {
            world.knee_at = size(text)?;
            Ok(())
        },
        show: |world| world.knee_at.to_string(),
    },
    Key {
        name: "delay",
        wanted: "a time such as 10ms, at most 5s",
        set: |world, text| {
            world.delay_ns = time_up_to(5e9, text)?;
            Ok(())
        },
        show: |world| format!("{}ns", world.delay_ns),
    },
    Key {
        name: "swallow",
        wanted: "a size such as 1400",
        set: |world, text| {
            world.swallows_above = size(text)?;
            Ok(())
        },
        show: |world| world.swallows_above.to_string(),
    },
    Key {
        name: "cause",
        wanted: "a cause and by how much it slows, such as small-send-buffer/3, several with `+`, or none",
        set: |world, text| {
            world.causes = text.split('+').map(planted).collect::<Result<_, _>>()?;
            Ok(())
        },
        show: |world| {
            let shown = world.causes.iter().map(|one| match one.cause == NO_CAUSE {
                true => NO_CAUSE.to_owned(),
                false => format!("{}/{}", one.cause, one.strength),
            });
            shown.collect::<Vec<_>>().join("+")
        },
    },
];

/// Nothing holds a stream back, and its connections are watched.
const NO_CAUSE: &str = "none";

/// The most that a cause slows.
const STRONGEST: f64 = 1000.0;

fn planted(text: &str) -> Result<PlantedCause, String> {
    if text == NO_CAUSE {
        return Ok(PlantedCause { cause: text.into(), strength: 1.0 });
    }
    let (name, strength) = text.split_once('/').ok_or("it has no `/`")?;
    let cause = Cause::named(name).ok_or_else(|| {
        did_you_mean(CAUSES.iter().map(|cause| cause.name), name, "`linerate list causes` shows them")
    })?;
    let strength = strength.parse::<f64>().map_err(|_| format!("`{strength}` is no number"))?;
    match (1.0..=STRONGEST).contains(&strength) {
        true => Ok(PlantedCause { cause: cause.name.into(), strength }),
        false => Err(format!("it slows {strength} times: from 1 to {STRONGEST} can be")),
    }
}

fn size(text: &str) -> Result<u64, String> {
    text.parse::<Bytes>().map(|bytes| bytes.0).map_err(|error| error.why)
}

fn time_up_to(most_ns: f64, text: &str) -> Result<f64, String> {
    let [least, most] = [0.0, most_ns].map(Nanoseconds);
    within(text.parse(), least, most, |time| time.rounded(1)).map(|time| time.0)
}

impl World {
    /// A quiet machine with some noise.
    pub fn quiet() -> World {
        World { noise: 0.02, between: 0.01, ..World::default() }
    }

    /// Sets one key; the error says what is wanted.
    pub(super) fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let key = KEYS.iter().find(|key| key.name == name).ok_or_else(|| {
            let known: Vec<&str> = KEYS.iter().map(|key| key.name).collect();
            format!("a simulated machine knows no `{name}`; it knows {}", known.join(", "))
        })?;
        (key.set)(self, value).map_err(|why| {
            let colon = if why.is_empty() { "" } else { ": " };
            format!("simulated:{name}={value}: not {}{colon}{why}", key.wanted)
        })
    }
}

impl fmt::Display for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A key that is left out is the quiet machine's.
        let quiet = World::quiet();
        let said = KEYS.iter().filter(|key| (key.show)(self) != (key.show)(&quiet));
        let said: Vec<String> = said.map(|key| format!("{}={}", key.name, (key.show)(self))).collect();
        f.write_str(&said.join(","))
    }
}
