//! What speaks against a transfer, in the words of who wants to move a file, and what to try.

use crate::{Error, Result};
use linerate_sys::destination::{IS_LINK, IS_SOCKET};
use std::io::{self, ErrorKind};

/// A way in which a call on a file fails, and what helps.
struct Remedy {
    kinds: &'static [ErrorKind],
    hint: &'static str,
}

/// The first that fits is told.
const REMEDIES: &[Remedy] = &[
    Remedy {
        kinds: &[ErrorKind::StorageFull],
        hint: "make room there: `df -h` shows where, and `df -i` where there are no files left; what came is kept, and the same command goes on",
    },
    Remedy {
        kinds: &[ErrorKind::QuotaExceeded],
        hint: "make room below the quota: `quota -s` shows it; what came is kept, and the same command goes on",
    },
    Remedy {
        kinds: &[ErrorKind::FileTooLarge],
        hint: "raise the limit on a file's size there (`ulimit -f`), or take a file system that has files so long",
    },
    Remedy {
        kinds: &[ErrorKind::InvalidInput, ErrorKind::IsADirectory],
        hint: "a regular file or a folder is moved; memory:1GiB as the source sends bytes of no file",
    },
    Remedy {
        kinds: &[ErrorKind::NotFound, ErrorKind::NotADirectory],
        hint: "see whether it is there on that host: ls -l",
    },
    Remedy { kinds: &[ErrorKind::PermissionDenied], hint: "see who may use it there: ls -ld" },
    Remedy {
        kinds: &[ErrorKind::ReadOnlyFilesystem],
        hint: "it is mounted read-only, as findmnt -T shows: name another destination",
    },
    Remedy {
        kinds: &[ErrorKind::InvalidFilename],
        hint: "a name has 255 bytes at most, and a path 4095: give it a shorter one",
    },
];

/// What helps against a link in the place of a file.
const LINK: &str = "it is a link: name the file that it leads to, as `readlink -f` shows it";

/// The error of a call on a file.
pub fn of_file(error: linerate_sys::Error) -> Error {
    let number = error.source.raw_os_error();
    let kind = match number == Some(IS_SOCKET) {
        true => ErrorKind::InvalidInput,
        false => error.source.kind(),
    };
    let fits = |remedy: &&Remedy| remedy.kinds.contains(&kind);
    let known = REMEDIES.iter().find(fits).map(|remedy| remedy.hint);
    match Some(LINK).filter(|_| number == Some(IS_LINK)).or(known) {
        Some(hint) => Error::unavailable(format!("{error}: {}", error.source), hint),
        None => error.into(),
    }
}

/// The error of a call of the standard library on a file.
pub fn on(call: &'static str, path: &str, error: io::Error) -> Error {
    of_file(linerate_sys::Error::new(call, path, error))
}

/// What a stream said. A peer that hangs up has a reason, which the peer knows.
pub fn of_stream<T>(role: &str, answer: io::Result<T>, patience_ms: u64) -> Result<T> {
    answer.map_err(|error| match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => Error::peer(
            role,
            format!("moved nothing for {} s", patience_ms / 1000),
            "see whether its host and its disk answer; the same command goes on from where it stopped",
        ),
        ErrorKind::InvalidData => Error::peer(
            role,
            format!("sent what does not fit its seal ({error})"),
            "something on the way changed it; the same command goes on from where it stopped",
        ),
        _ => Error::hung_up(role, format!("ended a stream ({})", error.kind())),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fails_has_something_to_try() {
        // ENOSPC, EDQUOT, EFBIG, ELOOP, ENXIO, EISDIR, ENOENT, EACCES, EROFS, ENAMETOOLONG of asm-generic/errno.h.
        for (number, part) in [
            (28, "df -h"),
            (122, "quota"),
            (27, "ulimit -f"),
            (40, "readlink"),
            (6, "memory:1GiB"),
            (21, "folder"),
            (2, "ls -l"),
            (13, "ls -ld"),
            (30, "findmnt"),
            (36, "255 bytes"),
        ] {
            let error = on("open", "it", io::Error::from_raw_os_error(number));
            assert!(
                error.hint().is_some_and(|hint| hint.contains(part)),
                "{number}: {error} {:?}",
                error.hint()
            );
        }
    }
}
