//! What to try against a failed call, by the call and the way it fails.

use std::io::ErrorKind::{
    self, AddrInUse, AddrNotAvailable, AlreadyExists, ConnectionRefused, FileTooLarge, HostUnreachable,
    IsADirectory, NetworkUnreachable, NotADirectory, NotFound, Other, OutOfMemory, PermissionDenied,
    QuotaExceeded, ReadOnlyFilesystem, StorageFull, TimedOut,
};

/// What helps where a call fails in one of these ways.
struct Remedy {
    /// The calls; empty for all.
    calls: &'static [&'static str],
    /// How what they were for begins; empty for all.
    object: &'static str,
    /// How they fail.
    kinds: &'static [ErrorKind],
    /// What to try.
    hint: &'static str,
}

/// The first that fits is told.
const REMEDIES: &[Remedy] = &[
    Remedy {
        calls: &["start"],
        object: "",
        kinds: &[NotFound, PermissionDenied],
        hint: "see whether it is there and may be run (--ssh COMMAND says how to call ssh), and whether /dev/null is there",
    },
    Remedy {
        calls: &["readlink", "read"],
        object: "/proc/self",
        kinds: &[NotFound],
        hint: "see whether /proc is mounted: mount -t proc proc /proc",
    },
    Remedy {
        calls: &["make a file in"],
        object: "",
        kinds: &[NotFound, NotADirectory, PermissionDenied, ReadOnlyFilesystem],
        hint: "see whether that host has it, as a folder that may be written: --set striped.path=DIR",
    },
    Remedy {
        calls: &["MPI_File_open"],
        object: "",
        kinds: &[Other],
        hint: "every host needs that folder, and may write there: --set mpi.file-folder=DIR",
    },
    Remedy {
        calls: &["open", "read", "stat"],
        object: "",
        kinds: &[NotFound],
        hint: "see whether the name is right: a run prints that of its recording in its last line",
    },
    Remedy { calls: &["import"], object: "", kinds: &[NotFound], hint: "see whether the name is right: ls" },
    Remedy {
        calls: &["mkdir", "import", "open", "read", "write", "rename", "stat"],
        object: "",
        kinds: &[NotFound, NotADirectory],
        hint: "see whether its folder is there: ls -d; mkdir -p makes one; or name another place, as with --output DIR",
    },
    Remedy {
        calls: &["mkdir", "rename"],
        object: "",
        kinds: &[AlreadyExists],
        hint: "it is a file: name another place, as with --output DIR",
    },
    Remedy {
        calls: &["mkdir", "import", "open", "read", "write", "rename", "stat"],
        object: "",
        kinds: &[PermissionDenied, ReadOnlyFilesystem],
        hint: "see who may use it: ls -ld; or name another place, as with --output DIR",
    },
    Remedy { calls: &[], object: "", kinds: &[IsADirectory], hint: "name a file in it" },
    Remedy {
        calls: &[],
        object: "",
        kinds: &[FileTooLarge],
        hint: "raise the limit on a file's size: ulimit -f unlimited; what a run wrote until then stays: linerate report FILE",
    },
    Remedy {
        calls: &[],
        object: "",
        kinds: &[StorageFull, QuotaExceeded],
        hint: "make room there or name another place; what a run wrote until then stays: linerate report FILE",
    },
    Remedy { calls: &[], object: "", kinds: &[AddrInUse], hint: "see who has it: ss -ltunp" },
    Remedy {
        calls: &[],
        object: "",
        kinds: &[AddrNotAvailable],
        hint: "see whether the host has it: ip address; --address a=ADDRESS names another one",
    },
    Remedy {
        calls: &[],
        object: "",
        kinds: &[ConnectionRefused, HostUnreachable, NetworkUnreachable, TimedOut],
        hint: "see whether the hosts reach each other there: ping; --address b=ADDRESS names another one",
    },
    Remedy {
        calls: &[],
        object: "",
        kinds: &[OutOfMemory],
        hint: "see what takes the memory: free -m, ulimit -v",
    },
];

/// EMFILE and ENFILE, which have no kind of their own: `include/uapi/asm-generic/errno-base.h`.
const TOO_MANY_FILES: [i32; 2] = [24, 23];

/// What to try against a failed call, where something is known to help.
pub(super) fn for_error(error: &linerate_sys::Error) -> Option<&'static str> {
    if error.source.raw_os_error().is_some_and(|number| TOO_MANY_FILES.contains(&number)) {
        return Some("allow more open files: ulimit -n 4096");
    }
    let fits = |remedy: &&Remedy| {
        (remedy.calls.is_empty() || remedy.calls.contains(&error.call))
            && error.object.starts_with(remedy.object)
            && remedy.kinds.contains(&error.source.kind())
    };
    REMEDIES.iter().find(fits).map(|remedy| remedy.hint)
}

#[cfg(test)]
mod tests {
    use crate::Error;

    #[test]
    fn a_common_failure_has_something_to_try() {
        let cases = [
            ("start", 2, "--ssh"),
            ("start", 2, "/dev/null"),
            ("open", 2, "last line"),
            ("import", 2, "ls"),
            ("mkdir", 2, "--output"),
            ("mkdir", 13, "ls -ld"),
            ("open", 30, "--output"),
            ("read", 21, "a file in it"),
            ("write", 28, "make room"),
            ("bind", 98, "ss -ltunp"),
            ("bind", 99, "ip address"),
            ("connect", 113, "--address"),
            ("socket", 24, "ulimit -n"),
        ];
        for (call, number, part) in cases {
            let error = Error::io(call, "it", std::io::Error::from_raw_os_error(number));
            assert!(
                error.hint().is_some_and(|hint| hint.contains(part)),
                "{call} {number}: {:?}",
                error.hint()
            );
        }
    }

    #[test]
    fn what_is_missing_in_proc_is_told_as_that() {
        let error = |object| Error::io("readlink", object, std::io::Error::from_raw_os_error(2));
        assert!(error("/proc/self/exe").hint().is_some_and(|hint| hint.contains("mount -t proc")));
        assert_eq!(error("/home/a/link").hint(), None);
    }

    #[test]
    fn a_failure_without_a_known_remedy_has_no_hint() {
        let error = Error::io("sched_setaffinity", "CPU 4", std::io::Error::from_raw_os_error(22));
        assert_eq!(error.hint(), None);
    }
}
