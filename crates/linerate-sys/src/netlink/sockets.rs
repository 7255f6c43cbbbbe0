//! The TCP connections of a network namespace and what the kernel counts of each: sock_diag(7), as ss(8) reads it.

use super::{ALL, Netlink};
use crate::Result;
use netlink_packet_core::{NetlinkDeserializable, NetlinkHeader, NetlinkSerializable};
use netlink_packet_core::{NlaBuffer, NlasIterator};
use netlink_sys::protocols::NETLINK_SOCK_DIAG;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The request's kind and the attributes of its answers: include/uapi/linux/sock_diag.h and inet_diag.h.
const BY_FAMILY: u16 = 20;
const INFO: u16 = 2;
const CONGESTION_CONTROL: u16 = 4;
const MEMORY: u16 = 7;

/// Established ones alone: `1 << TCP_ESTABLISHED`.
const ESTABLISHED: u32 = 1 << 1;

/// The length of `struct inet_diag_msg`, and of the request, `struct inet_diag_req_v2`.
const FIXED: usize = 72;
const REQUEST: usize = 56;

/// Both limits of a socket's memory in the numbers of `SK_MEMINFO`.
const RECEIVE_BUFFER: usize = 1;
const SEND_BUFFER: usize = 3;

/// The connections of the network namespace in which it was opened.
pub struct SocketTable(Netlink);

/// One connection, as it was when it was read.
#[derive(Debug, Clone)]
pub struct TableSocket {
    /// This end.
    pub local: SocketAddr,
    /// The other end.
    pub remote: SocketAddr,
    /// What no other connection of the kernel has.
    pub cookie: u64,
    /// The number under which `/proc/PID/fd` shows it.
    pub inode: u32,
    /// Bytes that came and were not read yet.
    pub unread: u32,
    /// Bytes that were written and are not acknowledged yet, sent or not.
    pub outstanding: u32,
    /// The congestion control in force.
    pub congestion_control: Option<String>,
    /// The limits of its memory: receive and send buffer, as the kernel counts them.
    pub buffers: Option<[u32; 2]>,
    /// `struct tcp_info`, as long as this kernel's is.
    pub info: Vec<u8>,
}

/// A request or an answer, as its bytes.
#[derive(Clone)]
struct Bytes(Vec<u8>);

impl NetlinkSerializable for Bytes {
    fn message_type(&self) -> u16 {
        BY_FAMILY
    }

    fn buffer_len(&self) -> usize {
        self.0.len()
    }

    fn serialize(&self, buffer: &mut [u8]) {
        buffer.copy_from_slice(&self.0);
    }
}

impl NetlinkDeserializable for Bytes {
    type Error = io::Error;

    fn deserialize(_: &NetlinkHeader, payload: &[u8]) -> io::Result<Self> {
        Ok(Bytes(payload.to_owned()))
    }
}

impl SocketTable {
    /// Opens the table of the calling thread's network namespace.
    pub fn open() -> Result<Self> {
        Netlink::of_family(NETLINK_SOCK_DIAG).map(SocketTable)
    }

    /// Every established TCP connection of this moment, those of IPv4 first.
    pub fn connections(&mut self) -> Result<Vec<TableSocket>> {
        let mut all = Vec::new();
        for family in [libc::AF_INET, libc::AF_INET6] {
            let answer = self.0.ask("SOCK_DIAG_BY_FAMILY", "TCP", ALL, Bytes(request(family as u8)))?;
            all.extend(answer.iter().filter_map(|message| socket(&message.0)));
        }
        Ok(all)
    }
}

/// All of one family; no address is asked for.
fn request(family: u8) -> Vec<u8> {
    let wanted = [INFO, CONGESTION_CONTROL, MEMORY].iter().fold(0, |bits, kind| bits | 1u8 << (kind - 1));
    let mut request = vec![family, libc::IPPROTO_TCP as u8, wanted, 0];
    request.extend(ESTABLISHED.to_ne_bytes());
    request.resize(REQUEST, 0);
    request
}

/// Takes one answer apart; none where it is shorter than any.
fn socket(bytes: &[u8]) -> Option<TableSocket> {
    let (fixed, attributes) = bytes.split_at_checked(FIXED)?;
    let word = |at: usize| Some(u32::from_ne_bytes(fixed.get(at..at + 4)?.try_into().ok()?));
    let address = |at: usize, port: usize| {
        let port = u16::from_be_bytes(fixed.get(port..port + 2)?.try_into().ok()?);
        let ip = match i32::from(fixed[0]) {
            libc::AF_INET => IpAddr::V4(Ipv4Addr::from(<[u8; 4]>::try_from(fixed.get(at..at + 4)?).ok()?)),
            _ => IpAddr::V6(Ipv6Addr::from(<[u8; 16]>::try_from(fixed.get(at..at + 16)?).ok()?)),
        };
        Some(SocketAddr::new(ip.to_canonical(), port))
    };
    let mut found = TableSocket {
        local: address(8, 4)?,
        remote: address(24, 6)?,
        cookie: u64::from(word(44)?) | u64::from(word(48)?) << 32,
        unread: word(56)?,
        outstanding: word(60)?,
        inode: word(68)?,
        congestion_control: None,
        buffers: None,
        info: Vec::new(),
    };
    for attribute in NlasIterator::new(attributes) {
        let Ok(attribute) = attribute else { break };
        keep(&mut found, &attribute);
    }
    Some(found)
}

fn keep(found: &mut TableSocket, attribute: &NlaBuffer<&[u8]>) {
    let value = attribute.value();
    let number = |at: usize| Some(u32::from_ne_bytes(value.get(4 * at..4 * at + 4)?.try_into().ok()?));
    match attribute.kind() {
        INFO => found.info = value.to_owned(),
        CONGESTION_CONTROL => {
            let name = value.split(|byte| *byte == 0).next().unwrap_or_default();
            found.congestion_control = Some(String::from_utf8_lossy(name).into_owned());
        }
        MEMORY => {
            found.buffers = number(RECEIVE_BUFFER).zip(number(SEND_BUFFER)).map(|(one, other)| [one, other]);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn a_connection_is_listed_with_what_is_unread() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(address) else { continue };
            let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (server, _) = listener.accept().unwrap();
            client.write_all(&[1; 777]).unwrap();
            let mut table = SocketTable::open().unwrap();
            let of = |listed: &[TableSocket], end: &TcpStream| {
                let is_it = |one: &&TableSocket| {
                    (one.local, one.remote) == (end.local_addr().unwrap(), end.peer_addr().unwrap())
                };
                listed.iter().find(is_it).cloned().unwrap()
            };
            let mut listed = table.connections().unwrap();
            while of(&listed, &server).unread < 777 {
                listed = table.connections().unwrap();
            }
            let (here, there) = (of(&listed, &client), of(&listed, &server));
            assert_ne!(here.cookie, there.cookie);
            assert!(here.inode > 0 && here.info.len() >= 104 && here.buffers.is_some(), "{here:?}");
            assert!(here.congestion_control.is_some_and(|name| !name.is_empty()));
            assert_eq!(there.unread, 777);
        }
    }

    #[test]
    fn an_answer_that_is_cut_short_is_none() {
        let whole = vec![2; FIXED];
        assert!(socket(&whole).is_some());
        assert!((0..FIXED).all(|length| socket(&whole[..length]).is_none()));
        let with_half_an_attribute = [&whole[..], &[200, 0, 2, 0, 1]].concat();
        assert!(socket(&with_half_an_attribute).is_some_and(|one| one.info.is_empty()));
    }
}
