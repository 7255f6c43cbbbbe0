//! Requests and answers, and how an [`Error`] travels.

use crate::Error;
use crate::FailureOrigin;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A request.
#[derive(Debug, Serialize, Deserialize)]
pub struct Request {
    /// `2.0`.
    pub jsonrpc: String,
    /// Ties the answer to it; none where none is wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<u64>,
    /// What to do.
    pub method: String,
    /// With what.
    #[serde(default)]
    pub params: Value,
}

/// An answer.
#[derive(Debug, Serialize, Deserialize)]
pub struct Answer {
    /// `2.0`.
    pub jsonrpc: String,
    /// The request's.
    pub id: u64,
    /// What came of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// Why nothing came of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
}

/// Why nothing came of a request.
#[derive(Debug, Serialize, Deserialize)]
pub struct Failure {
    /// The error's exit code.
    pub code: i64,
    /// The whole chain of causes.
    pub message: String,
    /// The hint.
    #[serde(default)]
    pub data: Option<String>,
    /// How near it is to the cause of what failed with it.
    #[serde(default, rename = "standing")]
    pub origin: FailureOrigin,
    /// Whether a process that is lost has not ended, and answers no more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub silent: bool,
    /// The size of the messages that were on their way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_bytes: Option<u64>,
}

impl From<&Error> for Failure {
    fn from(error: &Error) -> Failure {
        Failure {
            code: i64::from(error.exit_code()),
            message: chain(error.cause()),
            data: error.hint().map(String::from),
            origin: error.origin(),
            silent: error.is_silence(),
            message_bytes: error.message_bytes(),
        }
    }
}

impl Failure {
    /// The error as the asking side sees it: what is unavailable or wrongly asked stays so; all else
    /// is a failure of the other side.
    pub fn into_error(self, who: &str) -> Error {
        let hint = self.data.unwrap_or_default();
        // What failed on a connection is told as it was: which process told it is no matter.
        let (who, message) = match self.message.split_once(": ").filter(|_| self.message_bytes.is_some()) {
            Some((who, what)) => (who, what.to_owned()),
            None => (who, self.message.clone()),
        };
        let error = match (self.origin, self.code) {
            (FailureOrigin::Death, _) if self.silent => Error::silent(format!("{who}: {message}")),
            (FailureOrigin::Death, code) => {
                Error::Died { what: format!("{who}: {message}"), limit: (code == 3).then_some(hint) }
            }
            (FailureOrigin::Limit, _) => Error::Limit { what: format!("{who}: {message}"), hint },
            (FailureOrigin::Follows, _) => Error::hung_up(who, message),
            (FailureOrigin::Own, 2) => Error::usage(message, hint),
            (FailureOrigin::Own, 3) => Error::unavailable(message, hint),
            (FailureOrigin::Own, _) => Error::peer(who, message, hint),
        };
        match self.message_bytes {
            Some(message_bytes) => error.at_size(message_bytes),
            None => error,
        }
    }
}

/// An error and its causes, each once.
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let part = error.to_string();
        if !text.ends_with(&part) {
            text = format!("{text}: {part}");
        }
        cause = error.source();
    }
    text
}
