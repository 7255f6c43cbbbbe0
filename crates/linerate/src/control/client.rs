//! The asking side: any number of calls under way, answered in any order.

use super::message::{Answer, Request};
use super::read_line;
use crate::{Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::HashMap;
use std::io::{BufReader, Read, Write};
use std::marker::PhantomData;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How often a waiting call looks whether the user wants to stop.
const LOOK: Duration = Duration::from_millis(50);

/// A connection to a server.
pub struct Client {
    who: String,
    writer: Box<dyn Write + Send>,
    answers: Receiver<Result<Answer>>,
    early: HashMap<u64, Answer>,
    next: u64,
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
    ) -> Client {
        let (tell, answers) = channel();
        std::thread::spawn(move || {
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
        });
        Client { who: who.into(), writer: Box::new(writer), answers, early: HashMap::new(), next: 0 }
    }

    /// Sends a request and does not wait.
    pub fn begin<T>(&mut self, method: &str, params: &impl Serialize) -> Result<Call<T>> {
        self.next += 1;
        let params = serde_json::to_value(params).map_err(|e| Error::usage(format!("{method}: {e}"), ""))?;
        let request = Request { jsonrpc: "2.0".into(), id: self.next, method: method.into(), params };
        let mut line =
            serde_json::to_vec(&request).map_err(|e| Error::usage(format!("{method}: {e}"), ""))?;
        line.push(b'\n');
        let sent = self.writer.write_all(&line).and_then(|()| self.writer.flush());
        sent.map_err(|_| self.gone())?;
        Ok(Call(self.next, PhantomData))
    }

    /// Waits for the answer of a call, until `limit` passed or `stop` says so.
    pub fn finish<T: DeserializeOwned>(
        &mut self,
        call: Call<T>,
        limit: Duration,
        stop: &dyn Fn() -> bool,
    ) -> Result<T> {
        let deadline = Instant::now() + limit;
        let answer = loop {
            if let Some(answer) = self.early.remove(&call.0) {
                break answer;
            }
            match self.answers.recv_timeout(LOOK) {
                Ok(answer) => {
                    let answer = answer?;
                    self.early.insert(answer.id, answer);
                }
                Err(RecvTimeoutError::Disconnected) => return Err(self.gone()),
                Err(RecvTimeoutError::Timeout) if stop() => return Err(Error::Interrupted),
                Err(RecvTimeoutError::Timeout) if Instant::now() > deadline => {
                    let what = format!("gave no answer for {} s", limit.as_secs());
                    return Err(Error::peer(&self.who, what, "is the host overloaded, or the path cut?"));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        };
        if let Some(failure) = answer.error {
            return Err(failure.into_error(&self.who));
        }
        serde_json::from_value(answer.result.unwrap_or(Value::Null)).map_err(|e| {
            let hint = "remove ~/.cache/linerate there: the program is copied again";
            Error::peer(&self.who, format!("is of another version: {e}"), hint)
        })
    }

    /// Calls and waits.
    pub fn call<T: DeserializeOwned>(
        &mut self,
        method: &str,
        params: &impl Serialize,
        limit: Duration,
        stop: &dyn Fn() -> bool,
    ) -> Result<T> {
        let call = self.begin(method, params)?;
        self.finish(call, limit, stop)
    }

    fn gone(&self) -> Error {
        Error::peer(
            &self.who,
            "ended its connection",
            "see whether it is up, and what was killed there: dmesg | tail",
        )
    }
}
