//! How many packet filter rules stand in the way, and what they counted, in the caller's network namespace.
//!
//! Asking can make the kernel load the filter itself, so ask only where it is known to be there already.
//! Needs `CAP_NET_ADMIN`.

use crate::{Error, Result};
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_NETFILTER};
use std::mem::MaybeUninit;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;

/// `NFNL_SUBSYS_NFTABLES`, in the upper half of a message's type.
const NFTABLES: u16 = 10 << 8;
/// What is asked for, and what comes: `NFT_MSG_GETRULE` and its like of linux/netfilter/nf_tables.h.
const RULES: [u16; 2] = [NFTABLES | 7, NFTABLES | 6];
const ELEMENTS: [u16; 2] = [NFTABLES | 13, NFTABLES | 12];
const OBJECTS: [u16; 2] = [NFTABLES | 19, NFTABLES | 18];
/// Every family, and IPv4 (linux/netfilter.h).
const ANY: u8 = 0;
const NFPROTO_IPV4: u8 = 2;
/// `NFTA_RULE_TABLE`, `NFTA_OBJ_TABLE`, `NFTA_SET_ELEM_LIST_TABLE`: all the same.
const TABLE: u16 = 1;
/// `NFTA_SET_ELEM_LIST_SET`, `NFTA_OBJ_NAME`.
const NAME: u16 = 2;
/// `NFTA_SET_ELEM_LIST_ELEMENTS`.
const LIST: u16 = 3;
/// `NFTA_OBJ_DATA`, and `NFTA_COUNTER_PACKETS` within.
const DATA: u16 = 4;
const PACKETS: u16 = 2;
/// The type's own bits, without those for nesting and byte order.
const TYPE_MASK: u16 = 0x3fff;
const HEADER: usize = 16;
/// `struct nfgenmsg`.
const FAMILY_HEADER: usize = 4;

/// Rules of nftables, in all tables of all families.
pub fn nftables_rules() -> Result<u64> {
    rules_of(ANY, &[])
}

/// Rules of a table of IPv4; none where there is no such table.
pub fn table_rules(table: &str) -> Result<u64> {
    rules_of(NFPROTO_IPV4, &[(TABLE, table)])
}

fn rules_of(family: u8, names: &[(u16, &str)]) -> Result<u64> {
    let mut rules = 0;
    dump(RULES, family, names, &mut |_| rules += 1)?;
    Ok(rules)
}

/// Elements of a set or map in a table of IPv4.
pub fn set_elements(table: &str, set: &str) -> Result<u64> {
    let mut elements = 0;
    dump(ELEMENTS, NFPROTO_IPV4, &[(TABLE, table), (NAME, set)], &mut |body| {
        let lists = attributes(body).filter(|(kind, _)| *kind == LIST);
        elements += lists.map(|(_, list)| attributes(list).count() as u64).sum::<u64>();
    })?;
    Ok(elements)
}

/// Packets that a named counter of a table of IPv4 has counted; none where there is no such counter.
pub fn counted_packets(table: &str, name: &str) -> Result<Option<u64>> {
    let mut packets = None;
    dump(OBJECTS, NFPROTO_IPV4, &[(TABLE, table)], &mut |body| {
        let of = |wanted: u16| attributes(body).find(|(kind, _)| *kind == wanted).map(|(_, value)| value);
        let is_it = of(NAME).is_some_and(|found| found.strip_suffix(&[0]) == Some(name.as_bytes()));
        let of_counter = of(DATA).and_then(|data| attributes(data).find(|(kind, _)| *kind == PACKETS));
        let number =
            of_counter.and_then(|(_, value)| value.first_chunk().map(|all| u64::from_be_bytes(*all)));
        packets = number.filter(|_| is_it).or(packets);
    })?;
    Ok(packets)
}

/// Asks for all of a kind, and hands the attributes of each message over.
fn dump([get, new]: [u16; 2], family: u8, names: &[(u16, &str)], each: &mut dyn FnMut(&[u8])) -> Result<()> {
    let fail = |call| move |source| Error::new(call, "nftables", source);
    let socket = Socket::new(NETLINK_NETFILTER).map_err(fail("socket"))?;
    socket.connect(&SocketAddr::new(0, 0)).map_err(fail("connect"))?;
    socket.send(&request(get, family, names), 0).map_err(fail("send"))?;
    loop {
        let (bytes, _) = socket.recv_from_full().map_err(fail("recv"))?;
        match digest(&bytes, new, each) {
            End::NotYet => continue,
            End::Reached => return Ok(()),
            // What is not there has nothing.
            End::Failed(libc::ENOENT) => return Ok(()),
            End::Failed(errno) => return Err(fail("recv")(std::io::Error::from_raw_os_error(errno))),
        }
    }
}

/// A header, then `struct nfgenmsg` of version 0, then names.
fn request(get: u16, family: u8, names: &[(u16, &str)]) -> Vec<u8> {
    let flags = (libc::NLM_F_REQUEST | libc::NLM_F_DUMP) as u16;
    let mut bytes = vec![0; 4];
    bytes.extend(get.to_ne_bytes());
    bytes.extend(flags.to_ne_bytes());
    bytes.resize(HEADER, 0);
    bytes.extend([family, 0, 0, 0]);
    for (kind, name) in names {
        // Its own header of four bytes, and the zero behind the name.
        bytes.extend((name.len() as u16 + 5).to_ne_bytes());
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(name.as_bytes());
        bytes.resize((bytes.len() + 1).next_multiple_of(4), 0);
    }
    let length = bytes.len() as u32;
    bytes[..4].copy_from_slice(&length.to_ne_bytes());
    bytes
}

