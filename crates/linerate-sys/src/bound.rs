//! Sockets that are bound to an interface, whatever the route says (socket(7), SO_BINDTODEVICE).

use crate::{Error, Result};
use socket2::{Domain, Protocol, SockAddr, SockRef, Socket, Type};
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

/// A UDP socket at this address, bound to this interface.
pub fn udp_at(address: SocketAddr, interface: &str) -> Result<UdpSocket> {
    let socket = Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP));
    let socket = socket.map_err(|e| Error::new("socket", "UDP", e))?;
    bind_to(&socket, interface)?;
    socket.bind(&SockAddr::from(address)).map_err(|e| Error::new("bind", address.to_string(), e))?;
    Ok(socket.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_socket_says_to_what() {
        let socket = udp_at("127.0.0.1:0".parse().unwrap(), "lo").unwrap();
        assert_eq!(interface(&socket).unwrap().as_deref(), Some("lo"));
        let free = UdpSocket::bind("127.0.0.1:0").unwrap();
        assert_eq!(interface(&free).unwrap(), None);
        let error = udp_at("127.0.0.1:0".parse().unwrap(), "none-such").unwrap_err();
        assert_eq!(error.call, BIND_TO_DEVICE);
    }
}
