//! One thread and its memory: the copy that every layer above pays for, and STREAM's triad.
//!
//! `memory-copy`: `memcpy` of one message; a byte that was copied counts once.
//! `memory-triad`: a = b + s*c over doubles, counted as STREAM does: 24 bytes an element
//! (J. D. McCalpin, STREAM: Sustainable Memory Bandwidth in High Performance Computers).
//! Both walk through arrays of 64 MiB when the caches are to be left, and stay in one place otherwise.

use crate::pattern::{Link, Measured, Part, play};
use crate::plan::Block;
use crate::record::Granted;
use crate::transport::{Offer, Pending, Session, Spec, Task, Transport};
use crate::vocabulary::{Cache, Wait};
use crate::{Error, Result};
use std::hint::black_box;
use std::io;

/// Bytes of each array, as STREAM asks several times what the caches hold.
const ARRAY_BYTES: usize = 64 << 20;

/// What STREAM counts for one element of the triad: two doubles read, one written.
const TRIAD_BYTES: usize = 24;

/// Array elements that a message starts on a multiple of: a cache line.
const LINE: usize = 64;

/// Work on memory.
trait Kernel: Send + 'static {
    /// The transport's name.
    const NAME: &'static str;
    /// Arrays that have been touched.
    fn new() -> Self;
    /// Works on one message at a walk through the first `span` bytes of the arrays.
    fn work(&mut self, message: &[u8], span: usize);
}

/// A transport of one kernel.
pub struct Memory<K>(std::marker::PhantomData<fn() -> K>);

/// `memcpy`.
pub const COPY: Memory<Copy> = Memory(std::marker::PhantomData);

/// STREAM's triad.
pub const TRIAD: Memory<Triad> = Memory(std::marker::PhantomData);

/// The array that is copied to, and how far the walk has come.
pub struct Copy {
    to: Vec<u8>,
    at: usize,
}

/// The arrays of the triad, and how far the walk has come.
pub struct Triad {
    a: Vec<f64>,
    b: Vec<f64>,
    c: Vec<f64>,
    at: usize,
}

impl Kernel for Copy {
    const NAME: &'static str = "memory-copy";

    fn new() -> Self {
        Copy { to: vec![1; ARRAY_BYTES], at: 0 }
    }

    #[inline]
    fn work(&mut self, message: &[u8], span: usize) {
        let start = step(&mut self.at, message.len(), span);
        self.to[start..start + message.len()].copy_from_slice(message);
        black_box(&mut self.to);
    }
}

impl Kernel for Triad {
    const NAME: &'static str = "memory-triad";

    fn new() -> Self {
        let array = |value| vec![value; ARRAY_BYTES / size_of::<f64>()];
        Triad { a: array(0.0), b: array(1.0), c: array(2.0), at: 0 }
    }

    #[inline]
    fn work(&mut self, message: &[u8], span: usize) {
        let len = message.len().div_ceil(TRIAD_BYTES);
        let start = step(&mut self.at, len, span / size_of::<f64>());
        let range = start..start + len;
        let scale = black_box(3.0);
        let (b, c) = (&self.b[range.clone()], &self.c[range.clone()]);
        for ((a, b), c) in self.a[range].iter_mut().zip(b).zip(c) {
            *a = b + scale * c;
        }
        black_box(&mut self.a);
    }
}

/// Where the next `len` elements begin: at the start again when they would pass `span`.
#[inline]
fn step(at: &mut usize, len: usize, span: usize) -> usize {
    let start = if *at + len > span { 0 } else { *at };
    *at = start + len.next_multiple_of(LINE);
    start
}

impl<K: Kernel> Transport for Memory<K> {
    fn name(&self) -> &'static str {
        K::NAME
    }

    fn offer(&'static self, _spec: &Spec) -> Result<(Box<dyn Pending>, Offer)> {
        Ok((Box::new(Alone(K::new())), Offer::Nothing))
    }
}

/// A session without another end.
struct Alone<K>(K);

impl<K: Kernel> Pending for Alone<K> {
    fn join(self: Box<Self>, _other: &Offer) -> Result<Box<dyn Session>> {
        Ok(self)
    }
}

impl<K: Kernel> Session for Alone<K> {
    fn granted(&self) -> Vec<Granted> {
        Vec::new()
    }

    /// Each block is played apart: there is no flow that must not pause, and each has its own span.
    fn trial(&mut self, tasks: &[Task], wait: Wait, blocks: &[Block]) -> Result<Vec<Vec<Vec<Measured>>>> {
        let task = tasks.first().ok_or_else(|| Error::usage("a memory trial without a task", ""))?;
        let mut measured = Vec::with_capacity(blocks.len());
        for block in blocks {
            let message = block.message_bytes as usize;
            let span = if block.cache == Cache::Hot { message.max(LINE) } else { ARRAY_BYTES };
            if message > ARRAY_BYTES {
                return Err(Error::usage(format!("a memory message of {message} bytes"), "at most 64MiB"));
            }
            let link = KernelLink { kernel: &mut self.0, span };
            let part = Part { link, does: task.does, cpu: task.cpu(0) };
            measured.extend(play(vec![part], wait, std::slice::from_ref(block))?.into_iter().flatten());
        }
        Ok(vec![vec![measured]])
    }
}

/// A kernel within a span.
struct KernelLink<'k, K> {
    kernel: &'k mut K,
    span: usize,
}

impl<K: Kernel> Link for KernelLink<'_, K> {
    #[inline]
    fn push(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.kernel.work(bytes, self.span);
        Ok(bytes.len())
    }

    fn pull(&mut self, _bytes: &mut [u8]) -> io::Result<usize> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
