//! Two processes over a pair of shared rings: two copies, and the kernel only when an end sleeps.

use crate::pattern::{Link, Measured, Part, poll};
use crate::plan::Block;
use crate::record::Granted;
use crate::transport::fault::shim::Faults;
use crate::transport::{Offer, Pending, Session, Spec, Task, Transport, by_task};
use crate::vocabulary::{Does, Wait};
use crate::{Error, Result};
use linerate_sys::shared_ring::{Consumer, Producer, SharedRings};
use std::io;
use std::time::{Duration, Instant};

/// How often a streaming end asks before it sleeps: about the time that a wake-up would cost.
const ASKS_BEFORE_SLEEP: u32 = 2000;

/// A ping-pong that is to show what sleeping costs looks once and sleeps.
const ONE_LOOK: u32 = 1;

/// The transport.
pub struct SharedMemory;

impl Transport for SharedMemory {
    fn name(&self) -> &'static str {
        "shared-memory"
    }

    fn offer(&'static self, spec: &Spec) -> Result<(Box<dyn Pending>, Offer)> {
        if !spec.passive {
            return Ok((Box::new(End { spec: spec.clone(), rings: None }), Offer::Nothing));
        }
        let rings = SharedRings::create()?;
        let (process, descriptor) = rings.place();
        let end = End { spec: spec.clone(), rings: Some(rings) };
        Ok((Box::new(end), Offer::Mapping { process, descriptor }))
    }
}

struct End {
    spec: Spec,
    rings: Option<SharedRings>,
}

impl Pending for End {
    fn join(mut self: Box<Self>, other: &Offer) -> Result<Box<dyn Session>> {
        if let Offer::Mapping { process, descriptor } = other
            && !self.spec.passive
        {
            self.rings = Some(SharedRings::open(*process, *descriptor)?);
        }
        match self.rings {
            Some(_) => Ok(self),
            None => Err(Error::peer("the other end", "offered no shared memory", "")),
        }
    }
}

impl Session for End {
    fn granted(&self) -> Vec<Granted> {
        Faults::from_spec(&self.spec).granted(&self.spec)
    }

    fn trial(&mut self, tasks: &[Task], wait: Wait, blocks: &[Block]) -> Result<Vec<Vec<Vec<Measured>>>> {
        // One task: a ring has one producer and one consumer at a time.
        let [task] = tasks else {
            return Err(Error::usage("shared memory takes one task an end", ""));
        };
        let rings = self.rings.as_ref().ok_or_else(|| Error::peer("this end", "has no rings", ""))?;
        let (producer, consumer) = rings.ends(self.spec.passive);
        let is_ping_pong = matches!(task.does, Does::Pings | Does::Echoes);
        let asks = if is_ping_pong { ONE_LOOK } else { ASKS_BEFORE_SLEEP };
        let ends = Ends { producer, consumer, asks, patience: self.spec.patience() };
        let (does, cpu, faults) = (task.does, task.cpu(0), Faults::from_spec(&self.spec));
        let parts = match wait {
            Wait::Polling => faults.play(vec![Part { link: Polling(ends), does, cpu }], wait, blocks)?,
            Wait::Sleeping => faults.play(vec![Part { link: Sleeping(ends), does, cpu }], wait, blocks)?,
        };
        Ok(by_task(parts, 1))
    }
}

/// Both rings.
struct Ends {
    producer: Producer,
    consumer: Consumer,
    asks: u32,
    patience: Duration,
}

/// Asks again and again.
struct Polling(Ends);

/// Asks for a bounded time, then sleeps on a futex.
struct Sleeping(Ends);

impl Link for Polling {
    #[inline]
    fn push(&mut self, bytes: &[u8]) -> io::Result<usize> {
        poll(self.0.patience, || Ok(self.0.producer.push(bytes)))
    }

    #[inline]
    fn pull(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        poll(self.0.patience, || Ok(self.0.consumer.pull(bytes)))
    }
}

impl Link for Sleeping {
    #[inline]
    fn push(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Ends { producer, asks, patience, .. } = &mut self.0;
        let moved = sleeping((*asks, *patience), producer, |end| end.push(bytes), Producer::sleep)?;
        producer.notify();
        Ok(moved)
    }

    #[inline]
    fn pull(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let Ends { consumer, asks, patience, .. } = &mut self.0;
        let moved = sleeping((*asks, *patience), consumer, |end| end.pull(bytes), Consumer::sleep)?;
        consumer.notify();
        Ok(moved)
    }
}

/// Asks a bounded number of times, then sleeps, until something moved or nothing did for too long.
#[inline]
fn sleeping<E>(
    (asks, patience): (u32, Duration),
    end: &mut E,
    mut ask: impl FnMut(&mut E) -> usize,
    sleep: impl Fn(&E, Duration),
) -> io::Result<usize> {
    let mut since = None;
    loop {
        for _ in 0..asks {
            let moved = ask(end);
            if moved > 0 {
                return Ok(moved);
            }
        }
        let slept = since.get_or_insert_with(Instant::now).elapsed();
        if slept >= patience {
            return Err(io::ErrorKind::TimedOut.into());
        }
        sleep(end, patience - slept);
    }
}
