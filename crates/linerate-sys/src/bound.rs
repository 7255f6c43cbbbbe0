//! Sockets that are bound to an interface, whatever the route says (socket(7), SO_BINDTODEVICE).

use crate::{Error, Result};
use socket2::{Domain, Protocol, SockAddr, SockRef, Socket, Type};
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsFd;

/// The call that binds a socket to an interface, as errors name it.
pub const BIND_TO_DEVICE: &str = "setsockopt(SO_BINDTODEVICE)";

/// Binds a socket to an interface.
pub(crate) fn bind_to(socket: &Socket, interface: &str) -> Result<()> {
    let bound = socket.bind_device(Some(interface.as_bytes()));
    bound.map_err(|e| Error::new(BIND_TO_DEVICE, interface, e))
}

/// The interface that a socket is bound to; none where there is none.
pub fn interface(socket: &impl AsFd) -> Result<Option<String>> {
    let name = SockRef::from(socket).device();
    let name = name.map_err(|e| Error::new("getsockopt(SO_BINDTODEVICE)", "socket", e))?;
    Ok(name.map(|name| String::from_utf8_lossy(&name).trim_end_matches('\0').to_owned()))
}

/// Binds a socket. A port of the user's choice may be that of connections of before, which do not listen: they and
/// what is bound anew are told apart by their other ends.
pub(crate) fn bind(socket: &Socket, address: SocketAddr) -> io::Result<()> {
    if address.port() != 0 {
        socket.set_reuse_address(true)?;
    }
    socket.bind(&SockAddr::from(address))
}

/// A UDP socket at this address, and bound to this interface if there is one.
pub fn udp_at(address: SocketAddr, interface: Option<&str>) -> Result<UdpSocket> {
    let socket = Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP));
    let socket = socket.map_err(|e| Error::new("socket", "UDP", e))?;
    interface.map_or(Ok(()), |name| bind_to(&socket, name))?;
    bind(&socket, address).map_err(|e| Error::new("bind", address.to_string(), e))?;
    Ok(socket.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_socket_says_to_what() {
        let socket = udp_at("127.0.0.1:0".parse().unwrap(), Some("lo")).unwrap();
        assert_eq!(interface(&socket).unwrap().as_deref(), Some("lo"));
        let free = UdpSocket::bind("127.0.0.1:0").unwrap();
        assert_eq!(interface(&free).unwrap(), None);
        let error = udp_at("127.0.0.1:0".parse().unwrap(), Some("none-such")).unwrap_err();
        assert_eq!(error.call, BIND_TO_DEVICE);
    }
}
