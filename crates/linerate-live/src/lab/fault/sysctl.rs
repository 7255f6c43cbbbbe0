//! Settings of TCP that each network namespace has for itself.

use crate::plan::Fault;
use crate::unit::Bytes;
use crate::{Error, Result};
use std::fs;

/// The kernel takes no smaller least buffer: tcp(7), tcp_rmem.
const LEAST: u64 = 4096;

/// What bounds autotuning in either direction.
const BUFFERS: [&str; 2] = ["net/ipv4/tcp_rmem", "net/ipv4/tcp_wmem"];

/// Buffers begin at the size and grow no further.
pub(super) fn small_buffers(fault: &Fault) -> Result<String> {
    let size = fault.parsed::<Bytes>().map_or(LEAST, |bytes| bytes.0);
    let set = BUFFERS.map(|path| self::set(path, &format!("{} {size} {size}", LEAST.min(size))));
    let granted: Vec<String> = set.into_iter().collect::<Result<_>>()?;
    Ok(granted.join(", "))
}

/// Sets one, and reads it back: `tcp_sack = 0`.
pub(in crate::lab) fn set(path: &str, value: &str) -> Result<String> {
    let file = format!("/proc/sys/{path}");
    let refused = |why: String| {
        let hint = "in a container /proc/sys may be read-only: start it with --privileged, or run it outside";
        Error::unavailable(format!("{file} is not what was asked for: {why}"), hint)
    };
    fs::write(&file, value).map_err(|error| refused(error.to_string()))?;
    let found = fs::read_to_string(&file).map_err(|error| refused(error.to_string()))?;
    let found = found.split_whitespace().collect::<Vec<_>>().join(" ");
    let name = path.rsplit('/').next().unwrap_or(path);
    if found == value { Ok(format!("{name} = {found}")) } else { Err(refused(format!("it reads {found}"))) }
}

/// What one is; none where it cannot be read.
pub(in crate::lab) fn get(path: &str) -> Option<String> {
    Some(fs::read_to_string(format!("/proc/sys/{path}")).ok()?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_unavailable_by_name() {
        let error = set("net/ipv4/no_such_setting", "1").unwrap_err();
        assert_eq!(error.exit_code(), 3);
        assert!(error.to_string().contains("no_such_setting"), "{error}");
    }
}
