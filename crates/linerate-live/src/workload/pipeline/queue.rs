//! Bounded queues between the threads of a pipeline: who finds no room waits, and so does whoever made what fills it.

use crate::plan::HandOut;
use linerate_sys::clock::monotonic_ns;
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Bytes of a unit of work, with room for a frame's head before them.
pub type Buffer = Vec<u8>;

/// The pipeline was stopped: somebody failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stopped;

/// How long was waited.
pub type Waited = Result<u64, Stopped>;

/// A lock is only poisoned where a thread panicked, which is told by that thread's guard.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A state that threads wait for: some give to it, others take from it.
struct Shared<T> {
    state: Mutex<State<T>>,
    changed: [Condvar; 2],
}

struct State<T> {
    value: T,
    stopped: bool,
    /// Threads that wait, of each kind: where there is none nobody is woken, for which the kernel would be asked each time.
    waiting: [usize; 2],
}

/// What a thread waits for, or whom a change is for.
#[derive(Clone, Copy)]
enum Kind {
    /// Room.
    Givers,
    /// Something to take.
    Takers,
}

impl<T> Shared<T> {
    fn new(state: T) -> Shared<T> {
        let state = State { value: state, stopped: false, waiting: [0; 2] };
        Shared { state: Mutex::new(state), changed: [Condvar::new(), Condvar::new()] }
    }

    /// Waits until `step` has something, and whether others are to be woken for it; says what, and how long that took.
    fn wait<R>(
        &self,
        kind: Kind,
        mut step: impl FnMut(&mut T) -> Option<(R, bool)>,
    ) -> Result<(R, u64), Stopped> {
        let others = match kind {
            Kind::Givers => Kind::Takers,
            Kind::Takers => Kind::Givers,
        };
        let mut guard = lock(&self.state);
        let mut begun = None;
        loop {
            if guard.stopped {
                return Err(Stopped);
            }
            if let Some((found, wakes)) = step(&mut guard.value) {
                if wakes {
                    self.wake(guard, others);
                }
                return Ok((found, begun.map_or(0, |begun| monotonic_ns() - begun)));
            }
            if begun.is_none() {
                // Who shares this CPU and has work goes first, and does more than one buffer's: to sleep and be woken for each costs
                // as much as to hand it on. Where nobody has, this returns at once.
                begun = Some(monotonic_ns());
                drop(guard);
                std::thread::yield_now();
                guard = lock(&self.state);
                continue;
            }
            guard.waiting[kind as usize] += 1;
            guard = self.changed[kind as usize].wait(guard).unwrap_or_else(PoisonError::into_inner);
            guard.waiting[kind as usize] -= 1;
        }
    }

    /// Changes it for whoever waits for that.
    fn change(&self, others: Kind, change: impl FnOnce(&mut T)) {
        let mut guard = lock(&self.state);
        change(&mut guard.value);
        self.wake(guard, others);
    }

    fn stop(&self) {
        lock(&self.state).stopped = true;
        self.changed.iter().for_each(Condvar::notify_all);
    }

    fn wake(&self, guard: MutexGuard<'_, State<T>>, others: Kind) {
        let is_waited_for = guard.waiting[others as usize] > 0;
        drop(guard);
        if is_waited_for {
            self.changed[others as usize].notify_all();
        }
    }
}

/// Whether those that wait for room are woken: when half of it is free, so that they fill it at once and are not woken for each
/// buffer. Whoever takes goes on until a unit is over, and wakes them then, so that they wait for ever at none.
fn has_much_room(len: usize, limit: usize) -> bool {
    len <= limit / 2
}

/// Buffers that are used again.
#[derive(Default)]
pub struct Pool(Mutex<Vec<Buffer>>);

impl Pool {
    /// One with whatever it had: who receives into it writes over that, and clearing it would fill it with zeros first.
    pub fn take(&self) -> Buffer {
        lock(&self.0).pop().unwrap_or_default()
    }

    /// One that nobody needs any more.
    pub fn give(&self, buffer: Buffer) {
        lock(&self.0).push(buffer);
    }
}

/// What waits for a stage's copy, by whom it comes from.
pub struct Inbox(Shared<Waiting>);

struct Waiting {
    /// None says that a unit is over.
    queues: Vec<VecDeque<Option<Buffer>>>,
    limits: Vec<usize>,
    has_ended: Vec<bool>,
    turn: usize,
}

impl Inbox {
    /// With so many buffers of each that gives to it.
    pub fn new(limits: Vec<usize>) -> Inbox {
        let queues = limits.iter().map(|_| VecDeque::new()).collect();
        Inbox(Shared::new(Waiting { queues, has_ended: vec![false; limits.len()], limits, turn: 0 }))
    }

    /// Puts a buffer, or the end of the unit, when there is room.
    pub fn put(&self, from: usize, buffer: Option<Buffer>) -> Waited {
        let mut buffer = Some(buffer);
        let put = |waiting: &mut Waiting| {
            let has_room = waiting.queues[from].len() < waiting.limits[from];
            // An end takes no room.
            let may = has_room || buffer.as_ref().is_some_and(Option::is_none);
            may.then(|| (waiting.queues[from].extend(buffer.take()), true))
        };
        self.0.wait(Kind::Givers, put).map(|((), ns)| ns)
    }

