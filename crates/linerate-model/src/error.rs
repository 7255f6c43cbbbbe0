//! What went wrong, on what, and what to try: one type; each kind has its exit code.

mod remedy;

use linerate_sys::child::Ended;
use linerate_sys::limit::{Reached, reached};
use serde::{Deserialize, Serialize};

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The arguments cannot be followed.
    #[error("{what}")]
    Usage {
        /// What is wrong.
        what: String,
        /// What to try.
        hint: String,
    },
    /// The kernel, the privileges or a library do not allow it.
    #[error("{what}")]
    Unavailable {
        /// What is missing.
        what: String,
        /// What to try.
        hint: String,
    },
    /// A host does not allow as much as is needed: a call met a limit of it.
    #[error("{what}")]
    Limit {
        /// What was tried, which limit was met, its value, and who set it.
        what: String,
        /// What to try.
        hint: String,
    },
    /// The other end failed, vanished or broke the protocol.
    #[error("{who}: {what}")]
    Peer {
        /// The host or process.
        who: String,
        /// What it did.
        what: String,
        /// What to try.
        hint: String,
    },
    /// The other end hung up: a peer's failure that nearly always follows from another one.
    #[error("{who}: {what}")]
    HungUp {
        /// The host or process that tells of it.
        who: String,
        /// What was under way.
        what: String,
    },
    /// A process of ours ended before its time: a peer's failure whose cause is known.
    #[error("{what}")]
    Died {
        /// Which one, and how.
        what: String,
        /// What to try against the limit that ended it, where one did.
        limit: Option<String>,
    },
    /// A process of ours does not answer any more, and has not ended: it hangs, or stands still.
    #[error("{what}")]
    Silent {
        /// Which one, and for how long.
        what: String,
    },
    /// It failed while messages of one size were on their way.
    #[error("{error} (with messages of {message_bytes} B)")]
    AtSize {
        /// The size of a message.
        message_bytes: u64,
        /// What failed.
        error: Box<Error>,
    },
    /// A system call failed.
    #[error(transparent)]
    System(linerate_sys::Error),
    /// A recording cannot be used.
    #[error("{file}: {what}")]
    Record {
        /// The file.
        file: String,
        /// What is wrong with it, with the line where there is one.
        what: String,
    },
    /// A file of another tool cannot be imported.
    #[error("{file}: {what}")]
    Import {
        /// The file.
        file: String,
        /// What is wrong with it.
        what: String,
        /// What to try.
        hint: String,
    },
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl From<linerate_sys::Error> for Error {
    /// Which limit a call has met is looked up here, in the process and at the moment in which it did.
    fn from(error: linerate_sys::Error) -> Self {
        match reached(&error) {
            Some(limit) => Error::from_limit(&error, limit),
            None => Error::System(error),
        }
    }
}

/// The kernel's answer in its words, without its number.
fn in_words(answer: &std::io::Error) -> String {
    let text = answer.to_string();
    text.split_once(" (os error ").map_or(text.clone(), |(words, _)| words.to_owned())
}

/// How near a failure is to the cause of those that came with it, the nearest last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureOrigin {
    /// It follows from another one: who is hung up on seldom knows why.
    Follows,
    /// It may be the cause.
    #[default]
    Own,
    /// A limit of a host was met: what fails beside it may fail for it.
    Limit,
    /// A process ended, or does not answer any more: whatever else fails then, fails for it.
    Death,
}

