//! Unix sockets of the abstract namespace: their names lie in no folder and vanish with their last socket (unix(7)).
//! Each network namespace has its own.

use crate::{Error, Result};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener, UnixStream};

/// Waits for nobody: `accept` fails with `WouldBlock` where nobody has called.
pub fn listen(name: &str) -> Result<UnixListener> {
    let listener = UnixListener::bind_addr(&address(name)?).map_err(|e| Error::new("bind", name, e))?;
    listener.set_nonblocking(true).map_err(|e| Error::new("fcntl", name, e))?;
    Ok(listener)
}

/// A stream to who listens there.
pub fn connect(name: &str) -> Result<UnixStream> {
    UnixStream::connect_addr(&address(name)?).map_err(|e| Error::new("connect", name, e))
}

/// A port for datagrams there.
pub fn bind_datagrams(name: &str) -> Result<UnixDatagram> {
    UnixDatagram::bind_addr(&address(name)?).map_err(|e| Error::new("bind", name, e))
}

/// From now on takes datagrams of the port there only, and sends to it.
pub fn connect_datagrams(port: &UnixDatagram, name: &str) -> Result<()> {
    port.connect_addr(&address(name)?).map_err(|e| Error::new("connect", name, e))
}

fn address(name: &str) -> Result<SocketAddr> {
    SocketAddr::from_abstract_name(name).map_err(|e| Error::new("bind", name, e))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::ErrorKind;

    #[test]
    fn a_name_is_there_as_long_as_its_socket() {
        let name = format!("linerate-sys-test-{}", std::process::id());
        let listener = listen(&name).unwrap();
        assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
        let _stream = connect(&name).unwrap();
        assert!(listener.accept().is_ok());
        assert!(listen(&name).is_err(), "it is taken");
        drop(listener);
        assert_eq!(connect(&name).unwrap_err().source.kind(), ErrorKind::ConnectionRefused);
    }
}
