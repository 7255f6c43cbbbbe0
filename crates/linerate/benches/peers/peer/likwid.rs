//! likwid-bench: copies and triads of memory, counted as STREAM counts.

use super::super::process::{Launch, last_line};
use super::super::work::{Clocked, Kind, Outcome, Work};
use super::{Peer, Play, limit, number_after};

pub const LIKWID: Peer = Peer {
    name: "likwid-bench",
    programs: &["likwid-bench"],
    about: "kernels on memory, in assembler",
    get: "package likwid",
    version: &["--version"],
    help: &[],
    plays: &[
        // Ours is the C library's memcpy, which has ordinary vector stores at these sizes: so has this kernel.
        Play { clocked: WARM, ..Play::new(Kind::MemoryCopy, |_, work, _| kernel(work, "copy_avx", 2)) },
        Play {
            clocked: WARM,
            ..Play::new(Kind::BestMemoryCopy, |_, work, _| kernel(work, "copy_mem_avx", 2))
        },
        Play { clocked: WARM, ..Play::new(Kind::MemoryTriad, |_, work, _| kernel(work, "stream_sse", 3)) },
    ],
};

const WARM: Clocked = Clocked::after(0.2);

/// A kernel over arrays of the row's size each.
fn kernel(work: &Work, name: &str, arrays: u64) -> Result<Outcome, String> {
    let group = format!("S0:{}B:1", arrays * work.bytes);
    let seconds = work.seconds.to_string();
    let words = ["-t", name, "-w", &group, "-s", &seconds];
    let ended = Launch::new("likwid-bench", work.cpus[0], words).start()?.wait(limit(work))?;
    if !ended.is_well {
        return Err(last_line(&(ended.output + &ended.errors)).to_owned());
    }
    let bytes_per_s = number_after(&ended.output, "MByte/s:")? * 1e6;
    Ok(Outcome { bps: Some(8.0 * bytes_per_s), ..Outcome::default() })
}
