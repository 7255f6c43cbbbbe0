//! Waiting for the answers of several calls, by one server or by several.

use super::client::{Call, Client};
use super::pulse::Limit;
use crate::{Error, FailureOrigin, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// How often a waiting call looks whether anything speaks against waiting on.
pub const LOOK: Duration = Duration::from_millis(50);

/// How long after a failure the others may still say that it was the death of a process.
const GRACE: Duration = Duration::from_secs(1);

/// Asked while waiting: an error ends the wait.
pub type Check<'c> = &'c dyn Fn() -> Result<()>;

/// A wait for several answers.
struct Wait {
    limit: Limit,
    deadline: Instant,
    waited: Duration,
    looked: Instant,
}

impl Wait {
    fn new(limit: Limit) -> Wait {
        let looked = Instant::now();
        Wait { limit, deadline: looked + limit.most, waited: Duration::ZERO, looked }
    }

    /// How long was waited since the last turn. While this process stood still, nobody was waited for.
    fn turn(&mut self) -> Duration {
        let passed = self.looked.elapsed();
        let own = passed.min(LOOK + GRACE);
        self.looked += passed;
        self.deadline += passed - own;
        self.waited += own;
        own
    }

    fn is_over(&self) -> bool {
        Instant::now() > self.deadline
    }

    /// The first of these that is not there any more.
    fn silent(
        &self,
        clients: &mut [&mut Client],
        waited_for: BTreeSet<usize>,
        own: Duration,
    ) -> Option<(usize, Error)> {
        let may_ask = self.waited > self.limit.expected;
        let mut all = waited_for.into_iter().filter(|_| may_ask);
        all.find_map(|client| Some((client, clients[client].attend(own)?)))
    }
}

impl Client {
    /// Waits for the answer of a call, until `limit` passed or `check` fails.
    pub fn finish<T: DeserializeOwned>(
        &mut self,
        call: Call<T>,
        limit: impl Into<Limit>,
        check: Check<'_>,
    ) -> Result<T> {
        let mut answers = gather(&mut [self], vec![(0, call)], limit, check)?;
        answers.pop().ok_or_else(|| Error::peer("control", "lost an answer", "please report it"))
    }

    /// Calls and waits.
    pub fn call<T: DeserializeOwned>(
        &mut self,
        method: &str,
        params: &impl Serialize,
        limit: impl Into<Limit>,
        check: Check<'_>,
    ) -> Result<T> {
        let call = self.begin(method, params)?;
        self.finish(call, limit, check)
    }
}

/// Waits for the answers of all these calls, in their order, each with its client's place, until `limit` passed or
/// `check` fails. The first failure ends it; of failures that come together, the one that is nearest to the cause.
pub fn gather<T: DeserializeOwned>(
    clients: &mut [&mut Client],
    calls: Vec<(usize, Call<T>)>,
    limit: impl Into<Limit>,
    check: Check<'_>,
) -> Result<Vec<T>> {
    let mut wait = Wait::new(limit.into());
    let mut answers: Vec<Option<T>> = calls.iter().map(|_| None).collect();
    let mut failure: Option<Error> = None;
    let mut under_way: Vec<usize> = (0..calls.len()).collect();
    while !under_way.is_empty() {
        let own = wait.turn();
        let mut longest = LOOK;
        for place in std::mem::take(&mut under_way) {
            let (client, call) = &calls[place];
            match clients[*client].look(call, longest) {
                None => {
                    under_way.push(place);
                    // The others are looked at, and not waited for.
                    longest = Duration::ZERO;
                }
                Some(Ok(answer)) => answers[place] = Some(answer),
                Some(Err(error)) if is_death(&error) => return Err(error),
                Some(Err(error)) => {
                    wait.deadline = wait.deadline.min(Instant::now() + GRACE);
                    if failure.as_ref().is_none_or(|first| first.origin() < error.origin()) {
                        failure = Some(error);
                    }
                }
            }
        }
        let waited_for = under_way.iter().map(|place| calls[*place].0).collect();
        if let Some((_, error)) = wait.silent(clients, waited_for, own) {
            return Err(error);
        }
        let checked = check();
        let is_over = under_way.is_empty() || checked.is_err() || wait.is_over();
        match (failure.take(), under_way.first()) {
            (Some(error), _) if is_over => {
                return Err(checked.err().filter(is_death).unwrap_or(error));
            }
            (None, Some(place)) if is_over => {
                checked?;
                return Err(clients[calls[*place].0].late(wait.limit.most));
            }
            (still, _) => failure = still,
        }
    }
    Ok(answers.into_iter().flatten().collect())
}

/// Waits for the answer of each of these calls, each with its client's place: what came of it, whatever came of the
/// others. A failure of `check` ends it.
pub fn gather_each<T: DeserializeOwned>(
    clients: &mut [&mut Client],
    calls: Vec<(usize, Call<T>)>,
    limit: impl Into<Limit>,
    check: Check<'_>,
) -> Result<Vec<(usize, Result<T>)>> {
    let mut wait = Wait::new(limit.into());
    let (mut came, mut under_way) = (Vec::new(), calls);
    while !under_way.is_empty() {
        let own = wait.turn();
        let mut longest = LOOK;
        for (client, call) in std::mem::take(&mut under_way) {
            match clients[client].look(&call, longest) {
                Some(answer) => came.push((client, answer)),
                None if wait.is_over() => came.push((client, Err(clients[client].late(wait.limit.most)))),
                None => {
                    under_way.push((client, call));
                    longest = Duration::ZERO;
                }
            }
        }
        let waited_for = under_way.iter().map(|(client, _)| *client);
        for client in waited_for.collect::<BTreeSet<_>>() {
            if let Some((client, error)) = wait.silent(clients, [client].into(), own) {
                under_way.retain(|(other, _)| *other != client);
                came.push((client, Err(error)));
            }
        }
        check()?;
    }
    Ok(came)
}

fn is_death(error: &Error) -> bool {
    error.origin() == FailureOrigin::Death
}
