//! Sockets: their options, and calls that return at once or wait in the kernel.

use crate::{Error, Result};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use socket2::{Domain, Protocol, SockAddr, SockRef, Socket, Type};
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::time::Duration;

/// The options that must be set before a connection exists; none leaves the kernel's default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TcpOptions {
    /// `SO_SNDBUF`.
    pub send_buffer: Option<usize>,
    /// `SO_RCVBUF`.
    pub receive_buffer: Option<usize>,
    /// `TCP_CONGESTION`.
    pub congestion_control: Option<String>,
    /// `TCP_MAXSEG`.
    pub mss: Option<u32>,
    /// `TCP_NODELAY`.
    pub no_delay: bool,
}

/// The options as the kernel reports them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantedOptions {
    /// `SO_SNDBUF`: twice what was asked, when it was asked.
    pub send_buffer: usize,
    /// `SO_RCVBUF`: likewise.
    pub receive_buffer: usize,
    /// `TCP_CONGESTION`.
    pub congestion_control: String,
    /// `TCP_MAXSEG`: of a connection, the one in force.
    pub mss: u32,
    /// `TCP_NODELAY`.
    pub no_delay: bool,
}

impl TcpOptions {
    /// Sets what can be set. What the kernel refuses shows when the options are read back.
    fn apply(&self, socket: &Socket) {
        let _ = self.send_buffer.map(|bytes| socket.set_send_buffer_size(bytes));
        let _ = self.receive_buffer.map(|bytes| socket.set_recv_buffer_size(bytes));
        let _ = self.congestion_control.as_ref().map(|name| socket.set_tcp_congestion(name.as_bytes()));
        let _ = self.mss.map(|bytes| socket.set_tcp_mss(bytes));
        let _ = socket.set_tcp_nodelay(self.no_delay);
    }

    /// A listener; what it accepts inherits the options.
    pub fn listen(&self, address: SocketAddr, backlog: i32) -> Result<TcpListener> {
        let object = || format!("{address}");
        let socket = self.socket(address)?;
        socket.bind(&SockAddr::from(address)).map_err(|e| Error::new("bind", object(), e))?;
        socket.listen(backlog).map_err(|e| Error::new("listen", object(), e))?;
        Ok(socket.into())
    }

    /// A connection.
    pub fn connect(&self, address: SocketAddr, limit: Duration) -> Result<TcpStream> {
        let socket = self.socket(address)?;
        let connected = socket.connect_timeout(&SockAddr::from(address), limit);
        connected.map_err(|e| Error::new("connect", format!("{address}"), e))?;
        Ok(socket.into())
    }

    fn socket(&self, address: SocketAddr) -> Result<Socket> {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP));
        let socket = socket.map_err(|e| Error::new("socket", "TCP", e))?;
        self.apply(&socket);
        Ok(socket)
    }
}

/// Reads the options back.
pub fn granted(stream: &TcpStream) -> Result<GrantedOptions> {
    let read = |e| Error::new("getsockopt", "TCP socket", e);
    let socket = SockRef::from(stream);
    let name = socket.tcp_congestion().map_err(read)?;
    let name: Vec<u8> = name.into_iter().take_while(|byte| *byte != 0).collect();
    Ok(GrantedOptions {
        send_buffer: socket.send_buffer_size().map_err(read)?,
        receive_buffer: socket.recv_buffer_size().map_err(read)?,
        congestion_control: String::from_utf8_lossy(&name).into_owned(),
        mss: socket.tcp_mss().map_err(read)?,
        no_delay: socket.tcp_nodelay().map_err(read)?,
    })
}

/// Asks for buffers of these sizes; what the kernel refuses shows when they are read back.
pub fn set_buffers(socket: &impl AsFd, send: Option<usize>, receive: Option<usize>) {
    let socket = SockRef::from(socket);
    let _ = send.map(|bytes| socket.set_send_buffer_size(bytes));
    let _ = receive.map(|bytes| socket.set_recv_buffer_size(bytes));
}

/// The sizes of the buffers that send and receive: twice what was asked, when it was asked.
pub fn buffers(socket: &impl AsFd) -> Result<(usize, usize)> {
    let read = |e| Error::new("getsockopt", "socket", e);
    let socket = SockRef::from(socket);
    Ok((socket.send_buffer_size().map_err(read)?, socket.recv_buffer_size().map_err(read)?))
}

/// Lets every later blocking call on the socket wait at most this long.
pub fn limit_waits(socket: &impl AsFd, limit: Duration) -> Result<()> {
    let set = |e| Error::new("setsockopt(SO_RCVTIMEO)", "socket", e);
    let socket = SockRef::from(socket);
    socket.set_read_timeout(Some(limit)).map_err(set)?;
    socket.set_write_timeout(Some(limit)).map_err(set)
}

/// Waits until something can be read or accepted, or the time is over, or a signal came; says whether it can.
pub fn wait_readable(source: &impl AsFd, limit: Duration) -> Result<bool> {
    let mut waiting = [PollFd::new(source, PollFlags::IN)];
    let limit = Timespec { tv_sec: limit.as_secs() as i64, tv_nsec: limit.subsec_nanos().into() };
    match poll(&mut waiting, Some(&limit)) {
        Ok(ready) => Ok(ready > 0),
        Err(Errno::INTR) => Ok(false),
        Err(error) => Err(Error::new("poll", "socket", error)),
    }
}

/// Sends what the socket takes at once; 0 when it takes nothing now.
#[inline]
pub fn send_now(socket: &impl AsFd, bytes: &[u8]) -> io::Result<usize> {
    match send(socket, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
        Err(Errno::AGAIN | Errno::INTR) => Ok(0),
        answer => Ok(answer?),
    }
}

