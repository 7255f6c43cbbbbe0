//! The asking side: any number of calls under way, answered in any order, by one server or by several.
//!
//! Where a process dies or an end gives up, several ends fail, each in its own words and in any order. A wait for all
//! of them goes on for a moment after the first failure, so that the cause is told and not what followed from it.

use super::message::Answer;
use super::notifier::{Notifier, Unsent};
use super::pulse::{ALIVE, Beat, OF_ALIVE, Pulse};
use super::read_line;
use crate::{Error, Result};
use linerate_sys::child::Ended;
use linerate_sys::thread;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::HashMap;
use std::io::{BufReader, Read, Write};
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Whether a connection has ended, for who does not wait for an answer of it.
#[derive(Clone)]
pub struct Ending {
    who: String,
    ended: Arc<AtomicBool>,
    post_mortem: Option<PostMortem>,
}

impl Ending {
    /// That it has; none where it goes on.
    pub fn error(&self) -> Option<Error> {
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
    pulse: Pulse,
    /// Whether it is one that says whether it is there.
    is_attended: bool,
    post_mortem: Option<PostMortem>,
    ended: Arc<AtomicBool>,
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
        let pulse = Pulse::default();
        let reader = pulse.listening(reader);
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
        let (who, notifier) = (who.into(), Notifier::new(writer));
        let (early, is_attended, post_mortem) = (HashMap::new(), false, None);
        Ok(Client { who, notifier, answers, early, next: OF_ALIVE, pulse, is_attended, post_mortem, ended })
    }

    /// The same, of one that says whether it is there when it is asked.
    pub fn attended(self) -> Client {
        Client { is_attended: true, ..self }
    }

    /// The same, of one that may take so long to say so.
    pub fn answering_in(self, longest: Duration) -> Client {
        Client { pulse: self.pulse.answering_in(longest), ..self }
    }

    /// The same, with who knows what became of the process at the other end.
    pub fn with_post_mortem(self, post_mortem: impl Fn() -> Option<Ended> + Send + Sync + 'static) -> Client {
        Client { post_mortem: Some(Arc::new(post_mortem)), ..self }
    }

    /// What tells of its end.
    pub fn ending(&self) -> Ending {
        Ending { who: self.who.clone(), ended: self.ended.clone(), post_mortem: self.post_mortem.clone() }
    }

    /// Sends a request and does not wait. One that was found silent, and has said nothing since, is not told more.
    pub fn begin<T>(&mut self, method: &str, params: &impl Serialize) -> Result<Call<T>> {
        if self.is_silent() {
            return Err(self.silent());
        }
        self.next += 1;
        match self.notifier.send(Some(self.next), method, params)? {
            Ok(()) => Ok(Call(self.next, PhantomData)),
            Err(Unsent::Ended) => Err(self.gone()),
            Err(Unsent::Stuck) => {
                self.pulse.stop();
                Err(self.silent())
            }
        }
    }

    /// Ends the connection, as far as this end goes.
    pub fn end(&self) {
        self.notifier.end();
    }

    /// What tells the same server something that has no answer.
    pub fn notifier(&self) -> Notifier {
        self.notifier.clone()
    }

    /// What came of a call, waiting so long for it at most; none where it is still under way.
    pub(super) fn look<T: DeserializeOwned>(
        &mut self,
        call: &Call<T>,
        longest: Duration,
    ) -> Option<Result<T>> {
        match self.await_answer(call.0, longest)? {
            Ok(()) => self.early.remove(&call.0).map(|answer| self.read(answer)),
            Err(error) => Some(Err(error)),
        }
    }

    /// Whether a call is answered, waiting so long for it at most, and whether something came of it. The answer stays until
    /// the call is [finished](Client::finish) or [gathered](super::gather).
    pub fn is_answered<T>(&mut self, call: &Call<T>, longest: Duration) -> Option<bool> {
        let answered = self.await_answer(call.0, longest)?;
        Some(answered.is_ok() && self.early.get(&call.0).is_some_and(|answer| answer.error.is_none()))
    }

