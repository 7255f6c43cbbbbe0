//! Waiting for the answers of several calls, by one server or by several.

use super::client::{Call, Client};
use super::pulse::Limit;
use crate::{Error, FailureOrigin, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How often a waiting call looks whether anything speaks against waiting on.
const LOOK: Duration = Duration::from_millis(50);

/// How long after a failure the others may still say that it was the death of a process.
const GRACE: Duration = Duration::from_secs(1);

/// Asked while waiting: an error ends the wait.
pub type Check<'c> = &'c dyn Fn() -> Result<()>;

/// A wait, for however many answers.
pub struct Wait<'w> {
    limit: Limit,
    deadline: Instant,
    waited: Duration,
    looked: Instant,
    /// How many want it over: what was expected is so no longer.
    hurried: Option<&'w AtomicUsize>,
}

impl<'w> Wait<'w> {
    /// It begins now.
    pub fn new(limit: impl Into<Limit>) -> Wait<'w> {
        let (limit, looked) = (limit.into(), Instant::now());
        let deadline = looked + limit.most;
        Wait { limit, deadline, waited: Duration::ZERO, looked, hurried: None }
    }

    /// The same; as soon as that is not zero any more, those that are waited for are asked whether they are there.
    pub fn hurried_by(self, wanted: &'w AtomicUsize) -> Wait<'w> {
        Wait { hurried: Some(wanted), ..self }
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

    /// Goes on, and sees whether those that are waited for are there: the places of those that are not.
    pub fn attend(
        &mut self,
        clients: &mut [&mut Client],
        waited_for: impl IntoIterator<Item = usize>,
    ) -> Vec<usize> {
        let own = self.turn();
        let is_hurried = self.hurried.is_some_and(|wanted| wanted.load(Ordering::Relaxed) > 0);
        let may_ask = is_hurried || self.waited > self.limit.expected;
        let waited_for: BTreeSet<usize> = waited_for.into_iter().filter(|_| may_ask).collect();
        waited_for.into_iter().filter(|place| clients[*place].is_silent_after(own)).collect()
    }
}

impl From<Duration> for Wait<'_> {
    fn from(most: Duration) -> Self {
        Wait::new(most)
    }
}

impl From<Limit> for Wait<'_> {
    fn from(limit: Limit) -> Self {
        Wait::new(limit)
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
        let mut answers = gather(&mut [self], vec![(0, call)], Wait::new(limit), check)?;
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

/// Calls that come to something together, each with its client's place.
pub type Together<T> = Vec<(usize, Call<T>)>;

/// What has come of calls so far.
struct Group<T> {
    /// Each with its place in the answers.
    under_way: Vec<(usize, (usize, Call<T>))>,
    answers: Vec<Option<T>>,
    failure: Option<Error>,
    /// When it is over, once something has failed.
    grace: Option<Instant>,
    is_over: bool,
}

impl<T: DeserializeOwned> Group<T> {
    fn new(calls: Together<T>) -> Group<T> {
        let answers = calls.iter().map(|_| None).collect();
        let (failure, grace, is_over) = (None, None, calls.is_empty());
        Group { under_way: calls.into_iter().enumerate().collect(), answers, failure, grace, is_over }
    }

    /// Waits so long for the first answer that is not there, and looks whether others are.
    fn look(&mut self, clients: &mut [&mut Client], longest: &mut Duration) {
        for (place, (client, call)) in std::mem::take(&mut self.under_way) {
            match clients[client].look(&call, *longest) {
                None => {
                    self.under_way.push((place, (client, call)));
                    *longest = Duration::ZERO;
                }
                Some(Ok(answer)) => self.answers[place] = Some(answer),
                Some(Err(error)) => self.fail(error),
            }
        }
        self.is_over |= self.under_way.is_empty();
    }

    /// The first failure ends it, a moment later; a death, at once.
    fn fail(&mut self, error: Error) {
        if self.failure.as_ref().is_none_or(|first| first.origin() < error.origin()) {
            self.is_over |= is_death(&error);
            self.failure = Some(error);
        }
        self.grace.get_or_insert_with(|| Instant::now() + GRACE);
    }

    fn waits_for(&self, client: usize) -> bool {
        !self.is_over && self.under_way.iter().any(|(_, (other, _))| *other == client)
    }

    /// It is waited for no longer, for what `checked` says or for its time.
    fn end(&mut self, checked: Result<()>, late: impl Fn(usize) -> Error) {
        self.is_over = true;
        match (checked, &self.failure) {
            (Err(error), None) => self.failure = Some(error),
            (Err(error), Some(_)) if is_death(&error) => self.failure = Some(error),
            (Ok(()), None) => self.failure = self.under_way.first().map(|(_, (client, _))| late(*client)),
            (_, Some(_)) => {}
        }
    }

    fn result(self) -> Result<Vec<T>> {
        self.failure.map_or(Ok(()), Err)?;
        Ok(self.answers.into_iter().flatten().collect())
    }
}

/// Waits for the answers of all these calls, in their order, until the `wait` is over or `check` fails. The first failure ends it;
/// of failures that come together, the one that is nearest to the cause.
pub fn gather<'w, T: DeserializeOwned>(
    clients: &mut [&mut Client],
    calls: Together<T>,
    wait: impl Into<Wait<'w>>,
    check: Check<'_>,
) -> Result<Vec<T>> {
    gather_each(clients, vec![calls], wait, check).pop().unwrap_or(Ok(Vec::new()))
}

