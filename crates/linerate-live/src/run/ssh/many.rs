//! The program's copy on many hosts: all are looked after beside each other, and who must ask the user does so in turn.

use super::{Program, Reaching, RemoteFolder, Ssh, Told};
use crate::control::Check;
use crate::{Error, Result};
use linerate_sys::thread;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// Hosts at once. A gateway's sshd refuses some from the tenth on that have not said yet who they are (`MaxStartups 10:30:100`,
/// sshd_config(5)).
const AT_ONCE: usize = 8;

/// How often is looked whether the user waits on.
const LOOK: Duration = Duration::from_millis(50);

/// What ssh says where it had to ask and must not.
const QUESTIONS: [&str; 2] = ["Permission denied (", "Host key verification failed"];

/// A host, and the folder that the user wants the copy in.
pub type Wanted<'h> = (Ssh, Option<&'h RemoteFolder>);

/// What there is of one of them.
enum News {
    Told(Reaching),
    Done(Result<String>),
}

/// The folder of the program's copy on each, which is there then and runs; in the order of the hosts.
pub fn provide_all(
    hosts: &[Wanted<'_>],
    program: &Program,
    check: Check<'_>,
    told: Told<'_>,
) -> Result<Vec<Result<String>>> {
    let alone = |(ssh, folder): &Wanted<'_>, told: Told<'_>| ssh.provide(program, *folder, check, told);
    if let [host] = hosts {
        return Ok(vec![alone(host, told)]);
    }
    let mut provided = beside_each_other(hosts, program, check, told)?;
    for (host, provided) in hosts.iter().zip(&mut provided) {
        let had_to_ask =
            |error: &Error| QUESTIONS.iter().any(|question| error.cause().to_string().contains(question));
        if provided.as_ref().is_err_and(had_to_ask) {
            *provided = alone(host, told);
        }
    }
    Ok(provided)
}

/// None of them asks anything: the answers would go to whichever asked last.
fn beside_each_other(
    hosts: &[Wanted<'_>],
    program: &Program,
    check: Check<'_>,
    told: Told<'_>,
) -> Result<Vec<Result<String>>> {
    let (next, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let mut provided: Vec<Option<Result<String>>> = hosts.iter().map(|_| None).collect();
    let go_on = || if is_over.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) };
    let work = |news: Sender<(usize, News)>| {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let wanted = hosts.get(at).filter(|_| !is_over.load(Ordering::Relaxed));
            let Some((ssh, folder)) = wanted else { return };
            let mut tell = |reaching| drop(news.send((at, News::Told(reaching))));
            let done = ssh.without_questions().provide(program, *folder, &go_on, &mut tell);
            let _ = news.send((at, News::Done(done)));
        }
    };
    std::thread::scope(|scope| -> Result<()> {
        let (sender, receiver) = channel();
        for _ in 0..AT_ONCE.min(hosts.len()) {
            let (sender, work) = (sender.clone(), &work);
            let started = thread::start_within(scope, "ssh", move || work(sender));
            started.inspect_err(|_| is_over.store(true, Ordering::Relaxed))?;
        }
        drop(sender);
        loop {
            match receiver.recv_timeout(LOOK) {
                Ok((_, News::Told(reaching))) => told(reaching),
                Ok((at, News::Done(done))) => provided[at] = Some(done),
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Err(RecvTimeoutError::Timeout) => {}
            }
            check().inspect_err(|_| is_over.store(true, Ordering::Relaxed))?;
        }
    })?;
    Ok(provided.into_iter().map(|one| one.unwrap_or(Err(Error::Interrupted))).collect())
}
