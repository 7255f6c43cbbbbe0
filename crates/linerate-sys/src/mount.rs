//! Mounting a file system that a process of ours serves (FUSE), and what is mounted where.

use crate::{Error, Result};
use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags, mount_bind, unmount};
use std::ffi::CString;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, AsRawFd};
use std::path::Path;

/// What a mount is, as the kernel tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mounted {
    /// The type of its file system: `ext4`, `fuse.linerate`.
    pub kind: String,
    /// What it was mounted from: a device, or any word.
    pub source: String,
}

/// Opens the device through which a process serves a file system. In a user namespace, only a device that was opened
/// in it can be mounted in it.
pub fn open_fuse() -> Result<File> {
    const DEVICE: &str = "/dev/fuse";
    File::options().read(true).write(true).open(DEVICE).map_err(|source| Error::new("open", DEVICE, source))
}

/// Mounts what is served through `device` over a folder, for all users of the present user namespace; the kernel
/// looks at the files' permissions. Until somebody serves it, everyone who looks at it waits.
pub fn mount_fuse(device: impl AsFd, kind: &str, source: &str, folder: &Path) -> Result<()> {
    let device = device.as_fd().as_raw_fd();
    let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    let fail = |error: io::Error| Error::new("mount", folder.display().to_string(), error);
    let options =
        format!("fd={device},rootmode=40000,user_id={user},group_id={group},allow_other,default_permissions");
    let options = CString::new(options).map_err(|_| fail(ErrorKind::InvalidInput.into()))?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    rustix::mount::mount(source, folder, kind, flags, options.as_c_str()).map_err(|errno| fail(errno.into()))
}

/// Shows the interfaces of the present network namespace where programs look for them: what sysfs shows is chosen when
/// it is mounted. It belongs in a mount namespace of its own; all else of `/sys` stays as it is.
pub fn show_own_interfaces() -> Result<()> {
    const CLASS: &str = "/sys/class/net";
    const DEVICES: &str = "/sys/devices/virtual/net";
    let fail = |path: &str| {
        let path = path.to_owned();
        move |errno: Errno| Error::new("mount", path, io::Error::from(errno))
    };
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    // Over the folder that it is to give in the end: no other place is needed for it.
    rustix::mount::mount("sysfs", CLASS, "sysfs", flags, None).map_err(fail(CLASS))?;
    let shown = mount_bind(format!("{CLASS}/devices/virtual/net"), DEVICES)
        .map_err(fail(DEVICES))
        .and_then(|()| mount_bind(format!("{CLASS}/class/net"), CLASS).map_err(fail(CLASS)));
    if shown.is_err() {
        // Half of it is worse than nothing.
        let _ = unmount(CLASS, UnmountFlags::DETACH);
    }
    shown
}

/// What is mounted at a folder of the present mount namespace; none where nothing is.
pub fn mounted_at(folder: &Path) -> Result<Option<Mounted>> {
    const TABLE: &str = "/proc/self/mountinfo";
    let table = fs::read_to_string(TABLE).map_err(|source| Error::new("read", TABLE, source))?;
    // Of several, the last one covers the others.
    Ok(table.lines().filter_map(|line| line_of(line, folder)).next_back())
}

/// A line of mountinfo, in proc_pid_mountinfo(5), if it is about this folder.
fn line_of(line: &str, folder: &Path) -> Option<Mounted> {
    let (place, what) = line.split_once(" - ")?;
    let is_there = place.split(' ').nth(4).is_some_and(|place| Path::new(place) == folder);
    let mut words = what.split(' ').map(String::from);
    is_there.then(|| Some(Mounted { kind: words.next()?, source: words.next()? })).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_what_is_mounted() {
        let line = "36 35 98:0 /a /srv rw,noatime master:1 - fuse.linerate slow-disk rw,user_id=0";
        let mounted = Mounted { kind: "fuse.linerate".into(), source: "slow-disk".into() };
        assert_eq!(line_of(line, Path::new("/srv")), Some(mounted));
        assert_eq!(line_of(line, Path::new("/a")), None);
        assert_eq!(line_of("36 35 98:0 /a /srv rw", Path::new("/srv")), None);
    }

    #[test]
    fn the_process_table_is_mounted() {
        assert_eq!(mounted_at(Path::new("/proc")).unwrap().unwrap().kind, "proc");
        assert_eq!(mounted_at(Path::new("/proc/self")).unwrap(), None);
    }
}