/// The same of several groups at once, of which each comes to its own end: one time is for all of them.
pub fn gather_each<'w, T: DeserializeOwned>(
    clients: &mut [&mut Client],
    groups: Vec<Together<T>>,
    wait: impl Into<Wait<'w>>,
    check: Check<'_>,
) -> Vec<Result<Vec<T>>> {
    let mut wait = wait.into();
    let mut groups: Vec<Group<T>> = groups.into_iter().map(Group::new).collect();
    while groups.iter().any(|group| !group.is_over) {
        let mut longest = LOOK;
        let going_on = groups.iter_mut().filter(|group| !group.is_over);
        going_on.for_each(|group| group.look(clients, &mut longest));
        let going_on = groups.iter().filter(|group| !group.is_over);
        let waited_for = going_on.flat_map(|group| group.under_way.iter().map(|(_, (client, _))| *client));
        for client in wait.attend(clients, waited_for) {
            let own = groups.iter_mut().filter(|group| group.waits_for(client));
            own.for_each(|group| group.fail(clients[client].silent()));
        }
        let is_well = check().is_ok();
        let now = Instant::now();
        for group in groups.iter_mut().filter(|group| !group.is_over) {
            let is_late = now > group.grace.map_or(wait.deadline, |grace| grace.min(wait.deadline));
            if is_late || !is_well {
                let checked = if is_well { Ok(()) } else { check() };
                // What spoke against it may be over.
                if is_late || checked.is_err() {
                    group.end(checked, |client| clients[client].late(wait.limit.most));
                }
            }
        }
    }
    groups.into_iter().map(Group::result).collect()
}

fn is_death(error: &Error) -> bool {
    error.origin() == FailureOrigin::Death
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;

    #[test]
    fn who_is_not_to_be_asked_yet_is_once_somebody_wants_it_over() {
        const HOUR: Duration = Duration::from_secs(3600);
        let (ours, _theirs) = UnixStream::pair().unwrap();
        let mut still = Client::new("a", ours.try_clone().unwrap(), ours).unwrap().attended();
        // It has been asked, and not answered.
        assert!(!still.is_silent_after(HOUR) && still.is_silent_after(HOUR));
        let wanted = AtomicUsize::new(0);
        let mut wait = Wait::new(Limit::expected(HOUR, HOUR)).hurried_by(&wanted);
        assert!(wait.attend(&mut [&mut still], [0]).is_empty(), "it measures");
        wanted.store(1, Ordering::Relaxed);
        assert_eq!(wait.attend(&mut [&mut still], [0]), [0]);
    }
}
