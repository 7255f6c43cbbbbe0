//! A failed system call: which one, on what, and why.

use std::io;

/// A failed system call.
#[derive(Debug, thiserror::Error)]
#[error("{call} {object}")]
pub struct Error {
    /// The call, by its manual page's name.
    pub call: &'static str,
    /// What it was applied to.
    pub object: String,
    /// The kernel's answer.
    #[source]
    pub source: io::Error,
}

/// A result of a system call.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error of `call` on `object`.
    pub fn new(call: &'static str, object: impl Into<String>, source: impl Into<io::Error>) -> Self {
        Error { call, object: object.into(), source: source.into() }
    }

    /// Whether the kernel says that it has not, or does not allow, what was asked for.
    pub fn is_refusal(&self) -> bool {
        let answers = [
            libc::ENOSYS,
            libc::EPERM,
            libc::EACCES,
            libc::EOPNOTSUPP,
            libc::ENOPROTOOPT,
            libc::EINVAL,
            libc::ENODEV,
        ];
        self.source.raw_os_error().is_some_and(|code| answers.contains(&code))
    }

    /// The error of the call that just failed, from `errno`.
    pub fn last(call: &'static str, object: impl Into<String>) -> Self {
        Error::new(call, object, io::Error::last_os_error())
    }
}
