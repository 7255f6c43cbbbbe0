//! Many datagrams a call, or a packet: what is sent waits for others, what came is handed out one by one.
//!
//! Datagrams stay in the engine's own buffers, as an application's would that makes and uses them there: only
//! their tags and the times of their sending are moved. All have the same content else, that of a block's buffer.

use crate::Result;
use crate::pattern::{Kernel, Lossy, SILENCE, STAMPED_BYTES, poll};
use crate::plan::Block;
use crate::transport::socket::half::engine_missing;
use crate::transport::socket::lossy::Ends;
use linerate_sys::batch::{Carried, Receiver, Sender, Sharing, can_segment, copy_head, receive_joined};
use linerate_sys::socket;
use std::io;
use std::net::UdpSocket;
use std::time::Duration;

/// Whether the kernel cuts and joins packets of this socket; it joins them from here on.
pub fn can_share_packets(port: &UdpSocket) -> Result<()> {
    let able = can_segment(port).and_then(|()| receive_joined(port));
    able.map_err(|error| engine_missing(super::ENGINE, super::SEGMENTS, error.into()))
}

/// A flow whose datagrams share calls or packets.
pub struct Shared<'s, const WAITS: bool> {
    ends: Ends<'s, UdpSocket>,
    sharing: Sharing,
    sender: Sender,
    receiver: Receiver,
    /// What was told of those that a block before had.
    told: Carried,
}

impl<'s, const WAITS: bool> Shared<'s, WAITS> {
    /// Readies both directions, or says what is missing.
    pub fn new(ends: Ends<'s, UdpSocket>, sharing: Sharing) -> Result<Self> {
        let port = &ends.flow.port;
        if sharing == Sharing::Packets {
            can_share_packets(port)?;
        }
        let (sender, receiver) = (Sender::new(port, sharing, 1)?, Receiver::new(sharing, 1)?);
        Ok(Shared { ends, sharing, sender, receiver, told: Carried::default() })
    }

    fn carried(&self) -> Carried {
        let (sent, came) = (self.sender.carried(), self.receiver.carried());
        Carried {
            calls: sent.calls + came.calls,
            packets: sent.packets + came.packets,
            datagrams: sent.datagrams + came.datagrams,
        }
    }

    #[inline]
    fn next<const MAY_WAIT: bool>(&mut self, room: &mut [u8]) -> io::Result<Option<usize>> {
        let Some(datagram) = self.receiver.next::<MAY_WAIT>(&self.ends.flow.port)? else { return Ok(None) };
        let len = datagram.len().min(room.len());
        let tag = len.min(STAMPED_BYTES);
        copy_head(&mut room[..tag], &datagram[..tag]);
        Ok(Some(len))
    }
}

impl<const WAITS: bool> Lossy for Shared<'_, WAITS> {
    /// The buffers of a block before go, and what is late in them.
    fn begin(&mut self, block: &Block) -> io::Result<()> {
        let len = block.message_bytes as usize;
        let port = &self.ends.flow.port;
        let failed = |error: linerate_sys::Error| error.source;
        self.sender = Sender::new(port, self.sharing, len).map_err(failed)?;
        self.receiver = Receiver::new(self.sharing, len).map_err(failed)?;
        self.told = Carried::default();
        Ok(())
    }

    fn account(&mut self, kernel: &mut Kernel) -> io::Result<()> {
        let carried = self.carried();
        for (name, now, before) in [
            ("segments.calls", carried.calls, self.told.calls),
            ("segments.packets", carried.packets, self.told.packets),
            ("segments.datagrams", carried.datagrams, self.told.datagrams),
        ] {
            *kernel.entry(name.into()).or_default() += now - before;
        }
        self.told = carried;
        Ok(())
    }

    #[inline]
    fn begins_packet(&self) -> bool {
        self.sender.begins_packet()
    }

    #[inline]
    fn began_packet(&self) -> bool {
        self.receiver.began_packet()
    }

    #[inline]
    fn send(&mut self, datagram: &[u8]) -> io::Result<()> {
        if datagram.is_empty() {
            // The nudge goes alone and at once.
            self.flush()?;
            while !socket::send_datagram(&self.ends.flow.port, datagram)? {}
            return Ok(());
        }
        self.sender.put(&datagram[..datagram.len().min(STAMPED_BYTES)]);
        if self.sender.is_full() { self.flush() } else { Ok(()) }
    }

    #[inline]
    fn flush(&mut self) -> io::Result<()> {
        while !self.sender.is_empty() {
            let port = &self.ends.flow.port;
            if WAITS {
                self.sender.send::<WAITS>(port)?;
            } else {
                poll(self.ends.patience, || self.sender.send::<WAITS>(port).map(usize::from))?;
            }
        }
        Ok(())
    }

    #[inline]
    fn receive(&mut self, room: &mut [u8]) -> io::Result<Option<usize>> {
        if WAITS {
            return self.next::<true>(room);
        }
        match poll(SILENCE, || Ok(self.next::<false>(room)?.map_or(0, |len| len + 1))) {
            Err(error) if error.kind() == io::ErrorKind::TimedOut => Ok(None),
            came => Ok(Some(came? - 1)),
        }
    }

    fn receive_now(&mut self, room: &mut [u8]) -> io::Result<Option<usize>> {
        self.next::<false>(room)
    }

    fn tell(&mut self, number: u64) -> io::Result<()> {
        self.ends.tell(number)
    }

    fn hear(&mut self, limit: Duration) -> io::Result<Option<u64>> {
        self.ends.hear(limit)
    }

    fn check(&self) -> io::Result<()> {
        self.ends.check()
    }

    fn patience(&self) -> Duration {
        self.ends.patience
    }
}
