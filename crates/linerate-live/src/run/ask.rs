//! What the controller asks of several agents at once.

use super::agent::SETTLES;
use super::host::Hosts;
use super::protocol::CloseRequest;
use super::step::{StepFailure, StepSession};
use super::{PATIENCE, Runner};
use crate::control::{Call, Check, Client, Limit, Together, Wait, gather, gather_each};
use crate::plan::{HostId, Step};
use crate::{Error, Result};
use serde::de::DeserializeOwned;
use std::collections::BTreeSet;
use std::time::Duration;

/// How long hosts may take until what earlier steps left there is gone.
const SETTLED: Duration = SETTLES.saturating_add(PATIENCE);

/// Why sessions are not closed, and on which hosts an agent or a worker of it is silent.
pub(super) struct Unclosed {
    pub error: Error,
    pub silent: BTreeSet<HostId>,
}

impl From<Error> for Unclosed {
    fn from(error: Error) -> Unclosed {
        Unclosed { error, silent: BTreeSet::new() }
    }
}

impl From<Unclosed> for StepFailure {
    fn from(unclosed: Unclosed) -> StepFailure {
        unclosed.error.into()
    }
}

impl Hosts {
    /// Closes sessions: the hosts that could not, in their order. An agent that lost a worker says so whatever it is asked.
    pub(super) fn close(&mut self, request: &CloseRequest, check: Check<'_>) -> Vec<(usize, Error)> {
        let (mut calls, mut asked, mut unclosed) = (Vec::new(), Vec::new(), Vec::new());
        for (index, host) in self.all.iter_mut().enumerate() {
            match host.client.begin::<()>("close", request) {
                Ok(call) => {
                    calls.push(vec![(index, call)]);
                    asked.push(index);
                }
                Err(error) => unclosed.push((index, error)),
            }
        }
        let mut clients: Vec<&mut Client> = self.all.iter_mut().map(|host| &mut host.client).collect();
        // An end that still waits for the other one to come closes after it.
        let came = gather_each(&mut clients, calls, 3 * PATIENCE, check);
        let failed = |(index, came): (usize, Result<Vec<()>>)| Some((index, came.err()?));
        unclosed.extend(asked.into_iter().zip(came).filter_map(failed));
        unclosed.sort_by_key(|(index, _)| *index);
        unclosed
    }
}

impl Runner<'_> {
    /// Ends sessions of which one failed. Where a host or a process has gone, that is what failed.
    pub(super) fn end_failed(
        &mut self,
        step: &Step,
        sessions: Vec<StepSession<'_>>,
        error: &Error,
    ) -> std::result::Result<(), Unclosed> {
        self.watch.check()?;
        let names = sessions.into_iter().map(|step_session| step_session.name).collect();
        let Some(Unclosed { error: closing, silent }) = self.unclosed(Some(names)) else { return Ok(()) };
        let error = match closing {
            Error::Interrupted | Error::Died { .. } | Error::Silent { .. } => closing,
            _ => closing.during(&format!("{}: {error}", step.case)),
        };
        Err(Unclosed { error, silent })
    }

    /// Closes these sessions, or all.
    pub(super) fn close(&mut self, sessions: Option<Vec<String>>) -> Result<()> {
        self.unclosed(sessions).map_or(Ok(()), |unclosed| Err(unclosed.error))
    }

    /// The same: what is nearest to the cause of what failed.
    fn unclosed(&mut self, sessions: Option<Vec<String>>) -> Option<Unclosed> {
        self.open.retain(|name| sessions.as_ref().is_some_and(|closed| !closed.contains(name)));
        let failed = self.hosts.close(&CloseRequest { sessions }, &|| self.watch.check());
        let silent = failed.iter().filter(|(_, error)| error.is_silence());
        let silent = silent.map(|(index, _)| self.hosts.all[*index].facts.host).collect();
        let nearest = |one: Error, other: Error| if one.origin() < other.origin() { other } else { one };
        let error = failed.into_iter().map(|(_, error)| error).reduce(nearest)?;
        Some(Unclosed { error, silent })
    }

    /// Waits until what earlier steps left at the hosts is gone. Who was found silent has no part in what follows.
    pub(super) fn settle(&mut self) -> Result<()> {
        let mut calls: Together<()> = Vec::new();
        for (index, host) in self.hosts.all.iter_mut().enumerate() {
            if !host.client.is_silent() {
                calls.push((index, host.client.begin("settle", &())?));
            }
        }
        self.gather(calls, SETTLED).map(drop)
    }

    pub(super) fn gather<T: DeserializeOwned>(
        &mut self,
        calls: Together<T>,
        limit: impl Into<Limit>,
    ) -> Result<Vec<T>> {
        let mut clients: Vec<&mut Client> = self.hosts.all.iter_mut().map(|host| &mut host.client).collect();
        gather(&mut clients, calls, Wait::new(limit), &|| self.watch.check())
    }

    /// The same of parts of which each has its own outcome.
    pub(super) fn gather_each<T: DeserializeOwned>(
        &mut self,
        parts: Vec<Vec<(usize, Call<T>)>>,
        limit: Limit,
    ) -> Vec<Result<Vec<T>>> {
        let mut clients: Vec<&mut Client> = self.hosts.all.iter_mut().map(|host| &mut host.client).collect();
        gather_each(&mut clients, parts, limit, &|| self.watch.check())
    }
}
