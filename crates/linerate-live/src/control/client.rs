//! The asking side: any number of calls under way, answered in any order, by one server or by several.
//!
//! Where a process dies or an end gives up, several ends fail, each in its own words and in any order. A wait for all
//! of them goes on for a moment after the first failure, so that the cause is told and not what followed from it.

use super::message::{Answer, Request};
use super::read_line;
use crate::FailureOrigin;
use crate::{Error, Result};
use linerate_sys::child::Ended;
use linerate_sys::thread;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::HashMap;
use std::io::{BufReader, Read, Write};
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How often a waiting call looks whether anything speaks against waiting on.
const LOOK: Duration = Duration::from_millis(50);

/// How long after a failure the others may still say that it was the death of a process.
const GRACE: Duration = Duration::from_secs(1);

/// Asked while waiting: an error ends the wait.
pub type Check<'c> = &'c dyn Fn() -> Result<()>;

/// Whether a connection has ended, for who does not wait for an answer of it.
#[derive(Clone)]
pub struct Ending {
    who: String,
    ended: Arc<AtomicBool>,
    post_mortem: Option<PostMortem>,
}

impl Ending {
    /// That it has; none where it goes on.
    pub fn told(&self) -> Option<Error> {
        let ended = self.ended.load(Ordering::Relaxed);
        ended.then(|| gone(&self.who, self.post_mortem.as_ref()))
    }
}

/// Says which process at the other end ended, and how, where it is one of ours.
type PostMortem = Arc<dyn Fn() -> Option<Ended> + Send + Sync>;

/// A connection to a server.
pub struct Client {
    who: String,
    notifier: Notifier,
    answers: Receiver<Result<Answer>>,
    early: HashMap<u64, Answer>,
    next: u64,
    post_mortem: Option<PostMortem>,
    ended: Arc<AtomicBool>,
}

/// Tells a server something that has no answer, also while others wait for one of its answers.
#[derive(Clone)]
pub struct Notifier(Arc<Mutex<Box<dyn Write + Send>>>);

impl Notifier {
    /// Tells it, as far as it still listens.
    pub fn notify(&self, method: &str, params: &impl Serialize) -> Result<()> {
        self.send(None, method, params).map(drop)
    }

    /// Whether it could be sent.
    fn send(&self, id: Option<u64>, method: &str, params: &impl Serialize) -> Result<bool> {
        let malformed = |e| Error::usage(format!("{method}: {e}"), "");
        let params = serde_json::to_value(params).map_err(malformed)?;
        let request = Request { jsonrpc: "2.0".into(), id, method: method.into(), params };
        let mut line = serde_json::to_vec(&request).map_err(malformed)?;
        line.push(b'\n');
        let Ok(mut writer) = self.0.lock() else { return Ok(false) };
        Ok(writer.write_all(&line).and_then(|()| writer.flush()).is_ok())
    }
}

/// A call under way, whose answer is a `T`.
#[derive(Debug)]
pub struct Call<T>(u64, PhantomData<T>);

impl Client {
    /// Talks over these two streams; `who` names the other side in errors.
    pub fn new(
        who: impl Into<String>,
        reader: impl Read + Send + 'static,
        writer: impl Write + Send + 'static,
    ) -> Result<Client> {
        let (tell, answers) = channel();
        let ended = Arc::new(AtomicBool::new(false));
        let at_end = ended.clone();
        thread::start("answers", move || {
            let mut reader = BufReader::new(reader);
            // The channel closes with this thread: at the end of the stream, or when nobody listens.
            while let Ok(Some(line)) = read_line(&mut reader) {
                // A login script may greet on the same stream.
                if line.first() != Some(&b'{') {
                    continue;
                }
                let malformed = |e| Error::peer("control", format!("sent no JSON-RPC answer: {e}"), "");
                if tell.send(serde_json::from_slice(&line).map_err(malformed)).is_err() {
                    break;
                }
            }
            at_end.store(true, Ordering::Relaxed);
        })?;
        let (who, notifier) = (who.into(), Notifier(Arc::new(Mutex::new(Box::new(writer)))));
        Ok(Client { who, notifier, answers, early: HashMap::new(), next: 0, post_mortem: None, ended })
    }

    /// The same, with who knows what became of the process at the other end.
    pub fn with_post_mortem(self, post_mortem: impl Fn() -> Option<Ended> + Send + Sync + 'static) -> Client {
        Client { post_mortem: Some(Arc::new(post_mortem)), ..self }
    }

