//! What an observer may need of its process that not every user has, and why this one has it not.

use crate::vocabulary::Privilege;
use linerate_sys::{namespace, probe};
use std::sync::OnceLock;

/// Why a process has not what was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Why.
    pub why: String,
    /// What to try.
    pub hint: &'static str,
}

/// Why this process has not a privilege; none where it has. Tried once: what a process may do stays.
pub fn refusal(privilege: Privilege) -> Option<&'static Refusal> {
    static TRACING: OnceLock<Option<Refusal>> = OnceLock::new();
    match privilege {
        Privilege::Tracing => TRACING.get_or_init(|| probe::tracing().err().map(of_tracing)).as_ref(),
    }
}

fn of_tracing(error: linerate_sys::Error) -> Refusal {
    let said = format!("{error}: {}", error.source);
    if namespace::is_below_first_user_namespace().unwrap_or(false) {
        let why =
            format!("{said}; the kernel lets nobody trace it from a user namespace, in which this host is");
        return Refusal { why, hint: "run as root: a lab has no user namespace then" };
    }
    Refusal { why: said, hint: "run as root, or with CAP_BPF and CAP_PERFMON" }
}