/// Attributes one behind the other, each with its kind; what is cut off ends them.
fn attributes(mut rest: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let length = usize::from(u16::from_ne_bytes(*rest.first_chunk()?));
        let kind = u16::from_ne_bytes([*rest.get(2)?, *rest.get(3)?]) & TYPE_MASK;
        let value = rest.get(4..length)?;
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((kind, value))
    })
}

/// What the last message says.
#[derive(Debug, PartialEq, Eq)]
enum End {
    NotYet,
    Reached,
    Failed(i32),
}

/// Hands the attributes of the messages of one kind in a datagram over.
fn digest(datagram: &[u8], wanted: u16, each: &mut dyn FnMut(&[u8])) -> End {
    let mut rest = datagram;
    while let Some((header, _)) = rest.split_at_checked(HEADER) {
        let length = u32::from_ne_bytes([header[0], header[1], header[2], header[3]]) as usize;
        let kind = u16::from_ne_bytes([header[4], header[5]]);
        let Some(body) = rest.get(HEADER..length) else { break };
        match i32::from(kind) {
            libc::NLMSG_DONE => return End::Reached,
            libc::NLMSG_ERROR => {
                let code = body.first_chunk().map_or(0, |code| i32::from_ne_bytes(*code));
                return if code == 0 { End::Reached } else { End::Failed(code.saturating_neg()) };
            }
            _ if kind == wanted => each(body.get(FAMILY_HEADER..).unwrap_or_default()),
            _ => {}
        }
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    End::NotYet
}

/// The beginning of `struct ipt_getinfo` and `struct ip6t_getinfo`: the same numbers in both.
#[repr(C)]
struct TableInfo {
    name: [u8; 32],
    valid_hooks: u32,
    hook_entry: [u32; 5],
    underflow: [u32; 5],
    entries: u32,
    size: u32,
}

/// Entries of a table of the older iptables: its rules, a policy for each chain and an end mark.
pub fn iptables_entries(table: &str, ipv6: bool) -> Result<u32> {
    const GET_INFO: libc::c_int = 64;
    let (level, address) =
        if ipv6 { (libc::IPPROTO_IPV6, "[::]:0") } else { (libc::IPPROTO_IP, "0.0.0.0:0") };
    let fail = |call, source| Error::new(call, table, source);
    if table.len() >= 32 {
        return Err(fail("getsockopt(IPT_SO_GET_INFO)", std::io::ErrorKind::InvalidInput.into()));
    }
    let socket = UdpSocket::bind(address).map_err(|e| fail("bind", e))?;
    // SAFETY: the structure is plain numbers, for which all zeroes is a value.
    let mut info: TableInfo = unsafe { MaybeUninit::zeroed().assume_init() };
    info.name[..table.len()].copy_from_slice(table.as_bytes());
    let mut length = size_of::<TableInfo>() as libc::socklen_t;
    // SAFETY: the pointer and the length describe `info`; both live through the call.
    let answer =
        unsafe { libc::getsockopt(socket.as_raw_fd(), level, GET_INFO, (&raw mut info).cast(), &mut length) };
    if answer == 0 { Ok(info.entries) } else { Err(Error::last("getsockopt(IPT_SO_GET_INFO)", table)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: u16, body: &[u8]) -> Vec<u8> {
        let mut bytes = ((HEADER + body.len()) as u32).to_ne_bytes().to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.resize(HEADER, 0);
        bytes.extend(body);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    fn count_rules(datagram: &[u8]) -> (u64, End) {
        let mut rules = 0;
        let end = digest(datagram, RULES[1], &mut |_| rules += 1);
        (rules, end)
    }

    #[test]
    fn rules_are_counted_up_to_the_end() {
        let done = message(libc::NLMSG_DONE as u16, &[0; 4]);
        let rules =
            [message(RULES[1], &[0; 5]), message(RULES[1], &[0; 8]), message(1234, &[]), done].concat();
        assert_eq!(count_rules(&rules), (2, End::Reached));
        assert_eq!(count_rules(&rules[..HEADER + 8]), (1, End::NotYet));
    }

    #[test]
    fn a_refusal_carries_its_cause_and_garbage_ends() {
        let refused = message(libc::NLMSG_ERROR as u16, &(-libc::EPERM).to_ne_bytes());
        assert_eq!(count_rules(&refused), (0, End::Failed(libc::EPERM)));
        for garbage in [&[][..], &[0; 40], &[255; 64], &[1; 7]] {
            assert_eq!(count_rules(garbage), (0, End::NotYet));
            assert!(attributes(garbage).count() <= garbage.len() / 4);
        }
    }

    #[test]
    fn names_go_with_their_zero_and_come_back() {
        let asked = request(RULES[0], NFPROTO_IPV4, &[(TABLE, "abc"), (NAME, "defg")]);
        assert_eq!((asked.len(), asked[0] as usize, asked[HEADER]), (40, 40, NFPROTO_IPV4));
        let names: Vec<_> = attributes(&asked[HEADER + FAMILY_HEADER..]).collect();
        assert_eq!(names, [(TABLE, &b"abc\0"[..]), (NAME, &b"defg\0"[..])]);
    }
}
