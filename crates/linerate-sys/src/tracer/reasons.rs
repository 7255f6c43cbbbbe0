//! What the kernel calls its reasons to drop a packet: `enum skb_drop_reason`, by its own BTF
//! (Documentation/bpf/btf.rst). The numbers differ from one kernel to the next.

use crate::{Error, Result};
use std::collections::BTreeMap;
use std::io;

const PATH: &str = "/sys/kernel/btf/vmlinux";

/// The type, and what each of its names begins with.
const TYPE: &[u8] = b"skb_drop_reason";
const PREFIX: &str = "SKB_DROP_REASON_";

/// `struct btf_header` and `struct btf_type` of include/uapi/linux/btf.h.
const MAGIC: u16 = 0xEB9F;
const TYPE_BYTES: usize = 12;
const KIND_ENUM: u32 = 6;

/// Bytes that follow a type: so many, and so many for each of its members.
const BEHIND: [(usize, usize); 20] = [
    (0, 0),
    (4, 0),
    (0, 0),
    (12, 0),
    (0, 12),
    (0, 12),
    (0, 8),
    (0, 0),
    (0, 0),
    (0, 0),
    (0, 0),
    (0, 0),
    (0, 0),
    (0, 8),
    (4, 0),
    (0, 12),
    (0, 0),
    (4, 0),
    (0, 0),
    (0, 12),
];

/// The names of this kernel by their numbers.
pub(super) fn names() -> Result<BTreeMap<u32, String>> {
    let bytes = std::fs::read(PATH).map_err(|e| Error::new("read", PATH, e))?;
    let none = || Error::new("read", PATH, io::Error::from(io::ErrorKind::InvalidData));
    named(&bytes).ok_or_else(none)
}

/// The same of a BTF; none of what is no BTF, or has no such type.
pub(super) fn named(btf: &[u8]) -> Option<BTreeMap<u32, String>> {
    let magic = btf.get(..2).and_then(|bytes| bytes.try_into().ok()).map(u16::from_ne_bytes);
    if magic != Some(MAGIC) {
        return None;
    }
    let ahead = word(btf, 4)? as usize;
    let part = |at: usize| -> Option<&[u8]> {
        let begin = ahead.checked_add(word(btf, at)? as usize)?;
        btf.get(begin..begin.checked_add(word(btf, at + 4)? as usize)?)
    };
    let (types, strings) = (part(8)?, part(16)?);
    let mut at = 0;
    while at + TYPE_BYTES <= types.len() {
        let info = word(types, at + 4)?;
        let (members, kind) = ((info & 0xFFFF) as usize, info >> 24 & 31);
        if kind == KIND_ENUM && string(strings, word(types, at)?)? == TYPE {
            let all = (0..members).map(|member| at + TYPE_BYTES + 8 * member);
            return all.map(|at| Some((word(types, at + 4)?, word(types, at)?))).try_fold(
                BTreeMap::new(),
                |mut names, member| {
                    let (number, name) = member?;
                    let name = String::from_utf8_lossy(string(strings, name)?).into_owned();
                    names.extend(name.strip_prefix(PREFIX).map(|name| (number, name.to_owned())));
                    Some(names)
                },
            );
        }
        let (behind, of_member) = BEHIND.get(kind as usize)?;
        at += TYPE_BYTES + behind + of_member * members;
    }
    None
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at.checked_add(4)?)?.try_into().ok().map(u32::from_ne_bytes)
}

fn string(strings: &[u8], at: u32) -> Option<&[u8]> {
    strings.get(at as usize..)?.split(|byte| *byte == 0).next()
}
