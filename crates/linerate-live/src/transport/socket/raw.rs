//! Raw Ethernet frames on the interface towards the peer: what the layer below IP carries.
//!
//! A message is a frame from the destination's address on, without the checksum of four bytes: the frame sizes
//! of RFC 2544 (64 to 1518) are messages of 60 to 1514 bytes. Frames go and come in batches, past the queueing
//! discipline. Each end tells the other its Ethernet address and a key of 64 bits on the stream beside, whose
//! secret was presented before; the kernel passes frames with the own key only.
//!
//! A frame: both addresses, the EtherType, the receiver's key, what it is, the message's tag, then filling.

use super::datagram::{Datagrams, Ports};
use super::kernel_stream::lack;
use super::lossy::{Connected, Port};
use super::unix::granted_buffers;
use crate::pattern::STAMPED_BYTES;
use crate::record::{Granted, UnavailableTransport};
use crate::transport::{Session, Spec};
use crate::{Error, Result};
use linerate_sys::frame_socket::{BATCH, ETHERNET, Frame, FrameSocket, LONGEST};
use linerate_sys::{link, probe, socket};
use std::io;
use std::net::{IpAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::OnceLock;
use std::time::Duration;

/// The transport.
pub const RAW: Ports<Frames> = Ports::new();

/// IEEE 802, local experimental EtherType 1.
const TYPE: u16 = 0x88b5;

/// Where the parts of a frame begin.
const KEY: usize = ETHERNET;
const KIND: usize = KEY + 8;
const TAG: usize = KIND + 2;

/// The shortest frame, which is what a nudge has.
const LEAST: usize = 60;

/// What a frame is.
const MESSAGE: u8 = 0;
const NUDGE: u8 = 1;

/// Room that is asked for, as much of it as the kernel grants.
const RECEIVE_BUFFER: usize = 8 << 20;

/// One end's frames.
pub struct Frames {
    socket: FrameSocket,
    interface: String,
    /// Ethernet address and key of the peer, once they were told.
    peer: OnceLock<([u8; 6], u64)>,
    /// Frames that wait for others to go with them; how many there are, whose headers are written.
    out: Vec<Frame>,
    queued: usize,
    /// Frames that came together; those that have not been given out yet.
    came: Vec<Frame>,
    left: std::ops::Range<usize>,
}

impl Datagrams for Frames {
    const NAME: &'static str = "raw";
    type Beside = TcpStream;

    fn lacks() -> Option<UnavailableTransport> {
        let error = probe::raw_frames().err()?;
        Some(lack(Self::NAME, "raw frames", &error, "run as root, or give the program CAP_NET_RAW"))
    }

    /// On the interface that has the stream's own address.
    fn bind(spec: &Spec, beside: &TcpStream) -> Result<(Frames, String)> {
        let own = beside.local_addr().map_err(|e| Error::io("getsockname", "stream", e))?.ip();
        let (index, interface) = interface_of(own.to_canonical())?;
        let key = rand::random();
        let socket = FrameSocket::open(index, TYPE, key)?;
        socket::raise_receive_buffer(&socket, RECEIVE_BUFFER);
        super::unix::set_buffers(&socket, spec);
        let address = u64::from_be_bytes(padded(socket.hardware_address()?));
        let frames = |count| vec![Frame::default(); count];
        let (out, came) = (frames(BATCH), frames(BATCH));
        let peer = OnceLock::new();
        let ports = Frames { socket, interface, peer, out, queued: 0, came, left: 0..0 };
        Ok((ports, format!("{address:012x} {key:016x}")))
    }

    fn connect(&self, _spec: &Spec, _beside: &TcpStream, [_, name]: [&str; 2]) -> Result<()> {
        let peer = parse_address(name).ok_or_else(|| Error::peer("the other end", "told no address", ""))?;
        let _ = self.peer.set(peer);
        Ok(())
    }

    fn session(spec: Spec, mut flows: Vec<(Frames, TcpStream)>) -> Result<Box<dyn Session>> {
        flows.iter_mut().for_each(|(frames, _)| frames.write_headers());
        Ok(Connected::session(spec, flows))
    }
}

/// The interface with this address.
fn interface_of(address: IpAddr) -> Result<(u32, String)> {
    let missing = || Error::unavailable(format!("no interface has {address}"), "");
    let found = link::with_address(address)?.ok_or_else(missing)?;
    match found.mtu {
        Some(mtu) if (mtu as usize) < LONGEST - ETHERNET => Err(Error::unavailable(
            format!("{} carries packets of at most {mtu} B", found.name),
            "raw frames are measured on an MTU of 1500 B or more",
        )),
        _ => Ok((found.index, found.name)),
    }
}

fn padded([a, b, c, d, e, f]: [u8; 6]) -> [u8; 8] {
    [0, 0, a, b, c, d, e, f]
}

/// The Ethernet address and the key in what the other end told.
fn parse_address(name: &str) -> Option<([u8; 6], u64)> {
    let (address, key) = name.split_once(' ')?;
    if (address.len(), key.len()) != (12, 16) {
        return None;
    }
    let [_, _, a, b, c, d, e, f] = u64::from_str_radix(address, 16).ok()?.to_be_bytes();
    Some(([a, b, c, d, e, f], u64::from_str_radix(key, 16).ok()?))
}

/// What a frame says: whether it is a nudge, and its message's tag. The kernel has looked at its type and key.
fn parse_frame(frame: &[u8]) -> Option<(bool, [u8; STAMPED_BYTES])> {
    let tag = frame.get(TAG..)?.first_chunk()?;
    match *frame.get(KIND)? {
        MESSAGE => Some((false, *tag)),
        NUDGE => Some((true, *tag)),
        _ => None,
    }
}

impl AsFd for Frames {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Frames {
    /// What stays the same from frame to frame is written once.
    fn write_headers(&mut self) {
        let Some((address, key)) = self.peer.get() else { return };
        // An interface without an address, such as loopback, has zeroes.
        let own = self.socket.hardware_address().unwrap_or_default();
        for frame in &mut self.out {
            frame.bytes[..6].copy_from_slice(address);
            frame.bytes[6..12].copy_from_slice(&own);
            frame.bytes[12..ETHERNET].copy_from_slice(&TYPE.to_be_bytes());
            frame.bytes[KEY..KIND].copy_from_slice(&key.to_be_bytes());
        }
    }

    /// Sends what is queued. What the interface has no room for is lost, as on the way.
    fn go(&mut self, waits: bool) -> io::Result<()> {
        let mut gone = 0;
        while gone < self.queued {
            match self.socket.send(&mut self.out[gone..self.queued], waits) {
                Ok(count) => gone += count,
                Err(error) if error.raw_os_error() == Some(NO_BUFFERS) => gone += 1,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock && !waits => break,
                Err(error) => {
                    self.queued = 0;
                    return Err(error);
                }
            }
        }
        // The headers are the same in all, so that those which are left may change places.
        self.out.rotate_left(gone);
        self.queued -= gone;
        Ok(())
    }

    /// Puts a message with the others, which go together when there are enough of them; says whether it could.
    #[inline]
    fn put(&mut self, message: &[u8], waits: bool) -> io::Result<bool> {
        if self.queued == self.out.len() {
            self.go(waits)?;
            if self.queued == self.out.len() {
                return Ok(false);
            }
        }
        let frame = &mut self.out[self.queued];
        frame.length = message.len().clamp(LEAST, LONGEST);
        frame.bytes[KIND] = if message.is_empty() { NUDGE } else { MESSAGE };
        if let Some(tag) = message.first_chunk::<STAMPED_BYTES>() {
            frame.bytes[TAG..TAG + STAMPED_BYTES].copy_from_slice(tag);
        }
        self.queued += 1;
        if message.is_empty() {
            self.go(true)?;
        }
        Ok(true)
    }

    /// Gives out the next frame that came, as far as the message is looked at.
    #[inline]
    fn take(&mut self, room: &mut [u8], waits: bool) -> io::Result<Option<usize>> {
        loop {
            let Some(at) = self.left.next() else {
                self.go(true)?;
                let count = self.socket.receive(&mut self.came, waits)?;
                self.left = 0..count;
                continue;
            };
            let frame = &self.came[at];
            match parse_frame(&frame.bytes[..frame.length]) {
                Some((true, _)) => return Ok(Some(0)),
                Some((false, tag)) => {
                    let kept = tag.len().min(room.len());
                    room[..kept].copy_from_slice(&tag[..kept]);
                    return Ok(Some(frame.length.min(room.len())));
                }
                None => {}
            }
        }
    }
}

/// `ENOBUFS`: the interface has no room.
const NO_BUFFERS: i32 = 105;

impl Port for Frames {
    fn granted(&self, spec: &Spec) -> Vec<Granted> {
        granted_buffers(&self.socket, spec)
    }

    fn endpoints(&self) -> Option<String> {
        Some(self.interface.clone())
    }

    fn limit_waits(&self, receive: Duration, send: Duration) -> io::Result<()> {
        self.socket.limit_waits(receive, send)
    }

    #[inline]
    fn send_now(&mut self, message: &[u8]) -> io::Result<bool> {
        self.put(message, false)
    }

    #[inline]
    fn send_waiting(&mut self, message: &[u8]) -> io::Result<bool> {
        self.put(message, true)
    }

    #[inline]
    fn receive_now(&mut self, room: &mut [u8]) -> io::Result<Option<usize>> {
        match self.take(room, false) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            answer => answer,
        }
    }

    #[inline]
    fn receive_waiting(&mut self, room: &mut [u8]) -> io::Result<Option<usize>> {
        match self.take(room, true) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(None),
            answer => answer,
        }
    }

    fn wait(&self, limit: Duration) -> io::Result<()> {
        if !self.left.is_empty() {
            return Ok(());
        }
        socket::wait_readable(&self.socket, limit).map(drop).map_err(|error| error.source)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.go(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_frame_is_a_message_a_bell_or_nothing(
            bytes in proptest::collection::vec(any::<u8>(), 0..80),
        ) {
            let is_whole = bytes.len() >= TAG + STAMPED_BYTES && bytes[KIND] <= NUDGE;
            prop_assert_eq!(parse_frame(&bytes).is_some(), is_whole);
        }

        #[test]
        fn any_text_is_an_address_or_nothing(name in "[0-9a-f +]{0,40}") {
            let _ = parse_address(&name);
        }
    }

    #[test]
    fn an_offer_is_an_address_and_a_key() {
        let [address, key] = [[2, 0, 0, 0, 0, 0xab], [0; 6]];
        assert_eq!(parse_address("0200000000ab 00000000000000ff"), Some((address, 255)));
        assert_ne!(Some(key), parse_address("0200000000ab 00000000000000ff").map(|(address, _)| address));
        for garbled in ["", " ", "0200000000ab", "0200000000ab ff", "+200000000ab 00000000000000fg", "a b"] {
            assert_eq!(parse_address(garbled), None, "{garbled}");
        }
    }

    #[test]
    fn short_and_unknown_frames_say_nothing() {
        let mut frame = [0; LEAST];
        assert_eq!(parse_frame(&frame), Some((false, [0; STAMPED_BYTES])));
        frame[KIND] = NUDGE;
        assert!(parse_frame(&frame).unwrap().0);
        frame[KIND] = 2;
        assert_eq!(parse_frame(&frame), None);
        assert!((0..TAG + STAMPED_BYTES).all(|length| parse_frame(&[0; LEAST][..length]).is_none()));
    }
}
