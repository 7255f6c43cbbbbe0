//! How many packet filter rules stand in the way, in the caller's network namespace.
//!
//! Asking can make the kernel load the filter itself, so ask only where it is known to be there already.
//! Needs `CAP_NET_ADMIN`.

use crate::{Error, Result};
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_NETFILTER};
use std::mem::MaybeUninit;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;

/// `NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETRULE`.
const GET_RULES: u16 = 10 << 8 | 7;
/// `NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_NEWRULE`.
const RULE: u16 = 10 << 8 | 6;
const HEADER: usize = 16;

/// Rules of nftables, in all tables of all families.
pub fn nftables_rules() -> Result<u64> {
    let fail = |call| move |source| Error::new(call, "nftables", source);
    let socket = Socket::new(NETLINK_NETFILTER).map_err(fail("socket"))?;
    socket.connect(&SocketAddr::new(0, 0)).map_err(fail("connect"))?;
    socket.send(&request(), 0).map_err(fail("send"))?;
    let mut rules = 0;
    loop {
        let (bytes, _) = socket.recv_from_full().map_err(fail("recv"))?;
        let (count, end) = count_rules(&bytes);
        rules += count;
        match end {
            End::NotYet => continue,
            End::Reached => return Ok(rules),
            End::Failed(errno) => return Err(fail("recv")(std::io::Error::from_raw_os_error(errno))),
        }
    }
}

/// A header, then `struct nfgenmsg`: any family, version 0, no resource.
fn request() -> Vec<u8> {
    let flags = (libc::NLM_F_REQUEST | libc::NLM_F_DUMP) as u16;
    let length = HEADER as u32 + 4;
    let mut bytes = length.to_ne_bytes().to_vec();
    bytes.extend(GET_RULES.to_ne_bytes());
    bytes.extend(flags.to_ne_bytes());
    bytes.resize(length as usize, 0);
    bytes
}

/// What the last message says.
#[derive(Debug, PartialEq, Eq)]
enum End {
    NotYet,
    Reached,
    Failed(i32),
}

/// Counts the rules among the messages of one datagram.
fn count_rules(datagram: &[u8]) -> (u64, End) {
    let mut rules = 0;
    let mut rest = datagram;
    while let Some((header, _)) = rest.split_at_checked(HEADER) {
        let length = u32::from_ne_bytes([header[0], header[1], header[2], header[3]]) as usize;
        let kind = u16::from_ne_bytes([header[4], header[5]]);
        let Some(body) = rest.get(HEADER..length) else { break };
        match i32::from(kind) {
            libc::NLMSG_DONE => return (rules, End::Reached),
            libc::NLMSG_ERROR => {
                let code = body.first_chunk().map_or(0, |code| i32::from_ne_bytes(*code));
                return (rules, if code == 0 { End::Reached } else { End::Failed(code.saturating_neg()) });
            }
            _ => rules += u64::from(kind == RULE),
        }
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    (rules, End::NotYet)
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

    #[test]
    fn rules_are_counted_up_to_the_end() {
        let done = message(libc::NLMSG_DONE as u16, &[0; 4]);
        let rules = [message(RULE, &[0; 5]), message(RULE, &[0; 8]), message(1234, &[]), done].concat();
        assert_eq!(count_rules(&rules), (2, End::Reached));
        assert_eq!(count_rules(&rules[..HEADER + 8]), (1, End::NotYet));
    }

    #[test]
    fn a_refusal_carries_its_cause_and_garbage_ends() {
        let refused = message(libc::NLMSG_ERROR as u16, &(-libc::EPERM).to_ne_bytes());
        assert_eq!(count_rules(&refused), (0, End::Failed(libc::EPERM)));
        for garbage in [&[][..], &[0; 40], &[255; 64], &[1; 7]] {
            assert_eq!(count_rules(garbage), (0, End::NotYet));
        }
    }
}