    /// What tells of its end.
    pub fn ending(&self) -> Ending {
        Ending { who: self.who.clone(), ended: self.ended.clone(), post_mortem: self.post_mortem.clone() }
    }

    /// Sends a request and does not wait.
    pub fn begin<T>(&mut self, method: &str, params: &impl Serialize) -> Result<Call<T>> {
        self.next += 1;
        match self.notifier.send(Some(self.next), method, params)? {
            true => Ok(Call(self.next, PhantomData)),
            false => Err(self.gone()),
        }
    }

    /// What tells the same server something that has no answer.
    pub fn notifier(&self) -> Notifier {
        self.notifier.clone()
    }

    /// Waits for the answer of a call, until `limit` passed or `check` fails.
    pub fn finish<T: DeserializeOwned>(
        &mut self,
        call: Call<T>,
        limit: Duration,
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
        limit: Duration,
        check: Check<'_>,
    ) -> Result<T> {
        let call = self.begin(method, params)?;
        self.finish(call, limit, check)
    }

    /// What came of a call, waiting a moment for it; none where it is still under way.
    fn look<T: DeserializeOwned>(&mut self, call: &Call<T>) -> Option<Result<T>> {
        match self.await_answer(call.0, LOOK)? {
            Ok(()) => self.early.remove(&call.0).map(|answer| self.read(answer)),
            Err(error) => Some(Err(error)),
        }
    }

    /// Whether a call is answered, waiting so long for it at most, and whether something came of it. The answer stays until
    /// the call is [finished](Client::finish) or [gathered](gather).
    pub fn is_answered<T>(&mut self, call: &Call<T>, longest: Duration) -> Option<bool> {
        let answered = self.await_answer(call.0, longest)?;
        Some(answered.is_ok() && self.early.get(&call.0).is_some_and(|answer| answer.error.is_none()))
    }

    /// Reads answers until that of a call is there; none where it does not come in time.
    fn await_answer(&mut self, id: u64, longest: Duration) -> Option<Result<()>> {
        let deadline = Instant::now() + longest;
        while !self.early.contains_key(&id) {
            match self.answers.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(Ok(answer)) => self.early.insert(answer.id, answer),
                Ok(Err(error)) => return Some(Err(error)),
                Err(RecvTimeoutError::Disconnected) => return Some(Err(self.gone())),
                Err(RecvTimeoutError::Timeout) => return None,
            };
        }
        Some(Ok(()))
    }

    fn read<T: DeserializeOwned>(&self, answer: Answer) -> Result<T> {
        if let Some(failure) = answer.error {
            return Err(failure.into_error(&self.who));
        }
        serde_json::from_value(answer.result.unwrap_or(Value::Null)).map_err(|e| {
            let hint = "remove ~/.cache/linerate there: the program is copied again";
            Error::peer(&self.who, format!("is of another version: {e}"), hint)
        })
    }

    fn gone(&self) -> Error {
        gone(&self.who, self.post_mortem.as_ref())
    }

    fn silent(&self, limit: Duration) -> Error {
        let what = format!("gave no answer for {} s", limit.as_secs());
        Error::peer(&self.who, what, "is the host overloaded, or the path cut?")
    }
}

fn gone(who: &str, post_mortem: Option<&PostMortem>) -> Error {
    let how = post_mortem.and_then(|ask| ask());
    Error::died(how.unwrap_or_else(|| format!("{who}: ended its connection").into()))
}

fn is_death(error: &Error) -> bool {
    error.origin() == FailureOrigin::Death
}