/// A result of anything that can fail.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// A usage error.
    pub fn usage(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Error::Usage { what: what.into(), hint: hint.into() }
    }

    /// Something that this machine does not allow.
    pub fn unavailable(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Error::Unavailable { what: what.into(), hint: hint.into() }
    }

    /// A failure of the other end.
    pub fn peer(who: impl Into<String>, what: impl Into<String>, hint: impl Into<String>) -> Self {
        Error::Peer { who: who.into(), what: what.into(), hint: hint.into() }
    }

    /// The end of a process that should go on.
    pub fn died(ended: impl Into<Ended>) -> Self {
        let Ended { how, limit } = ended.into();
        match limit {
            Some(limit) => Error::Died { what: format!("{how}; {}", limit.what), limit: Some(limit.hint) },
            None => Error::Died { what: how, limit: None },
        }
    }

    /// The silence of a process that should answer.
    pub fn silent(what: impl Into<String>) -> Self {
        Error::Silent { what: what.into() }
    }

    /// Whether a process of ours is lost: it ended, or answers no more.
    pub fn is_loss_of_process(&self) -> bool {
        matches!(self.cause(), Error::Died { .. } | Error::Silent { .. })
    }

    /// Whether one is lost that has not ended.
    pub fn is_silence(&self) -> bool {
        matches!(self.cause(), Error::Silent { .. })
    }

    /// With what the process that ended was at.
    pub fn while_it(self, did: &str) -> Self {
        match self {
            Error::Died { what, limit } if !what.contains(", while it ") => {
                Error::Died { what: format!("{what}, while it {did}"), limit }
            }
            other => other,
        }
    }

    /// A connection that the other end closed.
    pub fn hung_up(who: impl Into<String>, what: impl Into<String>) -> Self {
        Error::HungUp { who: who.into(), what: what.into() }
    }

    /// Whether nothing else need be tried: the user has had enough, or every further step would meet the same limit.
    pub fn ends_the_run(&self) -> bool {
        matches!(self.cause(), Error::Interrupted | Error::Limit { .. })
    }

    /// Says of which size the messages were.
    pub fn at_size(self, message_bytes: u64) -> Self {
        Error::AtSize { message_bytes, error: Box::new(self) }
    }

    /// The size of the messages that were on their way, where it is known.
    pub fn message_bytes(&self) -> Option<u64> {
        match self {
            Error::AtSize { message_bytes, .. } => Some(*message_bytes),
            _ => None,
        }
    }

    /// The same without the size of the messages.
    pub fn cause(&self) -> &Error {
        match self {
            Error::AtSize { error, .. } => error.cause(),
            other => other,
        }
    }

    /// How near it is to the cause, of failures that come together.
    pub fn origin(&self) -> FailureOrigin {
        match self {
            Error::AtSize { error, .. } => error.origin(),
            Error::Died { .. } | Error::Silent { .. } => FailureOrigin::Death,
            Error::HungUp { .. } => FailureOrigin::Follows,
            Error::Limit { .. } => FailureOrigin::Limit,
            _ => FailureOrigin::Own,
        }
    }

    /// A failed call of the standard library, with what it was applied to.
    pub fn io(call: &'static str, object: impl Into<String>, source: std::io::Error) -> Self {
        linerate_sys::Error::new(call, object, source).into()
    }

    /// What a host does not allow in full: it was tried, and met a limit.
    fn from_limit(error: &linerate_sys::Error, limit: Reached) -> Self {
        let what = format!("{error}: {}; {}", in_words(&error.source), limit.what);
        Error::Limit { what, hint: limit.hint }
    }

    /// Says during what it happened.
    pub fn during(self, activity: &dyn std::fmt::Display) -> Self {
        match self {
            Error::Peer { who, what, hint } => {
                Error::Peer { who, what: format!("{what} (during {activity})"), hint }
            }
            Error::HungUp { who, what } => Error::HungUp { who, what: format!("{what} (during {activity})") },
            Error::Died { what, limit } => Error::Died { what: format!("{what} (during {activity})"), limit },
            Error::Silent { what } => Error::silent(format!("{what} (during {activity})")),
            Error::AtSize { message_bytes, error } => error.during(activity).at_size(message_bytes),
            other => other,
        }
    }

    /// Says on which host, where that is not said yet.
    #[must_use]
    pub fn on_host(self, host: &dyn std::fmt::Display) -> Self {
        match self {
            Error::Usage { what, hint } => Error::Usage { what: format!("host {host}: {what}"), hint },
            Error::Unavailable { what, hint } => {
                Error::Unavailable { what: format!("host {host}: {what}"), hint }
            }
            other => other,
        }
    }

    /// The process's exit code.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::Usage { .. } => 2,
            Error::Unavailable { .. } | Error::Limit { .. } | Error::Died { limit: Some(_), .. } => 3,
            Error::Peer { .. } | Error::HungUp { .. } | Error::Died { .. } | Error::Silent { .. } => 4,
            Error::AtSize { error, .. } => error.exit_code(),
            Error::System(_) => 5,
            Error::Record { .. } | Error::Import { .. } => 6,
            Error::Interrupted => 130,
        }
    }

    /// What to try, where something is known to help.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Error::Usage { hint, .. }
            | Error::Unavailable { hint, .. }
            | Error::Limit { hint, .. }
            | Error::Died { limit: Some(hint), .. }
            | Error::Peer { hint, .. }
            | Error::Import { hint, .. } => Some(hint.as_str()).filter(|hint| !hint.is_empty()),
            Error::HungUp { .. } => Some("see what ended its worker"),
            Error::Died { .. } => Some("see whether its host is up, and what was killed there: dmesg | tail"),
            Error::Silent { .. } => Some(
                "see whether it is stopped, or its host overloaded: ps -eo pid,stat,args | grep linerate",
            ),
            Error::AtSize { error, .. } => error.hint(),
            Error::System(error) => remedy::for_error(error),
            Error::Record { .. } => {
                Some("see whether it is the right file, and this the newest linerate: linerate --version")
            }
            Error::Interrupted => None,
        }
    }
}
