//! The answering side: a thread a request, so that a long one does not hold up the others; or one request after the other, for
//! what must be called by one thread.

use super::message::{Answer, Failure, Request};
use super::pulse::ALIVE;
use super::read_line;
use crate::{Error, Result};
use linerate_sys::thread;
use serde_json::Value;
use std::io::{BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// After so long without a request the asking side is sent an empty line, a keepalive, which it passes over. Where its host vanished from the
/// network, whoever carries the stream there (sshd) has something to send then, learns from its kernel that nobody takes it, and
/// ends: a stream on which nothing is sent stands for ever.
const KEEPALIVE: Duration = Duration::from_secs(60);

/// Answers requests until the stream ends. Requests under way are left to end with the process.
pub fn serve<H>(reader: impl BufRead, writer: impl Write + Send + 'static, handle: H) -> Result<()>
where
    H: Fn(&str, Value) -> Result<Value> + Send + Sync + 'static,
{
    serve_kept_alive(KEEPALIVE, reader, writer, handle)
}

/// The same, with so long between keepalives.
fn serve_kept_alive<H>(
    interval: Duration,
    mut reader: impl BufRead,
    writer: impl Write + Send + 'static,
    handle: H,
) -> Result<()>
where
    H: Fn(&str, Value) -> Result<Value> + Send + Sync + 'static,
{
    let writer = Arc::new(Mutex::new(writer));
    let handle = Arc::new(handle);
    let reads = Arc::new(AtomicU64::new(0));
    // The thread ends with this value.
    let (_serving, served) = channel::<()>();
    let (to, begun) = (writer.clone(), reads.clone());
    // Where there is no room for a thread more, it goes without: nothing that is asked waits for it.
    let _ = thread::start("keepalive", move || {
        let mut before = 0;
        while served.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
            let reads = begun.load(Ordering::Relaxed);
            if let (true, Ok(mut writer)) = (is_waiting(before, reads), to.lock()) {
                let _ = writer.write_all(b"\n").and_then(|()| writer.flush());
            }
            before = reads;
        }
    });
    loop {
        reads.fetch_add(1, Ordering::Relaxed);
        let request = read_request(&mut reader)?;
        reads.fetch_add(1, Ordering::Relaxed);
        let Some(request) = request else { return Ok(()) };
        if let (ALIVE, Some(id)) = (request.method.as_str(), request.id) {
            // At once, whatever is under way.
            if let Ok(mut writer) = writer.lock() {
                write(&mut *writer, &answer(id, Ok(Value::Null)));
            }
            continue;
        }
        let Some(id) = request.id else {
            // It takes no time, and is over before the next request begins.
            answered(request, |method, params| handle(method, params));
            continue;
        };
        let (to, handle) = (writer.clone(), handle.clone());
        let started = thread::start("request", move || {
            let answer = answered(request, |method, params| handle(method, params));
            if let (Some(answer), Ok(mut writer)) = (answer, to.lock()) {
                write(&mut *writer, &answer);
            }
        });
        if let (Err(error), Ok(mut writer)) = (started, writer.lock()) {
            write(&mut *writer, &answer(id, Err(error.into())));
        }
    }
}

/// Whether the same request is waited for as before: of reads that began and ended, counted together, the last one has begun. Who
/// does not come to read the next request has nothing to say, for it is not known to go on.
fn is_waiting(before: u64, now: u64) -> bool {
    before == now && now % 2 == 1
}

/// Answers requests one after the other, by the thread that calls, until the stream ends. Another thread reads, and says at
/// once that it has: `ended` is called by that one, while a request may be under way.
pub fn serve_in_turn(
    mut reader: impl BufRead + Send + 'static,
    mut writer: impl Write,
    mut handle: impl FnMut(&str, Value) -> Result<Value>,
    ended: impl FnOnce() + Send + 'static,
) -> Result<()> {
    let (asked, requests) = channel();
    let (tell, how) = channel();
    thread::start("requests", move || {
        // Whoever waits for requests may be gone by now.
        let _ = tell.send(read_all(&mut reader, &asked));
        drop(asked);
        ended();
    })?;
    for request in requests {
        if let Some(answer) = answered(request, &mut handle) {
            write(&mut writer, &answer);
        }
    }
    how.recv().unwrap_or(Ok(()))
}

fn read_all(reader: &mut impl BufRead, asked: &Sender<Request>) -> Result<()> {
    while let Some(request) = read_request(reader)? {
        if asked.send(request).is_err() {
            break;
        }
    }
    Ok(())
}

fn read_request(reader: &mut impl BufRead) -> Result<Option<Request>> {
    let malformed = |e| Error::peer("control", format!("sent no JSON-RPC request: {e}"), "");
    read_line(reader)?.map(|line| serde_json::from_slice(&line).map_err(malformed)).transpose()
}

/// The answer, where one is wanted. A panic must become one, or the asking side would wait until its limit.
fn answered(request: Request, handle: impl FnOnce(&str, Value) -> Result<Value>) -> Option<Answer> {
    let handled = catch_unwind(AssertUnwindSafe(|| handle(&request.method, request.params)));
    let panicked = |_| Err(Error::peer("the handler", "panicked", "please report it"));
    Some(answer(request.id?, handled.unwrap_or_else(panicked)))
}

/// When nobody reads any more, the reader ends as well, and with it this process.
fn write(writer: &mut impl Write, answer: &Answer) {
    if let Ok(mut line) = serde_json::to_vec(answer) {
        line.push(b'\n');
        let _ = writer.write_all(&line).and_then(|()| writer.flush());
    }
}

fn answer(id: u64, result: Result<Value>) -> Answer {
    let (result, error) = match result {
        Ok(value) => (Some(value), None),
        Err(error) => (None, Some(Failure::from(&error))),
    };
    Answer { jsonrpc: "2.0".into(), id, result, error }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Client;
    use std::io::{BufReader, Read};
    use std::os::unix::net::UnixStream;

    const LIMIT: Duration = Duration::from_secs(5);

    fn pair(handle: impl Fn(&str, Value) -> Result<Value> + Send + Sync + 'static) -> Client {
        let (ours, theirs) = UnixStream::pair().unwrap();
        std::thread::spawn(move || serve(BufReader::new(theirs.try_clone().unwrap()), theirs, handle));
        Client::new("the test", ours.try_clone().unwrap(), ours).unwrap()
    }

    #[test]
    fn answers_find_their_calls_in_any_order() {
        let (open, gate) = std::sync::mpsc::channel::<()>();
        let gate = Mutex::new(gate);
        let mut client = pair(move |method, params| {
            if method == "slow" {
                let _ = gate.lock().unwrap().recv();
            }
            Ok(params)
        });
        let slow = client.begin::<u32>("slow", &1).unwrap();
        let quick = client.begin::<u32>("quick", &2).unwrap();
        assert_eq!(client.finish(quick, LIMIT, &|| Ok(())).unwrap(), 2);
        open.send(()).unwrap();
        assert_eq!(client.finish(slow, LIMIT, &|| Ok(())).unwrap(), 1);
    }

    #[test]
    fn in_turn_the_end_is_told_during_work() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let (tell, told) = std::sync::mpsc::channel();
        let serving = std::thread::spawn(move || {
            let own = std::thread::current().id();
            let handle = |_: &str, params: Value| {
                assert_eq!(std::thread::current().id(), own);
                if params == 2 {
                    // It lasts until the stream has ended.
                    told.recv_timeout(LIMIT).unwrap();
                }
                Ok(params)
            };
            serve_in_turn(BufReader::new(theirs.try_clone().unwrap()), theirs, handle, move || {
                tell.send(()).unwrap()
            })
        });
        let mut client =
            Client::new("the test", ours.try_clone().unwrap(), ours.try_clone().unwrap()).unwrap();
        assert_eq!(client.call::<u32>("x", &1, LIMIT, &|| Ok(())).unwrap(), 1);
        let _under_way = client.begin::<u32>("x", &2).unwrap();
        ours.shutdown(std::net::Shutdown::Both).unwrap();
        serving.join().unwrap().unwrap();
    }

    #[test]
    fn an_error_keeps_its_kind_and_its_hint() {
        let mut client = pair(|_, _| Err(Error::unavailable("no memory", "buy some")));
        let error = client.call::<()>("x", &(), LIMIT, &|| Ok(())).unwrap_err();
        assert_eq!((error.exit_code(), error.hint()), (3, Some("buy some")));
    }

    #[test]
    fn a_wait_ends_by_time_or_by_the_user() {
        let mut client = pair(|_, _| {
            loop {
                std::thread::park();
            }
        });
        let call = client.begin::<()>("x", &()).unwrap();
        let error = client.finish(call, Duration::from_millis(60), &|| Ok(())).unwrap_err();
        assert_eq!(error.exit_code(), 4);
        let call = client.begin::<()>("x", &()).unwrap();
        assert_eq!(client.finish(call, LIMIT, &|| Err(Error::Interrupted)).unwrap_err().exit_code(), 130);
    }

    #[test]
    fn who_is_asked_nothing_says_that_it_is_there() {
        let (mut ours, theirs) = UnixStream::pair().unwrap();
        let reader = BufReader::new(theirs.try_clone().unwrap());
        let interval = Duration::from_millis(20);
        let serving =
            std::thread::spawn(move || serve_kept_alive(interval, reader, theirs, |_, _| Ok(1.into())));
        let mut said = [0; 2];
        ours.read_exact(&mut said).unwrap();
        assert_eq!(said, *b"\n\n");
        // What reads its answers passes over them.
        let mut client =
            Client::new("the test", ours.try_clone().unwrap(), ours.try_clone().unwrap()).unwrap();
        assert_eq!(client.call::<u32>("x", &1, LIMIT, &|| Ok(())).unwrap(), 1);
        ours.shutdown(std::net::Shutdown::Write).unwrap();
        serving.join().unwrap().unwrap();
    }

    #[test]
    fn only_who_waits_for_requests_says_that_it_is_there() {
        assert!(is_waiting(5, 5));
        assert!(!is_waiting(3, 5), "it has just been asked");
        assert!(!is_waiting(4, 4), "it works on, or hangs");
    }

    #[test]
    fn noise_ends_the_service() {
        for noise in ["hello\n", "{}\n", "\n", "[1,2]\n"] {
            assert!(serve(noise.as_bytes(), Vec::new(), |_, _| Ok(Value::Null)).is_err(), "{noise:?}");
        }
        let endless = std::io::repeat(b'x');
        assert!(serve(BufReader::new(endless), Vec::new(), |_, _| Ok(Value::Null)).is_err());
    }
}
