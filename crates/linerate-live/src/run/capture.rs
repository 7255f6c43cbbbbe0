//! Captures the packets of one stream between the first two hosts of a run.

use super::Runner;
use super::trace::{ANSWERING, ANSWERS, ASKING, Wanted, out_of_turn};
use crate::Result;
use crate::record::{Capture, TraceHost};
use crate::trace::{Answered, CaptureRequest, Captured, Request};
use std::time::Duration;

/// What is to be captured.
#[derive(Debug, Clone)]
pub struct CaptureOrder {
    /// Bytes of the stream, at most.
    pub bytes: u64,
    /// How long it sends at most.
    pub limit_ns: u64,
    /// Whether the second host sends.
    pub back: bool,
    /// The most bytes that a host keeps.
    pub most_bytes: u64,
}

impl Runner<'_> {
    /// Captures.
    pub fn capture(&mut self, order: &CaptureOrder) -> Result<Capture> {
        self.trace_meet(Wanted::default())?;
        let passed = self.filter_passed()?;
        let request = |sends| {
            let CaptureOrder { bytes, limit_ns, most_bytes, .. } = *order;
            Request::Capture(CaptureRequest { sends, bytes, limit_ns, most_bytes })
        };
        // A sender that sends no more waits for the rest to arrive.
        let limit = Duration::from_nanos(order.limit_ns) + 2 * ANSWERS;
        let mut answers = self.ask_both([request(!order.back), request(order.back)], limit)?.into_iter();
        let mut next = || match answers.next() {
            Some(Answered::Captured(captured)) => Ok(*captured),
            _ => Err(out_of_turn()),
        };
        let of_host = |at: usize| {
            let facts = &self.hosts.all[at].facts;
            TraceHost { host: facts.host, environment: facts.environment.clone(), ..TraceHost::default() }
        };
        let (asking, answering): (Captured, Captured) = (next()?, next()?);
        let mut ends = [(of_host(ASKING), asking), (of_host(ANSWERING), answering)];
        if order.back {
            ends.reverse();
        }
        let [(sender, sent), (receiver, received)] = ends;
        self.ask_both([Request::End, Request::End], ANSWERS)?;
        self.see_what_passed(&passed, 0, &mut Vec::new())?;
        Ok(Capture {
            target: self.plan.target.to_string(),
            bytes: received.bytes,
            knobs: self.plan.settings.iter().map(ToString::to_string).collect(),
            timed_bytes: received.timed_bytes,
            elapsed_ns: received.elapsed_ns,
            stalled: received.stalled,
            hosts: vec![sender, receiver],
            sides: vec![sent.side, received.side],
        })
    }
}
