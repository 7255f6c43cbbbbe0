//! Netlink, without an async runtime: links, addresses, routes, queueing disciplines, and the table of connections.
//!
//! A [`Netlink`] socket speaks for the network namespace in which it was opened, wherever its owner
//! goes later: a process that makes many namespaces keeps one socket for each and needs no way back.

mod attribute;
mod link;
mod netem;
mod qdisc;
mod route;
mod sockets;
mod tunnel;

pub use link::{Counters, Link, Port};
pub use netem::{Netem, NetemLoss, netem_probability};
pub use qdisc::{Qdisc, Root, TokenBucket};
pub use sockets::{SocketTable, TableSocket};

use crate::{Error, Result};
use netlink_packet_core::{NLM_F_ACK, NLM_F_CREATE, NLM_F_DUMP, NLM_F_DUMP_INTR, NLM_F_EXCL};
use netlink_packet_core::{NLM_F_REPLACE, NLM_F_REQUEST};
use netlink_packet_core::{
    NetlinkDeserializable, NetlinkHeader, NetlinkMessage, NetlinkPayload, NetlinkSerializable,
};
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};
use std::io;

/// Change something that exists, or read one object.
const ONE: u16 = NLM_F_ACK;

/// Make it, and fail where it exists.
const NEW: u16 = NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL;

/// Put it in the place of the one that exists.
const REPLACE: u16 = NLM_F_ACK | NLM_F_REPLACE;

/// Read the whole table.
const ALL: u16 = NLM_F_DUMP;

/// How often a table is read again that changed while it was read.
const READINGS: u32 = 16;

/// A socket to one family of netlink; what is asked here is of the routing half of the kernel.
pub struct Netlink {
    socket: Socket,
    sequence: u32,
}

/// What the kernel answered to one request, so far.
struct Answer<M> {
    messages: Vec<M>,
    complete: bool,
    interrupted: bool,
}

impl Netlink {
    /// Opens a socket in the network namespace of the calling thread.
    pub fn open() -> Result<Self> {
        Self::of_family(NETLINK_ROUTE)
    }

    fn of_family(family: isize) -> Result<Self> {
        let fail = |call| move |source| Error::new(call, "netlink", source);
        let mut socket = Socket::new(family).map_err(fail("socket"))?;
        socket.bind_auto().map_err(fail("bind"))?;
        socket.connect(&SocketAddr::new(0, 0)).map_err(fail("connect"))?;
        Ok(Netlink { socket, sequence: 0 })
    }

    /// Sends `message`, named `call` in rtnetlink(7), and returns all that the kernel answers.
    fn ask<M: NetlinkSerializable + NetlinkDeserializable + Clone>(
        &mut self,
        call: &'static str,
        object: &str,
        flags: u16,
        message: M,
    ) -> Result<Vec<M>> {
        for _ in 0..READINGS {
            let fail = |source| Error::new(call, object, source);
            let answer = self.exchange(flags, message.clone()).map_err(fail)?;
            if !answer.interrupted {
                return Ok(answer.messages);
            }
        }
        Err(Error::new(call, object, io::Error::other("the table never stopped changing")))
    }

    /// One request and its answer.
    fn exchange<M: NetlinkSerializable + NetlinkDeserializable>(
        &mut self,
        flags: u16,
        message: M,
    ) -> io::Result<Answer<M>> {
        self.sequence = self.sequence.wrapping_add(1);
        let mut header = NetlinkHeader::default();
        header.flags = NLM_F_REQUEST | flags;
        header.sequence_number = self.sequence;
        let mut request = NetlinkMessage::new(header, NetlinkPayload::InnerMessage(message));
        request.finalize();
        let mut bytes = vec![0; request.buffer_len()];
        request.serialize(&mut bytes);
        self.socket.send(&bytes, 0)?;

        let mut answer = Answer { messages: Vec::new(), complete: false, interrupted: false };
        while !answer.complete {
            let (datagram, _) = self.socket.recv_from_full()?;
            self.digest(&datagram, &mut answer)?;
        }
        Ok(answer)
    }

    /// Takes one datagram apart. It ends the answer if it holds an acknowledgement or the end of a table.
    fn digest<M: NetlinkDeserializable>(&self, mut rest: &[u8], answer: &mut Answer<M>) -> io::Result<()> {
        while !rest.is_empty() {
            let message = NetlinkMessage::<M>::deserialize(rest)
                .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.to_string()))?;
            // Messages are aligned to four bytes.
            let length = (message.header.length as usize).next_multiple_of(4);
            rest = rest.get(length..).unwrap_or_default();
            if message.header.sequence_number != self.sequence {
                continue;
            }
            answer.interrupted |= message.header.flags & NLM_F_DUMP_INTR != 0;
            let code = match message.payload {
                NetlinkPayload::InnerMessage(inner) => {
                    answer.messages.push(inner);
                    continue;
                }
                NetlinkPayload::Error(error) => error.raw_code(),
                NetlinkPayload::Done(done) => done.code,
                _ => continue,
            };
            answer.complete = true;
            // The kernel sends error numbers negated, and 0 for success.
            if code != 0 {
                return Err(io::Error::from_raw_os_error(code.abs()));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_interface_is_listed_and_found() {
        let mut netlink = Netlink::open().unwrap();
        let listed = netlink.links().unwrap().into_iter().find(|link| link.index == 1).unwrap();
        let found = netlink.link(&listed.name).unwrap();
        assert_eq!((found.index, found.mtu, found.name), (1, listed.mtu, listed.name));
    }

    #[test]
    fn a_refusal_names_call_object_and_reason() {
        let error = Netlink::open().unwrap().link("no-such-link").unwrap_err();
        assert_eq!(error.to_string(), "RTM_GETLINK no-such-link");
        assert_eq!(error.source.raw_os_error(), Some(libc::ENODEV));
    }
}
