//! The threads that carry buffers from a copy of one stage to a copy of the next, within a host or over a connection.

use super::frame::{self, TAKEN, WANTED};
use super::queue::{Inbox, Outbox, Pool, Stopped, Wanted};
use super::stage::Failed;
use crate::pattern::Driven;
use crate::plan::HostId;
use crate::workload::application::broken;

/// How a lane works.
#[derive(Debug, Clone, Copy, Default)]
pub struct Shape {
    /// Units of work.
    pub units: u64,
    /// Whether each is asked for.
    pub one_by_one: bool,
    /// Whether it is told when a buffer was taken up.
    pub acknowledges: bool,
}

/// The end at which a lane begins.
pub struct Outgoing<'j> {
    pub outbox: &'j Outbox,
    /// Which copy of the next stage it goes to, and its number among all that the stage gives to.
    pub copy: usize,
    pub taker: usize,
    pub wanted: &'j Wanted,
    pub pool: &'j Pool,
    pub other: HostId,
    pub shape: Shape,
}

/// The end at which a lane ends.
pub struct Incoming<'j> {
    pub inbox: &'j Inbox,
    /// Its number among those that come to the copy.
    pub from: usize,
    pub wanted: &'j Wanted,
    pub pool: &'j Pool,
    pub other: HostId,
    pub shape: Shape,
}

/// Both ends.
pub struct InHost<'j> {
    pub from: Outgoing<'j>,
    pub to: Incoming<'j>,
}

/// What carries a lane's buffers.
pub enum Carrier<'j, 'l, 's> {
    InHost(InHost<'j>),
    Out(Outgoing<'j>, &'l mut Driven<'s>),
    In(Incoming<'j>, &'l mut Driven<'s>),
}

impl<'j, 'l, 's> Carrier<'j, 'l, 's> {
    /// It with this shape.
    pub fn of_shape(self, shape: Shape) -> Carrier<'j, 'l, 's> {
        match self {
            Carrier::InHost(InHost { from, to }) => {
                Carrier::InHost(InHost { from: Outgoing { shape, ..from }, to: Incoming { shape, ..to } })
            }
            Carrier::Out(from, link) => Carrier::Out(Outgoing { shape, ..from }, link),
            Carrier::In(to, link) => Carrier::In(Incoming { shape, ..to }, link),
        }
    }

    /// Carries all units; gives the bytes that came to this host.
    pub fn carry(self) -> Result<u64, Failed> {
        match self {
            Carrier::InHost(both) => both.carry().map(|()| 0).map_err(Failed::from),
            Carrier::Out(from, link) => from.carry(link).map(|()| 0),
            Carrier::In(to, link) => to.carry(link),
        }
    }
}

impl InHost<'_> {
    fn carry(self) -> Result<(), Stopped> {
        let InHost { from, to } = self;
        for unit in 0..from.shape.units {
            if from.shape.one_by_one {
                to.wanted.wait(unit)?;
                from.wanted.ask(from.taker);
            }
            while let Some(buffer) = from.outbox.take(from.copy)? {
                to.inbox.put(to.from, Some(buffer))?;
                from.outbox.took(from.copy);
            }
            to.inbox.put(to.from, None)?;
        }
        Ok(())
    }
}

impl Outgoing<'_> {
    fn carry(self, link: &mut Driven<'_>) -> Result<(), Failed> {
        let failed = |error| Failed::Error(broken("a stage", self.other, &error));
        for _ in 0..self.shape.units {
            if self.shape.one_by_one {
                frame::hear(link, WANTED).map_err(failed)?;
                self.wanted.ask(self.taker);
            }
            while let Some(mut buffer) = self.outbox.take(self.copy)? {
                frame::send(link, &mut buffer).map_err(failed)?;
                self.pool.give(buffer);
                if self.shape.acknowledges {
                    frame::hear(link, TAKEN).map_err(failed)?;
                }
                self.outbox.took(self.copy);
            }
            frame::send_end(link).map_err(failed)?;
        }
        Ok(())
    }
}

impl Incoming<'_> {
    fn carry(self, link: &mut Driven<'_>) -> Result<u64, Failed> {
        let failed = |error| Failed::Error(broken("a stage", self.other, &error));
        let (mut bytes, mut comes) = (0, frame::Comes::default());
        for unit in 0..self.shape.units {
            if self.shape.one_by_one {
                self.wanted.wait(unit)?;
                frame::say(link, WANTED).map_err(failed)?;
            }
            loop {
                let mut buffer = self.pool.take();
                if !comes.receive(link, &mut buffer).map_err(failed)? {
                    self.pool.give(buffer);
                    break;
                }
                bytes += buffer.len() as u64;
                self.inbox.put(self.from, Some(buffer))?;
                if self.shape.acknowledges {
                    frame::say(link, TAKEN).map_err(failed)?;
                }
            }
            self.inbox.put(self.from, None)?;
        }
        Ok(bytes)
    }
}
