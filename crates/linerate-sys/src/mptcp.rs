//! Multipath TCP (RFC 8684): whether this kernel has it, and whether a connection fell back to plain TCP.

use crate::option;
use crate::{Error, Result};
use socket2::{Domain, Protocol, Socket, Type};
use std::os::fd::AsFd;

/// `SOL_MPTCP` of linux/socket.h.
const SOL_MPTCP: i32 = 284;
/// `MPTCP_INFO` of linux/mptcp.h, which gives a `struct mptcp_info`.
const MPTCP_INFO: i32 = 1;
/// `MPTCP_INFO_FLAG_FALLBACK`.
const FALLBACK: u32 = 1;

/// Whether a socket of this kind can be had.
pub fn probe() -> Result<()> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::MPTCP));
    socket.map(drop).map_err(|e| Error::new("socket(IPPROTO_MPTCP)", "MPTCP", e))
}

/// Whether a connection speaks plain TCP, because its peer or the way there does not let MPTCP pass.
pub fn fell_back(socket: &impl AsFd) -> Result<bool> {
    // The flags stand in the third word, behind six counters of a byte and two bytes of padding.
    match option::get::<[u32; 3]>(socket, SOL_MPTCP, MPTCP_INFO) {
        Ok([_, _, flags]) => Ok(flags & FALLBACK != 0),
        // What a listener accepts from a plain TCP peer is a plain TCP socket, which knows no such option.
        Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => Ok(true),
        Err(error) if error.raw_os_error() == Some(libc::ENOPROTOOPT) => Ok(true),
        Err(source) => Err(Error::new("getsockopt(MPTCP_INFO)", "socket", source)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::socket::TcpOptions;
    use std::time::Duration;

    #[test]
    fn a_plain_listener_makes_it_fall_back() {
        if let Err(error) = probe() {
            return println!("SKIP: no MPTCP here: {}", error.source);
        }
        let several = TcpOptions { multipath: true, ..TcpOptions::default() };
        for (options, expected) in [(several.clone(), false), (TcpOptions::default(), true)] {
            let listener = options.listen("127.0.0.1:0".parse().unwrap(), 1).unwrap();
            let to = listener.local_addr().unwrap();
            let client = several.connect(to, Duration::from_secs(5)).unwrap();
            let (server, _) = listener.accept().unwrap();
            assert_eq!(fell_back(&client).unwrap(), expected);
            assert_eq!(fell_back(&server).unwrap(), expected);
        }
    }
}
