//! Namespaces: made by leaving the present ones, and held by a file descriptor alone.
//!
//! Nothing is mounted or named outside them: a namespace lives as long as a process is in it or holds its
//! descriptor, so that the death of the processes is its removal.

use crate::{Error, Result};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::{MountPropagationFlags, mount_change};
use rustix::thread::{CapabilitySet, UnshareFlags};
use std::ffi::CStr;
use std::{fs, io};

/// The longest path, with its end: `PATH_MAX`.
const LONGEST_PATH: usize = libc::PATH_MAX as usize;

/// A kind of namespace, by its name under `/proc/PID/ns`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Interfaces, addresses, routes, sockets, counters.
    Network,
    /// The host's name.
    HostName,
    /// What is mounted where.
    Mounts,
    /// Users and what they may do.
    User,
}

impl Kind {
    fn file(self) -> &'static str {
        match self {
            Kind::Network => "net",
            Kind::HostName => "uts",
            Kind::Mounts => "mnt",
            Kind::User => "user",
        }
    }
}

/// Whether the calling thread may make network namespaces and interfaces as it is.
pub fn may_administer() -> Result<bool> {
    let sets = rustix::thread::capabilities(None)
        .map_err(|errno| Error::new("capget", "this process", io::Error::from(errno)))?;
    Ok(sets.effective.contains(CapabilitySet::SYS_ADMIN | CapabilitySet::NET_ADMIN))
}

/// Whether the calling process is in a user namespace below the machine's own: then the kernel allows it, whatever its
/// capabilities, only what that namespace owns.
pub fn is_below_first_user_namespace() -> Result<bool> {
    // include/linux/proc_ns.h: PROC_USER_INIT_INO.
    const FIRST: u64 = 0xEFFF_FFFD;
    let own = rustix::fs::fstat(current(Kind::User)?);
    let own = own.map_err(|errno| Error::new("fstat", "the user namespace", io::Error::from(errno)))?;
    Ok(own.st_ino != FIRST)
}

/// Leaves the user namespace for a new one, in which the present user is root: the kernel then allows
/// what the new namespace owns. Works only while the process has a single thread.
pub fn become_root_of_new_user_namespace() -> Result<()> {
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    unshare(UnshareFlags::NEWUSER, "user namespace")?;
    // user_namespaces(7): an ordinary user may map its own group only after giving up setgroups(2).
    write("/proc/self/setgroups", "deny")?;
    write("/proc/self/uid_map", &format!("0 {} 1", user.as_raw()))?;
    write("/proc/self/gid_map", &format!("0 {} 1", group.as_raw()))
}