/// Waits for the answers of all these calls, in their order, each with its client's place, until `limit` passed or
/// `check` fails. The first failure ends it; of failures that come together, the one that is nearest to the cause.
pub fn gather<T: DeserializeOwned>(
    clients: &mut [&mut Client],
    calls: Vec<(usize, Call<T>)>,
    limit: Duration,
    check: Check<'_>,
) -> Result<Vec<T>> {
    let mut deadline = Instant::now() + limit;
    let mut answers: Vec<Option<T>> = calls.iter().map(|_| None).collect();
    let mut failure: Option<Error> = None;
    let mut under_way: Vec<usize> = (0..calls.len()).collect();
    let mut looked = Instant::now();
    while !under_way.is_empty() {
        // While this process stood still, nobody was waited for.
        deadline += looked.elapsed().saturating_sub(LOOK + GRACE);
        looked = Instant::now();
        for place in std::mem::take(&mut under_way) {
            let (client, call) = &calls[place];
            match clients[*client].look(call) {
                None => under_way.push(place),
                Some(Ok(answer)) => answers[place] = Some(answer),
                Some(Err(error)) if is_death(&error) => return Err(error),
                Some(Err(error)) => {
                    deadline = deadline.min(Instant::now() + GRACE);
                    if failure.as_ref().is_none_or(|first| first.origin() < error.origin()) {
                        failure = Some(error);
                    }
                }
            }
        }
        let checked = check();
        let is_over = under_way.is_empty() || checked.is_err() || Instant::now() > deadline;
        match (failure.take(), under_way.first()) {
            (Some(error), _) if is_over => {
                return Err(checked.err().filter(is_death).unwrap_or(error));
            }
            (None, Some(place)) if is_over => {
                checked?;
                return Err(clients[calls[*place].0].silent(limit));
            }
            (still, _) => failure = still,
        }
    }
    Ok(answers.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::serve;
    use std::os::unix::net::UnixStream;

    const LIMIT: Duration = Duration::from_secs(60);

    fn client(who: &str, handle: impl Fn() -> Result<Value> + Send + Sync + 'static) -> Client {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let serve = move || serve(BufReader::new(theirs.try_clone().unwrap()), theirs, move |_, _| handle());
        std::thread::spawn(serve);
        Client::new(who, ours.try_clone().unwrap(), ours).unwrap()
    }

    /// Reads the request, and is gone.
    fn mortal(who: &str) -> Client {
        let (ours, theirs) = UnixStream::pair().unwrap();
        std::thread::spawn(move || read_line(&mut BufReader::new(theirs)));
        Client::new(who, ours.try_clone().unwrap(), ours)
            .unwrap()
            .with_post_mortem(|| Some("its process 7 ended with signal: 9".into()))
    }

    fn parked() -> Result<Value> {
        loop {
            std::thread::park();
        }
    }

    fn together(mut clients: [Client; 2], check: Check<'_>) -> Result<Vec<Value>> {
        let mut clients: Vec<&mut Client> = clients.iter_mut().collect();
        let calls =
            clients.iter_mut().enumerate().map(|(place, client)| (place, client.begin("x", &()).unwrap()));
        let calls = calls.collect();
        gather(&mut clients, calls, LIMIT, check)
    }

    fn closed() -> Result<Value> {
        Err(Error::hung_up("the other end", "closed its connection"))
    }

    #[test]
    fn answers_come_in_the_order_of_the_calls() {
        let clients = [client("a", || Ok(1.into())), client("b", || Ok(2.into()))];
        assert_eq!(together(clients, &|| Ok(())).unwrap(), [1, 2]);
    }

    #[test]
    fn a_death_is_told_before_what_followed_from_it() {
        for clients in [[client("a", closed), mortal("b")], [mortal("b"), client("a", closed)]] {
            let error = together(clients, &|| Ok(())).unwrap_err();
            assert_eq!(error.to_string(), "its process 7 ended with signal: 9");
            assert_eq!((error.exit_code(), error.hint().is_some()), (4, true));
        }
        let dead = || Err(Error::died("the wire ended"));
        let error = together([client("a", closed), client("b", parked)], &dead).unwrap_err();
        assert_eq!(error.to_string(), "the wire ended");
        let error = together([client("a", parked), client("b", parked)], &dead).unwrap_err();
        assert_eq!(error.to_string(), "the wire ended");
    }

    #[test]
    fn who_gave_up_is_told_before_who_was_hung_up_on() {
        let silent = || Err(Error::peer("the other end", "moved no byte", ""));
        for clients in
            [[client("a", closed), client("b", silent)], [client("b", silent), client("a", closed)]]
        {
            let error = together(clients, &|| Ok(())).unwrap_err();
            assert_eq!(error.to_string(), "b: the other end: moved no byte");
        }
        let error = together([client("a", closed), client("b", closed)], &|| Ok(())).unwrap_err();
        assert_eq!(error.to_string(), "a: the other end: closed its connection");
    }

    #[test]
    fn a_death_keeps_its_kind_on_its_way() {
        let died = || Err(Error::died("worker 1, process 9, ended with signal: 9"));
        let error = together([client("host a", closed), client("host b", died)], &|| Ok(())).unwrap_err();
        assert!(is_death(&error), "{error:?}");
        assert_eq!(error.to_string(), "host b: worker 1, process 9, ended with signal: 9");
    }

    #[test]
    fn a_failure_does_not_wait_for_a_silent_host() {
        let begun = Instant::now();
        let error = together([client("a", parked), client("b", closed)], &|| Ok(())).unwrap_err();
        assert_eq!(error.to_string(), "b: the other end: closed its connection");
        assert!(begun.elapsed() < LIMIT / 2);
    }
}
