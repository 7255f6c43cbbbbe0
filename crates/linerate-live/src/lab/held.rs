//! A lab that another process holds: joining its hosts, ending it, and what is still inside.

use super::entry::{Entry, KeptHost, KeptNamespace};
use super::inside::{Inside, end_inside, id_of, inside};
use crate::{Error, Result};
use linerate_sys::namespace;
use linerate_sys::process::{Process, Signal};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::ErrorKind;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;

/// How long a holder may take to end of its own accord; it has nothing to do but to remove its record.
const PATIENCE: Duration = Duration::from_secs(5);

/// A lab and its holder, which was alive when it was looked at.
#[derive(Debug)]
pub struct Held {
    /// What is written down of it.
    pub entry: Entry,
    holder: Process,
}

/// All of a lab's namespaces, kept from vanishing while somebody looks who is inside: the kernel gives the
/// name of a namespace that has vanished to the next one.
#[derive(Debug)]
pub struct NamespaceGuard {
    namespaces: BTreeMap<String, OwnedFd>,
}

impl Held {
    /// The lab of an entry; none where its holder has ended, even if its number is another process's now.
    pub(super) fn with_holder(entry: Entry) -> Result<Option<Held>> {
        let Some(holder) = Process::open(entry.pid)? else {
            return Ok(None);
        };
        let is_same = holder.start_time()? == Some(entry.start_ticks);
        Ok(is_same.then_some(Held { entry, holder }))
    }

    /// Moves the calling process, which has a single thread, to this host for good.
    pub fn enter(&self, host: &KeptHost) -> Result<()> {
        let namespaces: Vec<OwnedFd> = host.namespaces.iter().map(|n| self.open(n)).collect::<Result<_>>()?;
        Ok(namespace::enter(&namespaces)?)
    }

    /// Holds all of its namespaces.
    pub fn hold_namespaces(&self) -> Result<NamespaceGuard> {
        let mut namespaces = BTreeMap::new();
        for kept in self.entry.hosts.iter().flat_map(|host| &host.namespaces) {
            if !namespaces.contains_key(&kept.id) {
                namespaces.insert(kept.id.clone(), self.open(kept)?);
            }
        }
        Ok(NamespaceGuard { namespaces })
    }

    /// Ends the holder, and waits until it has ended. Taking a [`NamespaceGuard`] first proves that it is one.
    pub fn end(&self, _: &NamespaceGuard) -> Result<()> {
        // One that is stopped does not hear the first; ending it at once leaves nothing but its record.
        for signal in [Signal::Terminate, Signal::Kill] {
            self.holder.signal(signal)?;
            if self.holder.wait(PATIENCE)? {
                return Ok(());
            }
        }
        Err(Error::peer(self.holder_text(), "does not end", "is it being debugged?"))
    }

    /// Opens what the holder has open, if it is what the entry says.
    fn open(&self, kept: &KeptNamespace) -> Result<OwnedFd> {
        let link = format!("/proc/{}/fd/{}", self.holder.pid(), kept.descriptor);
        let refused = |error: Error| match &error {
            Error::System(cause) if cause.source.kind() == ErrorKind::PermissionDenied => {
                let what =
                    format!("{} lets nobody in from here ({error}: {})", self.holder_text(), cause.source);
                Error::unavailable(
                    what,
                    "call it as the user who put the lab up, and not from one of its hosts",
                )
            }
            Error::System(cause) if cause.source.kind() == ErrorKind::NotFound => self.broken(),
            _ => error,
        };
        let is_it = |link: &str| id_of(link).map(|id| id == kept.id);
        // Before it is opened: a record that lies might lead to a device.
        if !is_it(&link).map_err(refused)? {
            return Err(self.broken());
        }
        let file = File::open(&link).map_err(|e| refused(Error::io("open", &link, e)))?;
        // What was opened was the holder's if the holder still is.
        if self.holder.has_ended()? || !is_it(&format!("/proc/self/fd/{}", file.as_raw_fd()))? {
            return Err(self.broken());
        }
        Ok(file.into())
    }

    fn broken(&self) -> Error {
        let what = format!("does not hold the lab `{}` as its record says", self.entry.name);
        Error::peer(self.holder_text(), what, "linerate lab list")
    }

    fn holder_text(&self) -> String {
        format!("process {}", self.holder.pid())
    }
}

impl NamespaceGuard {
    /// Who is inside, apart from the calling process.
    pub fn inside(&self) -> Vec<Inside> {
        inside(&|id| self.namespaces.contains_key(id))
    }

    /// Ends who is inside, and says who could not be.
    pub fn end_inside(&self) -> Vec<Inside> {
        end_inside(&|id| self.namespaces.contains_key(id))
    }
}