/// What makes root somebody else in a user namespace of its own: prepared before fork, for nothing may be allocated then.
pub(crate) struct Renamed([(&'static CStr, String); 3]);

impl Renamed {
    /// Root as this user and group.
    pub(crate) fn root_as(number: u32) -> Renamed {
        // user_namespaces(7): in a user namespace a group may be mapped only after giving up setgroups(2).
        let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        Renamed([
            (c"/proc/self/setgroups", "deny".into()),
            (c"/proc/self/uid_map", format!("{number} {user} 1")),
            (c"/proc/self/gid_map", format!("{number} {group} 1")),
        ])
    }

    /// Makes system calls only, as between fork and exec.
    pub(crate) fn enter(&self) -> std::result::Result<(), Errno> {
        // SAFETY: as in `unshare`: descriptors are not in the flags.
        unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWUSER | UnshareFlags::NEWIPC) }?;
        for (path, text) in &self.0 {
            let file = rustix::fs::open(*path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
            rustix::io::write(&file, text.as_bytes())?;
        }
        Ok(())
    }
}

/// Leaves the network and host name namespaces for new ones.
pub fn become_another_host() -> Result<()> {
    unshare(UnshareFlags::NEWNET | UnshareFlags::NEWUTS, "network and host name namespaces")
}

/// Leaves the mount namespace for a new one, in which everything is where it was. What the machine mounts or
/// unmounts later is so here, too; what is mounted here is nowhere else.
///
/// Whoever joins the new one has its root. A process whose own root is another, by chroot(2), is refused: it would
/// see what it may not.
pub fn take_own_mounts() -> Result<OwnedFd> {
    let root = || rustix::fs::stat("/").map(|root| (root.st_dev, root.st_ino));
    let of_root = |errno: Errno| Error::new("stat", "/", errno);
    let before = root().map_err(of_root)?;
    unshare(UnshareFlags::NEWNS, "mount namespace")?;
    let own = [current(Kind::Mounts)?];
    enter(&own)?;
    if root().map_err(of_root)? != before {
        return Err(Error::new("setns", "a mount namespace from a chroot", io::ErrorKind::InvalidInput));
    }
    let downstream = MountPropagationFlags::REC | MountPropagationFlags::DOWNSTREAM;
    mount_change("/", downstream).map_err(|errno| Error::new("mount", "/", errno))?;
    let [own] = own;
    Ok(own)
}

/// Enters these namespaces, in this order, for good; a user namespace goes first, as in
/// [`join_namespaces`](crate::spawn::join_namespaces), and takes a process with a single thread.
pub fn enter(namespaces: &[OwnedFd]) -> Result<()> {
    move_into(namespaces.iter()).map_err(|errno| Error::new("setns", "a namespace", io::Error::from(errno)))
}

/// Joins namespaces and stays in the same folder: setns(2) moves who joins a mount namespace to its root. Makes
/// system calls only, as between fork and exec.
pub(crate) fn move_into<F: AsFd>(namespaces: impl Iterator<Item = F>) -> std::result::Result<(), Errno> {
    let (mut before, mut after) = ([0; LONGEST_PATH], [0; LONGEST_PATH]);
    let before = folder(&mut before);
    for namespace in namespaces {
        rustix::thread::move_into_link_name_space(namespace.as_fd(), None)?;
    }
    if let Some(before) = before
        && folder(&mut after) != Some(before)
    {
        // One that was removed is nowhere to go back to.
        let _ = rustix::process::chdir(before);
    }
    Ok(())
}

/// The path of the present folder; none where that is outside the root, or too long.
fn folder(space: &mut [u8; LONGEST_PATH]) -> Option<&CStr> {
    // Not getcwd(3), which may allocate, and not rustix's, which does.
    // SAFETY: the kernel writes no more than so many bytes.
    let length = unsafe { libc::syscall(libc::SYS_getcwd, space.as_mut_ptr(), space.len()) };
    let path = CStr::from_bytes_until_nul(space).ok()?;
    (length > 0 && path.to_bytes().starts_with(b"/")).then_some(path)
}

/// Names the host in the present host name namespace.
pub fn set_host_name(name: &str) -> Result<()> {
    rustix::system::sethostname(name.as_bytes())
        .map_err(|errno| Error::new("sethostname", name, io::Error::from(errno)))
}

/// A descriptor of the calling thread's namespace of this kind.
pub fn current(kind: Kind) -> Result<OwnedFd> {
    let path = format!("/proc/thread-self/ns/{}", kind.file());
    rustix::fs::open(&path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
        .map_err(|errno| Error::new("open", path, io::Error::from(errno)))
}

fn unshare(flags: UnshareFlags, object: &str) -> Result<()> {
    // SAFETY: only `CLONE_FILES` endangers memory safety, by giving threads different descriptor tables;
    // it is in none of the callers' flags.
    unsafe { rustix::thread::unshare_unsafe(flags) }
        .map_err(|errno| Error::new("unshare", object, io::Error::from(errno)))
}

fn write(path: &'static str, text: &str) -> Result<()> {
    fs::write(path, text).map_err(|source| Error::new("write", path, source))
}
