//! What went wrong, on what, and what to try: one type, five kinds, each with its exit code.

mod remedy;

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
    /// A process of ours ended before its time: a peer's failure whose cause is known.
    #[error("{what}")]
    Died {
        /// Which one, and how.
        what: String,
    },
    /// A system call failed.
    #[error(transparent)]
    System(#[from] linerate_sys::Error),
    /// A recording cannot be used.
    #[error("{file}: {what}")]
    Record {
        /// The file.
        file: String,
        /// What is wrong with it, with the line where there is one.
        what: String,
    },
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
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
    pub fn died(what: impl Into<String>) -> Self {
        Error::Died { what: what.into() }
    }

    /// Whether it is that a process ended: what else fails then, fails for it.
    pub fn is_death(&self) -> bool {
        matches!(self, Error::Died { .. })
    }

    /// A failed call of the standard library, with what it was applied to.
    pub fn io(call: &'static str, object: impl Into<String>, source: std::io::Error) -> Self {
        Error::System(linerate_sys::Error::new(call, object, source))
    }

    /// Says during what it happened.
    pub fn during(self, activity: &dyn std::fmt::Display) -> Self {
        match self {
            Error::Peer { who, what, hint } => {
                Error::Peer { who, what: format!("{what} (during {activity})"), hint }
            }
            Error::Died { what } => Error::Died { what: format!("{what} (during {activity})") },
            other => other,
        }
    }

    /// The process's exit code.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::Usage { .. } => 2,
            Error::Unavailable { .. } => 3,
            Error::Peer { .. } | Error::Died { .. } => 4,
            Error::System(_) => 5,
            Error::Record { .. } => 6,
            Error::Interrupted => 130,
        }
    }

    /// What to try, where something is known to help.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Error::Usage { hint, .. } | Error::Unavailable { hint, .. } | Error::Peer { hint, .. } => {
                Some(hint.as_str()).filter(|hint| !hint.is_empty())
            }
            Error::Died { .. } => Some("see whether its host is up, and what was killed there: dmesg | tail"),
            Error::System(error) => remedy::of(error),
            Error::Record { .. } => {
                Some("see whether it is the right file, and this the newest linerate: linerate --version")
            }
            Error::Interrupted => None,
        }
    }
}