/// Receives what is there; none when there is nothing now, `Some(0)` at the end of the stream.
#[inline]
pub fn receive_now(socket: &impl AsFd, bytes: &mut [u8]) -> io::Result<Option<usize>> {
    match recv(socket, bytes, RecvFlags::DONTWAIT) {
        Err(Errno::AGAIN | Errno::INTR) => Ok(None),
        answer => Ok(Some(answer?.0)),
    }
}

/// Sends, waiting in the kernel until the socket took something.
#[inline]
pub fn send_waiting(socket: &impl AsFd, bytes: &[u8]) -> io::Result<usize> {
    match send(socket, bytes, SendFlags::NOSIGNAL) {
        Err(Errno::INTR) => Ok(0),
        answer => Ok(answer?),
    }
}

/// Sends one datagram, which may be empty, if the socket has room now; says whether it went. What the
/// interface has no room for is lost, as on the way.
#[inline]
pub fn send_datagram_now(socket: &impl AsFd, bytes: &[u8]) -> io::Result<bool> {
    match send(socket, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
        Err(Errno::AGAIN | Errno::INTR) => Ok(false),
        Err(Errno::NOBUFS) => Ok(true),
        answer => Ok(answer.map(|_| true)?),
    }
}

/// Sends one datagram, which may be empty, waiting for room; says whether it went.
#[inline]
pub fn send_datagram(socket: &impl AsFd, bytes: &[u8]) -> io::Result<bool> {
    match send(socket, bytes, SendFlags::NOSIGNAL) {
        Err(Errno::INTR) => Ok(false),
        Err(Errno::NOBUFS) => Ok(true),
        answer => Ok(answer.map(|_| true)?),
    }
}

/// Receives, waiting in the kernel until something is there; none after an interruption.
#[inline]
pub fn receive_waiting(socket: &impl AsFd, bytes: &mut [u8]) -> io::Result<Option<usize>> {
    match recv(socket, bytes, RecvFlags::empty()) {
        Err(Errno::INTR) => Ok(None),
        answer => Ok(Some(answer?.0)),
    }
}

/// Throws away at most as many bytes as `room` holds without copying them, waiting in the kernel until
/// something is there; none after an interruption. `room` stays as it is: with `MSG_TRUNC` the kernel
/// drops what a TCP socket received (tcp(7)).
#[inline]
pub fn discard_waiting(stream: &TcpStream, room: &mut [u8]) -> io::Result<Option<usize>> {
    match recv(stream, room, RecvFlags::TRUNC) {
        Err(Errno::INTR) => Ok(None),
        answer => Ok(Some(answer?.1)),
    }
}

/// The same without waiting; none when there is nothing now.
#[inline]
pub fn discard_now(stream: &TcpStream, room: &mut [u8]) -> io::Result<Option<usize>> {
    match recv(stream, room, RecvFlags::TRUNC | RecvFlags::DONTWAIT) {
        Err(Errno::AGAIN | Errno::INTR) => Ok(None),
        answer => Ok(Some(answer?.1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_applied_and_read_back() {
        let options = TcpOptions {
            send_buffer: Some(100_000),
            receive_buffer: Some(60_000),
            congestion_control: Some("reno".into()),
            mss: Some(1000),
            no_delay: true,
        };
        let listener = options.listen("127.0.0.1:0".parse().unwrap(), 1).unwrap();
        let address = listener.local_addr().unwrap();
        let client = options.connect(address, Duration::from_secs(5)).unwrap();
        let (server, _) = listener.accept().unwrap();
        for stream in [client, server] {
            let granted = granted(&stream).unwrap();
            assert_eq!((granted.send_buffer, granted.receive_buffer), (200_000, 120_000));
            assert_eq!((granted.congestion_control.as_str(), granted.no_delay), ("reno", true));
            assert!((500..=1000).contains(&granted.mss), "{}", granted.mss);
        }
    }

    #[test]
    fn nothing_to_do_is_no_error_and_the_end_is_told_apart() {
        let options = TcpOptions::default();
        let listener = options.listen("127.0.0.1:0".parse().unwrap(), 1).unwrap();
        let client = options.connect(listener.local_addr().unwrap(), Duration::from_secs(5)).unwrap();
        let (server, _) = listener.accept().unwrap();
        assert_eq!(receive_now(&server, &mut [0; 8]).unwrap(), None);
        assert_eq!(send_now(&client, b"abc").unwrap(), 3);
        assert_eq!(receive_waiting(&server, &mut [0; 8]).unwrap(), Some(3));
        drop(client);
        assert_eq!(receive_waiting(&server, &mut [0; 8]).unwrap(), Some(0));
    }

    #[test]
    fn what_is_discarded_is_counted_and_not_copied() {
        let options = TcpOptions::default();
        let listener = options.listen("127.0.0.1:0".parse().unwrap(), 1).unwrap();
        let client = options.connect(listener.local_addr().unwrap(), Duration::from_secs(5)).unwrap();
        let (server, _) = listener.accept().unwrap();
        let mut room = [7; 4];
        assert_eq!(discard_now(&server, &mut room).unwrap(), None);
        assert_eq!(send_now(&client, b"abcdef").unwrap(), 6);
        assert_eq!(discard_waiting(&server, &mut room).unwrap(), Some(4));
        assert_eq!(room, [7; 4]);
        let mut rest = [0; 4];
        assert_eq!(receive_waiting(&server, &mut rest).unwrap(), Some(2));
        assert_eq!(&rest[..2], b"ef");
        drop(client);
        assert_eq!(discard_waiting(&server, &mut room).unwrap(), Some(0));
    }
}
