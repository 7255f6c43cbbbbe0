//! Files of an interface's receive queues, which sysfs shows: of this network namespace's interfaces, or of none.

use crate::{Error, Result};
use linerate_sys::netlink::Netlink;
use std::fs;
use std::path::{Path, PathBuf};

/// What a queue holds that is not there any more: what was set on it went with it.
pub const ABSENT: &str = "absent";

/// The queues of an interface. What sysfs shows was chosen when it was mounted, and may be another namespace's: then it has no
/// such interface, or one with another number or address.
fn folder(interface: &str) -> Result<PathBuf> {
    let link = Netlink::open()?.link(interface)?;
    let own = link.hardware_address.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(":");
    let path = Path::new("/sys/class/net").join(interface);
    let shown = |file: &str| fs::read_to_string(path.join(file)).unwrap_or_default().trim().to_owned();
    let is_it = shown("ifindex") == link.index.to_string() && shown("address") == own;
    // The loopback interface of every namespace is called alike.
    let can_tell = link.hardware_address.iter().any(|byte| *byte > 0);
    if is_it && can_tell {
        return Ok(path.join("queues"));
    }
    let what = format!("/sys/class/net does not show {interface} of this network namespace");
    Err(Error::unavailable(what, "run it where /sys is mounted anew, or leave the knob out"))
}

/// The numbers of its receive queues.
pub fn queues(interface: &str) -> Result<Vec<u32>> {
    let folder = folder(interface)?;
    let failed = |error| Error::io("open", folder.display().to_string(), error);
    let names = fs::read_dir(&folder).map_err(failed)?;
    let names = names.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut queues: Vec<u32> = names.filter_map(|name| name.strip_prefix("rx-")?.parse().ok()).collect();
    queues.sort_unstable();
    Ok(queues)
}

/// What a file of a queue holds.
pub fn read(file: &str, queue: u32, interface: &str) -> Result<String> {
    let folder = folder(interface)?.join(format!("rx-{queue}"));
    if !folder.exists() {
        return Ok(ABSENT.into());
    }
    let path = folder.join(file);
    let failed = |error| Error::io("read", path.display().to_string(), error);
    Ok(fs::read_to_string(&path).map_err(failed)?.trim().to_owned())
}

/// Makes a file of a queue hold this.
pub fn write(file: &str, queue: u32, interface: &str, value: &str) -> Result<()> {
    let path = folder(interface)?.join(format!("rx-{queue}")).join(file);
    fs::write(&path, value).map_err(|error| Error::io("write", path.display().to_string(), error))
}

/// These CPUs as a mask of the width of one that was read: the kernel writes as many digits as it may have CPUs.
pub fn mask(like: &str, cpus: &[u32]) -> String {
    let mut at = like.chars().filter(|digit| *digit != ',').count() as u32;
    let one = |shape: char| {
        if shape == ',' {
            return shape;
        }
        at -= 1;
        let bits = (0..4).filter(|bit| cpus.contains(&(at * 4 + bit))).map(|bit| 1 << bit).sum();
        char::from_digit(bits, 16).unwrap_or('0')
    };
    like.chars().map(one).collect()
}

/// Whether a mask has no CPU.
pub fn is_empty(mask: &str) -> bool {
    mask.chars().all(|digit| ['0', ','].contains(&digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_is_as_wide_as_the_kernel_s() {
        assert_eq!(mask("0", &[0, 1]), "3");
        assert_eq!(mask("3", &[]), "0");
        assert_eq!(mask("00", &[0, 5, 9]), "21");
        assert_eq!(mask("00000000,00000000", &[0, 31, 32, 63]), "80000001,80000001");
        assert_eq!((is_empty("00,00000000"), is_empty("00,00000010")), (true, false));
    }

    #[test]
    fn what_all_namespaces_call_alike_is_refused() {
        assert!(queues("lo").is_err() && queues("none-such").is_err());
    }
}