    /// The next buffer of this unit, whoever it is from; none when all have ended it.
    pub fn take(&self) -> Result<(Option<Buffer>, u64), Stopped> {
        self.0.wait(Kind::Takers, |waiting| {
            let count = waiting.queues.len();
            for nth in 0..count {
                let from = (waiting.turn + nth) % count;
                if waiting.has_ended[from] {
                    continue;
                }
                match waiting.queues[from].pop_front() {
                    Some(Some(buffer)) => {
                        waiting.turn = from + 1;
                        let wakes = has_much_room(waiting.queues[from].len(), waiting.limits[from]);
                        return Some((Some(buffer), wakes));
                    }
                    Some(None) => waiting.has_ended[from] = true,
                    None => {}
                }
            }
            waiting.has_ended.iter().all(|ended| *ended).then(|| {
                waiting.has_ended.fill(false);
                // Ends have left the queues, and nobody was woken for them.
                (None, true)
            })
        })
    }

    /// Nobody waits any more.
    pub fn stop(&self) {
        self.0.stop();
    }
}

/// What a copy of a stage has made for a stream, and which copy of the next stage gets it.
pub struct Outbox {
    dealt: Shared<Dealt>,
    hand_out: HandOut,
    limit: usize,
}

struct Dealt {
    /// For each copy of the next stage: buffers with their units.
    own: Vec<VecDeque<(u64, Buffer)>>,
    /// For whichever of them takes it.
    shared: VecDeque<(u64, Buffer)>,
    /// What each was given and has not taken up.
    outstanding: Vec<usize>,
    /// The unit that each is given.
    at: Vec<u64>,
    /// Units that are over.
    ended: u64,
    turn: usize,
}

impl Outbox {
    /// For so many copies, with room for so many buffers of each.
    pub fn new(copies: usize, hand_out: HandOut, limit: usize) -> Outbox {
        let own = (0..copies).map(|_| VecDeque::new()).collect();
        let dealt = Dealt {
            own,
            shared: VecDeque::new(),
            outstanding: vec![0; copies],
            at: vec![0; copies],
            ended: 0,
            turn: 0,
        };
        Outbox { dealt: Shared::new(dealt), hand_out, limit }
    }

    /// Puts a buffer when there is room.
    pub fn put(&self, buffer: Buffer) -> Waited {
        let mut buffer = Some(buffer);
        let put = |dealt: &mut Dealt| {
            let unit = dealt.ended;
            let copies = dealt.own.len();
            let (queue, limit) = match self.hand_out {
                HandOut::RoundRobin => (&mut dealt.own[dealt.turn % copies], self.limit),
                HandOut::DemandDriven => (&mut dealt.shared, self.limit * copies),
                HandOut::LeastLoaded => {
                    let load = |copy: &usize| dealt.own[*copy].len() + dealt.outstanding[*copy];
                    let least = (0..copies).min_by_key(load).unwrap_or_default();
                    (&mut dealt.own[least], self.limit)
                }
            };
            (queue.len() < limit).then(|| {
                queue.extend(buffer.take().map(|buffer| (unit, buffer)));
                dealt.turn += 1;
                ((), true)
            })
        };
        self.dealt.wait(Kind::Givers, put).map(|((), ns)| ns)
    }

    /// The unit is over.
    pub fn end(&self) {
        self.dealt.change(Kind::Takers, |dealt| dealt.ended += 1);
    }

    /// What goes to this copy next; none where the unit is over.
    pub fn take(&self, copy: usize) -> Result<Option<Buffer>, Stopped> {
        let next = |dealt: &mut Dealt| {
            let unit = dealt.at[copy];
            let is_of = |queue: &VecDeque<(u64, Buffer)>| queue.front().is_some_and(|(of, _)| *of == unit);
            let is_own = is_of(&dealt.own[copy]);
            let limit = if is_own { self.limit } else { self.limit * dealt.own.len() };
            let queue = if is_own { &mut dealt.own[copy] } else { &mut dealt.shared };
            if is_of(queue) {
                dealt.outstanding[copy] += 1;
                let buffer = queue.pop_front().map(|(_, buffer)| buffer);
                // Of a copy that was the least loaded before another one may have less now.
                let wakes = has_much_room(queue.len(), limit) || self.hand_out == HandOut::LeastLoaded;
                return Some((buffer, wakes));
            }
            (dealt.ended > unit).then(|| {
                dealt.at[copy] += 1;
                (None, false)
            })
        };
        self.dealt.wait(Kind::Takers, next).map(|(next, _)| next)
    }

    /// The copy has taken up what it was given.
    pub fn took(&self, copy: usize) {
        if self.hand_out != HandOut::LeastLoaded {
            // Nobody asks.
            return;
        }
        self.dealt.change(Kind::Givers, |dealt| {
            dealt.outstanding[copy] = dealt.outstanding[copy].saturating_sub(1)
        });
    }

    /// Nobody waits any more.
    pub fn stop(&self) {
        self.dealt.stop();
    }
}

/// How many units were asked for, by each that a copy of a stage gives to.
pub struct Wanted(Shared<Vec<u64>>);

impl Wanted {
    /// By so many; by itself where it gives to nobody.
    pub fn new(takers: usize) -> Wanted {
        Wanted(Shared::new(vec![0; takers.max(1)]))
    }

    /// One more is asked for.
    pub fn ask(&self, taker: usize) {
        self.0.change(Kind::Takers, |wanted| wanted[taker] += 1);
    }

    /// Waits until all have asked for this unit.
    pub fn wait(&self, unit: u64) -> Waited {
        let all = |wanted: &mut Vec<u64>| wanted.iter().all(|count| *count > unit).then_some(((), false));
        self.0.wait(Kind::Takers, all).map(|((), ns)| ns)
    }

    /// Nobody waits any more.
    pub fn stop(&self) {
        self.0.stop();
    }
}

#[cfg(test)]
mod tests;