    /// Reads answers until that of a call is there; none where it does not come in time.
    fn await_answer(&mut self, id: u64, longest: Duration) -> Option<Result<()>> {
        let deadline = Instant::now() + longest;
        while !self.early.contains_key(&id) {
            match self.answers.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                // It has been heard already.
                Ok(Ok(Answer { id: OF_ALIVE, .. })) => continue,
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

    /// Sees whether it is there, after so long a time more in which it was waited for.
    pub(super) fn is_silent_after(&mut self, waited: Duration) -> bool {
        if !self.is_attended {
            return false;
        }
        match self.pulse.after(waited) {
            Beat::Wait => false,
            Beat::Ask => {
                let sent = self.notifier.send(Some(OF_ALIVE), ALIVE, &());
                let is_stuck = matches!(sent, Ok(Err(Unsent::Stuck)));
                if is_stuck {
                    self.pulse.stop();
                }
                is_stuck
            }
            Beat::Silent => true,
        }
    }

    /// Whether it was found silent, and has said nothing since.
    pub fn is_silent(&mut self) -> bool {
        self.pulse.silence().is_some()
    }

    /// That it does not answer any more.
    pub fn silent(&mut self) -> Error {
        let silence = self.pulse.silence().unwrap_or_default();
        Error::silent(format!("{}: does not answer any more, for {} s", self.who, silence.as_secs()))
    }

    /// That it took longer than it may.
    pub(super) fn late(&self, limit: Duration) -> Error {
        let what = format!("gave no answer for {} s", limit.as_secs());
        Error::peer(&self.who, what, "is the host overloaded, or the path cut?")
    }
}

fn gone(who: &str, post_mortem: Option<&PostMortem>) -> Error {
    let how = post_mortem.and_then(|ask| ask());
    Error::died(how.unwrap_or_else(|| format!("{who}: ended its connection").into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::{Check, gather, gather_each, serve};
    use std::io::ErrorKind;
    use std::os::unix::net::UnixStream;

    const LIMIT: Duration = Duration::from_secs(60);

    /// One stands still and takes no request, the other one works on and says that it is there.
    #[test]
    fn who_stands_still_is_told_from_who_takes_long() {
        let (ours, _theirs) = UnixStream::pair().unwrap();
        let still = Client::new("a", ours.try_clone().unwrap(), ours).unwrap().attended();
        let still = still.answering_in(Duration::from_secs(1));
        let mut both = [still, client("b", parked).attended(), client("c", || Ok(3.into())).attended()];
        let asked: Vec<_> = (0..)
            .zip(&mut both)
            .map(|(place, client)| vec![(place, client.begin::<Value>("x", &()).unwrap())])
            .collect();
        let came = gather_each(&mut both.each_mut(), asked, LIMIT / 6, &|| Ok(()));
        let told: Vec<String> =
            came.iter().map(|came| came.as_ref().map_or_else(Error::to_string, |_| "came".into())).collect();
        assert!(told[0].starts_with("a: does not answer any more, for 6 s"), "{told:?}");
        assert_eq!(told[1..], ["b: gave no answer for 10 s", "came"]);
        // It is not asked again.
        let again = both[0].begin::<Value>("x", &()).unwrap_err();
        assert!(matches!(again, Error::Silent { .. }) && again.exit_code() == 4, "{again}");
    }

    /// As a socket or a pipe whose room is used up, when its time is over.
    struct Full;

    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(ErrorKind::WouldBlock.into())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn who_takes_nothing_is_silent_at_once() {
        let (ours, _theirs) = UnixStream::pair().unwrap();
        let mut client = Client::new("a", ours, Full).unwrap().attended();
        for _ in 0..2 {
            let error = client.begin::<Value>("x", &()).unwrap_err();
            assert!(matches!(error, Error::Silent { .. }), "{error}");
        }
    }

    /// What it said meanwhile was on its way: it has not ended, and takes nothing still.
    #[test]
    fn who_took_nothing_has_not_ended_once_it_is_heard() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let mut client = Client::new("a", ours, Full).unwrap().attended();
        client.begin::<Value>("x", &()).unwrap_err();
        theirs.write_all(b"\n").unwrap();
        while client.is_silent() {
            std::thread::yield_now();
        }
        let error = client.begin::<Value>("x", &()).unwrap_err();
        assert!(error.is_silence(), "{error}");
        client.end();
        theirs.write_all(b"\n").unwrap();
        while client.is_silent() {
            std::thread::yield_now();
        }
        assert!(matches!(client.begin::<Value>("x", &()).unwrap_err(), Error::Died { .. }));
    }

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
        assert!(error.is_loss_of_process(), "{error:?}");
        assert_eq!(error.to_string(), "host b: worker 1, process 9, ended with signal: 9");
        let silent = || Err(Error::silent("worker: does not answer any more, for 15 s"));
        let error = together([client("host a", closed), client("host b", silent)], &|| Ok(())).unwrap_err();
        assert!(error.is_silence() && error.exit_code() == 4, "{error:?}");
        assert_eq!(error.to_string(), "host b: worker: does not answer any more, for 15 s");
    }

    #[test]
    fn a_failure_does_not_wait_for_a_silent_host() {
        let begun = Instant::now();
        let error = together([client("a", parked), client("b", closed)], &|| Ok(())).unwrap_err();
        assert_eq!(error.to_string(), "b: the other end: closed its connection");
        assert!(begun.elapsed() < LIMIT / 2);
    }
}
