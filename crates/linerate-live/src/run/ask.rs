//! What the controller asks of several agents at once.

use super::agent::SETTLES;
use super::protocol::CloseRequest;
use super::step::StepSession;
use super::{PATIENCE, Runner};
use crate::control::{Call, Client, Limit, Together, Wait, gather, gather_each};
use crate::plan::Step;
use crate::{Error, Result};
use serde::{Serialize, de::DeserializeOwned};
use std::time::Duration;

/// How long hosts may take until what earlier steps left there is gone.
const SETTLED: Duration = SETTLES.saturating_add(PATIENCE);

impl Runner<'_> {
    /// Ends sessions of which one failed. Where a host or a process has gone, that is what failed.
    pub(super) fn end_failed(
        &mut self,
        step: &Step,
        sessions: Vec<StepSession<'_>>,
        error: &Error,
    ) -> Result<()> {
        self.watch.check()?;
        let names = sessions.into_iter().map(|step_session| step_session.name).collect();
        self.close(Some(names)).map_err(|closing| match closing {
            Error::Interrupted | Error::Died { .. } | Error::Silent { .. } => closing,
            _ => closing.during(&format!("{}: {error}", step.case)),
        })
    }

    /// Closes these sessions, or all.
    pub(super) fn close(&mut self, sessions: Option<Vec<String>>) -> Result<()> {
        self.open.retain(|name| sessions.as_ref().is_some_and(|closed| !closed.contains(name)));
        let request = CloseRequest { sessions };
        // An end that still waits for the other one to come closes after it.
        self.ask(|_| true, "close", &request, 3 * PATIENCE)
    }

    /// Waits until what earlier steps left at the hosts is gone. Who was found silent has no part in what follows.
    pub(super) fn settle(&mut self) -> Result<()> {
        self.ask(|client| !client.is_silent(), "settle", &(), SETTLED)
    }

    /// Has these hosts do something that has no answer.
    fn ask(
        &mut self,
        is_asked: impl Fn(&mut Client) -> bool,
        method: &str,
        request: &impl Serialize,
        limit: Duration,
    ) -> Result<()> {
        let mut calls: Together<()> = Vec::new();
        for (index, host) in self.hosts.all.iter_mut().enumerate() {
            if is_asked(&mut host.client) {
                calls.push((index, host.client.begin(method, request)?));
            }
        }
        self.gather(calls, limit).map(drop)
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
