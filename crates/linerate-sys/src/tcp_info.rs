//! What the kernel knows about a TCP connection: `TCP_INFO`, as the raw bytes that this kernel fills.

use crate::{Error, Result};
use std::os::fd::{AsFd, AsRawFd};

/// Room for `struct tcp_info` of every kernel so far (280 bytes in Linux 6.18) and of some to come.
pub const ROOM: usize = 512;

/// The bytes of `struct tcp_info`; their number depends on the kernel.
pub fn tcp_info(fd: impl AsFd) -> Result<Vec<u8>> {
    let mut bytes = vec![0; ROOM];
    let length = tcp_info_into(fd, &mut bytes)?;
    bytes.truncate(length);
    Ok(bytes)
}

/// Writes the bytes of `struct tcp_info` to `bytes` and tells how many there are.
pub fn tcp_info_into(fd: impl AsFd, bytes: &mut [u8]) -> Result<usize> {
    let mut length = bytes.len() as libc::socklen_t;
    // SAFETY: the pointer and the length describe `bytes`, and both live through the call.
    let answer = unsafe {
        libc::getsockopt(
            fd.as_fd().as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            bytes.as_mut_ptr().cast(),
            &mut length,
        )
    };
    match answer {
        0 => Ok(length as usize),
        _ => Err(Error::last("getsockopt(TCP_INFO)", "socket")),
    }
}

/// Bytes that were sent and are not acknowledged, or wait to be sent (`SIOCOUTQ`, tcp(7)).
pub fn outstanding(fd: impl AsFd) -> Result<u64> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: this request writes an int, to `bytes`, which lives through the call.
    match unsafe { libc::ioctl(fd.as_fd().as_raw_fd(), libc::TIOCOUTQ, &mut bytes) } {
        0 => Ok(u64::try_from(bytes).unwrap_or(0)),
        _ => Err(Error::last("ioctl(SIOCOUTQ)", "socket")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, UdpSocket};

    #[test]
    fn a_short_buffer_gets_the_beginning() {
        const TCP_LISTEN: u8 = 10;
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let whole = tcp_info(&listener).unwrap();
        assert!(whole.len() >= 104 && whole.len() < ROOM, "{}", whole.len());
        assert_eq!(whole[0], TCP_LISTEN);
        assert_eq!(tcp_info_into(&listener, &mut [0; 8]).unwrap(), 8);
    }

    #[test]
    fn a_socket_of_another_kind_is_an_error() {
        let error = tcp_info(UdpSocket::bind("127.0.0.1:0").unwrap()).unwrap_err();
        assert!(error.to_string().contains("TCP_INFO"), "{error}");
    }

    #[test]
    fn what_the_other_end_has_no_room_for_is_outstanding() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut near = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let _far = listener.accept().unwrap();
        assert_eq!(outstanding(&near).unwrap(), 0);
        near.set_nonblocking(true).unwrap();
        while std::io::Write::write(&mut near, &[0; 1 << 16]).is_ok() {}
        // The other end's buffer is full by now.
        assert!(outstanding(&near).unwrap() > 0);
        assert!(outstanding(std::fs::File::open("/dev/null").unwrap()).is_err());
    }
}
