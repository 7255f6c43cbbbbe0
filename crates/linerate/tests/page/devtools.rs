//! The Chrome DevTools Protocol over a pair of pipes: a message is JSON and ends with a byte of zero.
//!
//! See https://chromedevtools.github.io/devtools-protocol/ and `--remote-debugging-pipe` of Chromium.

use super::browser::PATIENCE;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::sync::mpsc::{Receiver, channel};

/// A connection with a browser. It is used by one caller at a time.
pub struct DevTools {
    orders: Box<dyn Write + Send>,
    messages: Receiver<Value>,
    /// Events that no page has taken yet.
    events: VecDeque<Value>,
    last: u64,
}

impl DevTools {
    /// Over the pipe that the browser reads and the one that it writes.
    pub fn new(orders: impl Write + Send + 'static, answers: impl Read + Send + 'static) -> DevTools {
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let all = BufReader::new(answers).split(0).map_while(Result::ok);
            all.map_while(|one| serde_json::from_slice(&one).ok()).try_for_each(|one| sender.send(one))
        });
        DevTools { orders: Box::new(orders), messages, events: VecDeque::new(), last: 0 }
    }

    /// The result of a command, in a page's session or in that of the browser.
    pub fn call(&mut self, session: Option<&str>, method: &str, parameters: Value) -> Value {
        self.last += 1;
        let mut order = json!({"id": self.last, "method": method, "params": parameters});
        if let Some(session) = session {
            order["sessionId"] = session.into();
        }
        self.orders.write_all(&[order.to_string().as_bytes(), &[0]].concat()).unwrap();
        loop {
            let mut message = self.messages.recv_timeout(PATIENCE).expect("chromium answers");
            if message["id"] == self.last {
                assert!(message["error"].is_null(), "{method}: {}", message["error"]);
                return message["result"].take();
            }
            self.events.push_back(message);
        }
    }

    /// What has happened in a page's session since this was asked last.
    pub fn events(&mut self, session: &str) -> Vec<Value> {
        let (own, others) = self.events.drain(..).partition(|event| event["sessionId"] == session);
        self.events = others;
        Vec::from(own)
    }
}
