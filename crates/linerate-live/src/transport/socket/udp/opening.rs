//! The first datagram of a flow: it goes from the end that connects, so that firewalls and translators of addresses on
//! the way let the answers pass, and tells by a secret whose it is, also where a port serves many flows.

use crate::transport::connection::place::{Protocol, refusal};
use crate::{Error, Result};
use linerate_sys::socket;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

/// After how long it is sent again, which is doubled each time.
const AGAIN: Duration = Duration::from_millis(100);

/// Room for it, and for one byte more that would tell another one apart.
const ROOM: usize = 33;

/// Sends it until the other end says on the stream that it came. The socket is connected.
pub fn send_first(
    port: &UdpSocket,
    beside: &TcpStream,
    place: SocketAddr,
    secret: &[u8],
    patience: Duration,
) -> Result<()> {
    let (begun, mut wait) = (Instant::now(), AGAIN);
    let refused = |e: io::Error| {
        refusal(place, Protocol::Udp, e.kind()).unwrap_or_else(|| Error::io("send", place.to_string(), e))
    };
    while begun.elapsed() < patience {
        port.send(secret).map_err(refused)?;
        if socket::wait_readable(beside, wait)? {
            return Ok(());
        }
        wait = (wait * 2).min(patience.saturating_sub(begun.elapsed()));
    }
    Err(refused(ErrorKind::TimedOut.into()))
}

/// Waits for it, and connects to where it came from. Whatever else comes is a stranger's.
pub fn await_first(
    port: &UdpSocket,
    beside: &TcpStream,
    peer: SocketAddr,
    secret: &[u8],
    patience: Duration,
) -> Result<()> {
    let begun = Instant::now();
    let failed = |call| move |e| Error::io(call, "UDP socket", e);
    let gone = || Error::hung_up("the other end", "sent no datagram that came through");
    port.set_nonblocking(true).map_err(failed("fcntl"))?;
    loop {
        let left = patience.saturating_sub(begun.elapsed());
        let is_told = socket::wait_for(port, false, Some(beside), left).map_err(failed("poll"))?;
        let mut room = [0; ROOM];
        match port.recv_from(&mut room) {
            Ok((len, from)) if from.ip() == peer.ip() && room[..len] == *secret => {
                port.set_nonblocking(false).map_err(failed("fcntl"))?;
                return port.connect(from).map_err(failed("connect"));
            }
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                // It says nothing before it has heard that the datagram came, unless it goes.
                if is_told || left.is_zero() {
                    return Err(gone());
                }
            }
            // What an earlier datagram was answered with.
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => {}
            Err(error) => return Err(failed("recvfrom")(error)),
        }
        if begun.elapsed() > patience {
            return Err(gone());
        }
    }
}
