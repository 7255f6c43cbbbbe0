//! Connections of TCP for what is no session of messages: they meet as those of a session do, at the same ports, by the same
//! secret, with the same knobs; and where it is asked for, sealed as those of TLS are. And ports of datagrams
//! beside them.

use super::connection::meeting::Meeting;
use super::encrypted::certificate::Identity;
use super::encrypted::seal::Seal;
use super::socket::datagram;
use super::{Offer, Spec};
use crate::Result;
use std::net::{TcpStream, UdpSocket};

/// An end that is about to meet the other one.
pub struct Rendezvous {
    meeting: Meeting<TcpStream>,
    sealing: Option<Sealing>,
}

/// What this end seals by.
struct Sealing {
    spec: Spec,
    cipher: String,
    /// Of the end that listens.
    identity: Option<Identity>,
}

impl Rendezvous {
    /// Prepares this end: a passive one listens when this returns.
    pub fn offer(spec: &Spec) -> Result<(Rendezvous, Offer)> {
        let (meeting, offer) = Meeting::offer(spec)?;
        Ok((Rendezvous { meeting, sealing: None }, offer))
    }

    /// The same; what crosses is sealed by TLS 1.3 with this cipher, and the offer has the fingerprint of who may be met.
    pub fn offer_sealed(spec: &Spec, cipher: &str) -> Result<(Rendezvous, Offer)> {
        let identity = if spec.passive { Some(Identity::new()?) } else { None };
        let (meeting, offer) = Meeting::offer(spec)?;
        let offer = offer.with_certificate(identity.as_ref());
        let sealing = Some(Sealing { spec: spec.clone(), cipher: cipher.to_owned(), identity });
        Ok((Rendezvous { meeting, sealing }, offer))
    }

    /// Meets the other end: as many connections as were asked for, in their order. Nobody listens afterwards.
    pub fn meet(self, other: &Offer) -> Result<Vec<(TcpStream, Option<Seal>)>> {
        let streams = self.meeting.meet(other)?.into_iter();
        let Some(sealing) = &self.sealing else {
            return Ok(streams.map(|stream| (stream, None)).collect());
        };
        streams
            .map(|stream| {
                let mut seal = match &sealing.identity {
                    Some(identity) => Seal::server(identity, &sealing.cipher)?,
                    None => Seal::client(&sealing.cipher, other.certificate()?)?,
                };
                seal.shake_hands(&stream, sealing.spec.patience())?;
                Ok((stream, Some(seal)))
            })
            .collect()
    }
}

/// A port of datagrams beside a connection that has met: bound and connected at both of its ends.
pub fn port_beside(spec: &Spec, connection: &TcpStream) -> Result<UdpSocket> {
    datagram::connect(spec, connection)
}
