//! The kernel's tracepoints as tracefs describes them: their numbers, and where their fields lie
//! (Documentation/trace/events.rst). Both differ from one kernel to the next.

use crate::{Error, Result};
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;

/// Where it is mounted as a rule.
const PLACES: [&str; 2] = ["/sys/kernel/tracing/events", "/sys/kernel/debug/tracing/events"];

/// The longest description that is read.
const MOST_BYTES: u64 = 64 << 10;

/// The events of a tracefs.
pub struct Tracefs(OwnedFd);

/// A tracepoint, as it is described.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Format {
    /// Its number for perf_event_open(2).
    pub id: u64,
    /// Where a field begins in what it writes, and its bytes.
    pub fields: BTreeMap<String, (usize, usize)>,
}

impl Tracefs {
    /// Opens the one that is mounted; where none is, one that is mounted for this process alone and in no folder: it goes with its
    /// descriptor.
    pub fn open() -> Result<Tracefs> {
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY;
        for place in PLACES {
            match openat(CWD, place, flags, Mode::empty()) {
                Ok(events) => return Ok(Tracefs(events)),
                Err(Errno::NOENT) => {}
                Err(errno) => return Err(Error::new("open", place, errno)),
            }
        }
        let failed = |call| move |errno: Errno| Error::new(call, "tracefs", errno);
        let context = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC).map_err(failed("fsopen"))?;
        fsconfig_create(&context).map_err(failed("fsconfig"))?;
        let attributes = MountAttrFlags::MOUNT_ATTR_RDONLY | MountAttrFlags::MOUNT_ATTR_NOEXEC;
        let mount =
            fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes).map_err(failed("fsmount"))?;
        openat(&mount, "events", flags, Mode::empty()).map(Tracefs).map_err(failed("open"))
    }

    /// A tracepoint as `group/name`; none where this kernel has it not.
    pub fn format(&self, tracepoint: &str) -> Result<Option<Format>> {
        let path = format!("{tracepoint}/format");
        let failed = |source: io::Error| Error::new("read", path.clone(), source);
        let file = match openat(&self.0, &path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(Errno::NOENT) => return Ok(None),
            Err(errno) => return Err(failed(errno.into())),
        };
        let mut text = String::new();
        file.take(MOST_BYTES).read_to_string(&mut text).map_err(failed)?;
        described(&text).map(Some).ok_or_else(|| failed(io::ErrorKind::InvalidData.into()))
    }
}

/// What a description says; none of what is no description.
fn described(text: &str) -> Option<Format> {
    let id = text.lines().find_map(|line| line.strip_prefix("ID: "))?.trim().parse().ok()?;
    let fields = text.lines().filter_map(|line| field(line.trim())).collect();
    Some(Format { id, fields })
}

/// `field:const void * skbaddr;`, and behind tabs `offset:8;`, `size:8;`, `signed:0;`.
fn field(line: &str) -> Option<(String, (usize, usize))> {
    let mut parts = line.split(';').map(str::trim);
    let declared = parts.next()?.strip_prefix("field:")?;
    let name = declared.split(['[', ' ', '*']).rfind(|word| !word.is_empty() && !word.ends_with(']'))?;
    let mut number = |name: &str| parts.find_map(|part| part.strip_prefix(name))?.parse().ok();
    Some((name.to_owned(), (number("offset:")?, number("size:")?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_their_names() {
        let text = "name: tcp_probe\nID: 2273\nformat:\n\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\
                    \tfield:__u8 saddr[28];\toffset:8;\tsize:28;\tsigned:0;\n\
                    \tfield:const void *skaddr;\toffset:128;\tsize:8;\tsigned:0;\n\
                    \tfield:__data_loc char[] name;\toffset:20;\tsize:4;\tsigned:0;\nprint fmt: \"x\"\n";
        let format = described(text).unwrap();
        assert_eq!(format.id, 2273);
        let places: Vec<_> = format.fields.iter().map(|(name, at)| (name.as_str(), *at)).collect();
        let expected = [("common_pid", (4, 4)), ("name", (20, 4)), ("saddr", (8, 28)), ("skaddr", (128, 8))];
        assert_eq!(places, expected);
        assert_eq!((described(""), described("ID: x"), field("field:int x; offset:a;")), (None, None, None));
    }

    #[test]
    fn what_is_mounted_for_this_process_is_in_no_folder() {
        let mounts = || std::fs::read_to_string("/proc/self/mounts").unwrap().matches("tracefs").count();
        let before = mounts();
        let Ok(tracefs) = Tracefs::open() else {
            return println!("SKIP: what_is_mounted_for_this_process_is_in_no_folder: not root");
        };
        let waking = tracefs.format("sched/sched_waking").unwrap().unwrap();
        assert!(waking.id > 0 && waking.fields.contains_key("pid"), "{waking:?}");
        assert_eq!((tracefs.format("sched/nothing").unwrap(), mounts()), (None, before));
    }
}
