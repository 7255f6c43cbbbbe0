//! The answering side: a thread a request, so that a long one does not hold up the others.

use super::message::{Answer, Failure, Request};
use super::read_line;
use crate::{Error, Result};
use serde_json::Value;
use std::io::{BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

/// Answers requests until the stream ends. Requests under way are left to end with the process.
pub fn serve<H>(mut reader: impl BufRead, writer: impl Write + Send + 'static, handle: H) -> Result<()>
where
    H: Fn(&str, Value) -> Result<Value> + Send + Sync + 'static,
{
    let writer = Arc::new(Mutex::new(writer));
    let handle = Arc::new(handle);
    while let Some(line) = read_line(&mut reader)? {
        let malformed = |e| Error::peer("control", format!("sent no JSON-RPC request: {e}"), "");
        let request: Request = serde_json::from_slice(&line).map_err(malformed)?;
        let (writer, handle) = (writer.clone(), handle.clone());
        std::thread::spawn(move || {
            // A panic must become an answer, or the asking side would wait until its limit.
            let handled = catch_unwind(AssertUnwindSafe(|| handle(&request.method, request.params)));
            let panicked = |_| Err(Error::peer("the handler", "panicked", "please report it"));
            let answer = answer(request.id, handled.unwrap_or_else(panicked));
            if let (Ok(mut line), Ok(mut writer)) = (serde_json::to_vec(&answer), writer.lock()) {
                line.push(b'\n');
                // When nobody reads any more, the reader ends as well, and with it this process.
                let _ = writer.write_all(&line).and_then(|()| writer.flush());
            }
        });
    }
    Ok(())
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
    use std::io::BufReader;
    use std::os::unix::net::UnixStream;
    use std::time::Duration;

    const LIMIT: Duration = Duration::from_secs(5);

    fn pair(handle: impl Fn(&str, Value) -> Result<Value> + Send + Sync + 'static) -> Client {
        let (ours, theirs) = UnixStream::pair().unwrap();
        std::thread::spawn(move || serve(BufReader::new(theirs.try_clone().unwrap()), theirs, handle));
        Client::new("the test", ours.try_clone().unwrap(), ours)
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
    fn noise_ends_the_service() {
        for noise in ["hello\n", "{}\n", "\n", "[1,2]\n"] {
            assert!(serve(noise.as_bytes(), Vec::new(), |_, _| Ok(Value::Null)).is_err(), "{noise:?}");
        }
        let endless = std::io::repeat(b'x');
        assert!(serve(BufReader::new(endless), Vec::new(), |_, _| Ok(Value::Null)).is_err());
    }
}
