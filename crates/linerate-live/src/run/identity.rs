//! Whether a host that is reached again is the one that the run began with, and whether it was started anew meanwhile.

use crate::plan::HostId;
use crate::record::Environment;
use crate::{Error, Result};

/// What of a host's facts is the same after every start.
const IDENTITY: &str = "host.identity";

/// A host as it says who it is: what one start of it has, and what it knows of itself.
pub struct Said<'h> {
    /// Another one after every start.
    pub machine: &'h str,
    /// Has what stays.
    pub environment: &'h Environment,
}

impl Said<'_> {
    fn identity(&self) -> Option<&str> {
        self.environment.host.get(IDENTITY)?.as_str()
    }
}

/// Whether a host was started anew; an error where it is another one.
pub fn is_restarted(host: HostId, before: &Said, now: &Said) -> Result<bool> {
    if before.machine == now.machine {
        return Ok(false);
    }
    let (what, hint) = match before.identity().zip(now.identity()) {
        Some((known, found)) if known == found => return Ok(true),
        Some(_) => {
            ("is another machine than the one that the run began with", "name the machines themselves")
        }
        None => (
            "was started anew, or is another machine than the one that the run began with: it has no identity that would tell",
            "give it one, systemd-machine-id-setup, and measure again",
        ),
    };
    Err(Error::peer(format!("host {host}"), what, hint))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// What a host says that began with one start and is reached again in another.
    fn again(before: Option<&str>, machine: &str, now: Option<&str>) -> Result<bool> {
        let [before, now] = [before, now].map(|identity| {
            let mut environment = Environment::default();
            environment.host.insert(IDENTITY.into(), json!(identity));
            environment
        });
        let before = Said { machine: "boot-1", environment: &before };
        is_restarted(HostId(1), &before, &Said { machine, environment: &now })
    }

    #[test]
    fn a_host_that_was_started_anew_is_the_same_machine() {
        assert!(!again(Some("id"), "boot-1", Some("id")).unwrap());
        assert!(again(Some("id"), "boot-2", Some("id")).unwrap());
        let other = again(Some("id"), "boot-2", Some("other")).unwrap_err().to_string();
        assert!(other.contains("is another machine"), "{other}");
        let untold = again(None, "boot-2", None).unwrap_err().to_string();
        assert!(untold.contains("was started anew, or is another machine"), "{untold}");
    }
}
