//! Traces a stream between the first two hosts of a run: block after block, with nothing beside it and watched.

use super::Runner;
use super::trace::{ANSWERING, ANSWERS, ASKING, Wanted, out_of_turn};
use crate::Result;
use crate::record::{StreamBlock, StreamSide, StreamTrace};
use crate::trace::{Answered, CALL, Request, StreamRequest};
use std::time::Duration;

/// Bytes of the first block, by which it is seen how fast the path is.
const FIRST: u64 = 256 << 10;

/// How often a block may be made longer until it is long enough.
const LONGER: u32 = 24;

/// Series have at most so many samples a block, and none is quicker than this.
const SAMPLES: u64 = 500;
const QUICKEST_NS: u64 = 10_000_000;

/// What is to be traced.
#[derive(Debug, Clone)]
pub struct StreamOrder {
    /// Pairs of blocks.
    pub blocks: u32,
    /// How long all of them take together, about.
    pub time_ns: u64,
    /// The highest level that is wanted.
    pub level: u8,
}

impl Runner<'_> {
    /// Traces; `told` hears how many pairs of blocks are done.
    pub fn trace_stream(
        &mut self,
        order: &StreamOrder,
        told: &mut dyn FnMut(u32, u32),
    ) -> Result<StreamTrace> {
        let met = self.trace_meet(Wanted { level: order.level, streams: true, ..Wanted::default() })?;
        let passed = self.filter_passed()?;
        let cpus = self.trace_cpus();
        let block_ns = order.time_ns / u64::from(2 * order.blocks.max(1));
        let every_ns = (block_ns / SAMPLES).max(QUICKEST_NS);
        let bytes = self.stream_bytes(block_ns, cpus)?;
        let mut trace = StreamTrace {
            target: self.plan.target.to_string(),
            block_bytes: bytes,
            call_bytes: CALL as u64,
            every_ns,
            knobs: self.plan.settings.iter().map(ToString::to_string).collect(),
            hosts: self.trace_hosts(met, cpus),
            one_machine: self.machine_of(ASKING) == self.machine_of(ANSWERING),
            blocks: Vec::new(),
        };
        for round in 0..order.blocks {
            told(round, order.blocks);
            let mut block = StreamBlock::default();
            // Which of a pair comes first alternates: what drifts is in both alike.
            for traced in [round % 2 == 1, round.is_multiple_of(2)] {
                let request = |sends, cpu| StreamRequest { sends, bytes, traced, cpu, every_ns };
                let [sending, receiving] = self.stream_block(&request, cpus, block_ns)?;
                match traced {
                    true => (block.sending, block.receiving) = (sending, receiving),
                    false => block.untraced = (receiving.bytes, receiving.elapsed_ns),
                }
            }
            trace.blocks.push(block);
        }
        self.ask_both([Request::End, Request::End], ANSWERS)?;
        self.see_what_passed(&passed, 0, &mut Vec::new())?;
        Ok(trace)
    }

    fn machine_of(&self, at: usize) -> &str {
        &self.hosts.all[at].facts.machine
    }

    /// So many bytes take about that time. What is sent to see it warms the path up: its windows are open then.
    fn stream_bytes(&mut self, block_ns: u64, cpus: [u32; 2]) -> Result<u64> {
        let mut bytes = FIRST;
        for _ in 0..LONGER {
            let request =
                |sends, cpu| StreamRequest { sends, bytes, traced: false, cpu, every_ns: QUICKEST_NS };
            let [_, received] = self.stream_block(&request, cpus, block_ns)?;
            if received.elapsed_ns >= block_ns / 2 {
                let rate = received.bytes as f64 / received.elapsed_ns as f64;
                return Ok(((rate * block_ns as f64) as u64).max(FIRST));
            }
            bytes *= 2;
        }
        Ok(bytes)
    }

    fn stream_block(
        &mut self,
        request: &dyn Fn(bool, u32) -> StreamRequest,
        cpus: [u32; 2],
        block_ns: u64,
    ) -> Result<[StreamSide; 2]> {
        let requests = [request(true, cpus[ASKING]), request(false, cpus[ANSWERING])].map(Request::Stream);
        // A path may become far slower than it was.
        let limit = ANSWERS + 20 * Duration::from_nanos(block_ns);
        let mut answers = self.ask_both(requests, limit)?.into_iter();
        let mut next = || match answers.next() {
            Some(Answered::Streamed(side)) => Ok(*side),
            _ => Err(out_of_turn()),
        };
        Ok([next()?, next()?])
    }
}
