//! Connections of TCP for what is no session of messages: they meet as those of a session do, at the same ports, by the same
//! secret, with the same knobs. And ports of datagrams beside them.

use super::connection::meeting::Meeting;
use super::socket::datagram;
use super::{Offer, Spec};
use crate::Result;
use std::net::{TcpStream, UdpSocket};

/// An end that is about to meet the other one.
pub struct Rendezvous(Meeting<TcpStream>);

impl Rendezvous {
    /// Prepares this end: a passive one listens when this returns.
    pub fn offer(spec: &Spec) -> Result<(Rendezvous, Offer)> {
        let (meeting, offer) = Meeting::offer(spec)?;
        Ok((Rendezvous(meeting), offer))
    }

    /// Meets the other end: as many connections as were asked for, in their order. Nobody listens afterwards.
    pub fn meet(self, other: &Offer) -> Result<Vec<TcpStream>> {
        self.0.meet(other)
    }
}

/// A port of datagrams beside a connection that has met: bound and connected at both of its ends.
pub fn port_beside(spec: &Spec, connection: &TcpStream) -> Result<UdpSocket> {
    datagram::connect(spec, connection)
}
