//! Sockets, and their options. What moves bytes is in [`crate::transfer`], what waits in [`crate::wait`].

pub use crate::transfer::{
    discard_now, discard_waiting, receive_all, receive_now, receive_parts_now, receive_parts_waiting,
    receive_waiting, send_datagram, send_datagram_now, send_file, send_now, send_parts_now,
    send_parts_waiting, send_waiting,
};
pub use crate::wait::{
    limit_waits, wait_any_readable, wait_for, wait_readable, wait_ready, wait_to_accept, wait_writable,
    wake_at,
};

use crate::bound;
use crate::option;
use crate::{Error, Result};
use socket2::{Domain, Protocol, SockAddr, SockRef, Socket, TcpKeepalive, Type};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
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
    /// `SO_MAX_PACING_RATE`, in bytes a second.
    pub pacing: Option<u64>,
    /// The code point of `IP_TOS` and `IPV6_TCLASS`, 0 to 63.
    pub dscp: Option<u32>,
    /// The port that a connection comes from.
    pub source_port: Option<u16>,
    /// The interface that it is bound to, `SO_BINDTODEVICE`.
    pub interface: Option<String>,
    /// Whether the connection may have several paths (`IPPROTO_MPTCP`).
    pub multipath: bool,
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
    /// `SO_MAX_PACING_RATE`, in bytes a second; none where there is no limit.
    pub pacing: Option<u64>,
    /// The code point of `IP_TOS` or `IPV6_TCLASS`.
    pub dscp: u32,
}

impl TcpOptions {
    /// Sets what can be set. What the kernel refuses shows when the options are read back.
    fn apply(&self, socket: &Socket) {
        let _ = self.send_buffer.map(|bytes| socket.set_send_buffer_size(bytes));
        let _ = self.receive_buffer.map(|bytes| socket.set_recv_buffer_size(bytes));
        let _ = self.congestion_control.as_ref().map(|name| socket.set_tcp_congestion(name.as_bytes()));
        let _ = self.mss.map(|bytes| socket.set_tcp_mss(bytes));
        let _ = socket.set_tcp_nodelay(self.no_delay);
        let _ = self.pacing.map(|rate| option::set(socket, libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE, rate));
        let _ = self.dscp.map(|code| set_dscp(socket, code));
    }

    /// A listener; what it accepts inherits the options.
    pub fn listen(&self, address: SocketAddr, backlog: i32) -> Result<TcpListener> {
        let object = || format!("{address}");
        let socket = self.socket(address)?;
        bound::bind(&socket, address).map_err(|e| Error::new("bind", object(), e))?;
        socket.listen(backlog).map_err(|e| Error::new("listen", object(), e))?;
        Ok(socket.into())
    }

    /// A connection; what is sent over it later waits as long at most. One call of the kernel's, for where connections
    /// are what is timed: not to wait, to ask and to wait again takes five.
    pub fn connect(&self, address: SocketAddr, limit: Duration) -> Result<TcpStream> {
        let socket = self.socket(address)?;
        if let Some(port) = self.source_port {
            bind_to_port(&socket, address, port)?;
        }
        let fail = |e| Error::new("connect", format!("{address}"), e);
        socket.set_write_timeout(Some(limit)).map_err(fail)?;
        match socket.connect(&SockAddr::from(address)) {
            // It goes on after a signal.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                finished(&socket, limit).map_err(fail)?
            }
            // SO_SNDTIMEO is over: socket(7).
            Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => {
                return Err(fail(io::ErrorKind::TimedOut.into()));
            }
            connected => connected.map_err(fail)?,
        }
        Ok(socket.into())
    }

    fn socket(&self, address: SocketAddr) -> Result<Socket> {
        let (protocol, name) =
            if self.multipath { (Protocol::MPTCP, "MPTCP") } else { (Protocol::TCP, "TCP") };
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(protocol));
        let socket = socket.map_err(|e| Error::new("socket", name, e))?;
        self.apply(&socket);
        if let Some(name) = &self.interface {
            bound::bind_to(&socket, name)?;
        }
        Ok(socket)
    }
}

/// The name of the congestion control in use.
pub fn congestion_control(stream: &TcpStream) -> Result<String> {
    let name = SockRef::from(stream).tcp_congestion();
    let name = name.map_err(|e| Error::new("getsockopt(TCP_CONGESTION)", "socket", e))?;
    let name: Vec<u8> = name.into_iter().take_while(|byte| *byte != 0).collect();
    Ok(String::from_utf8_lossy(&name).into_owned())
}

/// Reads the options back.
pub fn granted(stream: &TcpStream) -> Result<GrantedOptions> {
    let read = |e| Error::new("getsockopt", "TCP socket", e);
    let socket = SockRef::from(stream);
    Ok(GrantedOptions {
        send_buffer: socket.send_buffer_size().map_err(read)?,
        receive_buffer: socket.recv_buffer_size().map_err(read)?,
        congestion_control: congestion_control(stream)?,
        mss: socket.tcp_mss().map_err(read)?,
        no_delay: socket.tcp_nodelay().map_err(read)?,
        pacing: pacing(stream).map_err(read)?,
        dscp: dscp(stream).map_err(read)?,
    })
}

/// Bytes a second that its packets are held to; none where there is no limit, which is all ones.
fn pacing(stream: &TcpStream) -> io::Result<Option<u64>> {
    let rate: u64 = option::get(stream, libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE)?;
    Ok(Some(rate).filter(|rate| *rate != u64::MAX))
}

/// The two bits below the code point are for congestion (RFC 3168).
const ECN_BITS: u32 = 2;

fn is_v6(socket: &Socket) -> bool {
    socket.domain().is_ok_and(|domain| domain == Domain::IPV6)
}

/// Marks every packet of the socket with this code point (RFC 2474), 0 to 63.
pub fn set_dscp(socket: &impl AsFd, code: u32) -> io::Result<()> {
    let (socket, class) = (SockRef::from(socket), code << ECN_BITS);
    if is_v6(&socket) { socket.set_tclass_v6(class) } else { socket.set_tos_v4(class) }
}

/// The code point that its packets carry.
pub fn dscp(socket: &impl AsFd) -> io::Result<u32> {
    let socket = SockRef::from(socket);
    let class = if is_v6(&socket) { socket.tclass_v6()? } else { socket.tos_v4()? };
    Ok(class >> ECN_BITS)
}

/// A port that a connection of before may still have in TIME_WAIT: the other end's port is another one.
fn bind_to_port(socket: &Socket, to: SocketAddr, port: u16) -> Result<()> {
    let any: IpAddr = if to.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let from = SocketAddr::new(any, port);
    let bound = socket.set_reuse_address(true).and_then(|()| socket.bind(&SockAddr::from(from)));
    bound.map_err(|e| Error::new("bind", from.to_string(), e))
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

/// Has the kernel ask after the other end of a TCP connection on which nothing passes (SO_KEEPALIVE, tcp(7)), and give up one that
/// acknowledges nothing: who is cut off is noticed within 15 s.
pub fn notice_loss(socket: &impl AsFd) {
    let asked = TcpKeepalive::new()
        .with_time(Duration::from_secs(3))
        .with_interval(Duration::from_secs(2))
        .with_retries(6);
    let socket = SockRef::from(socket);
    // Where it cannot be had, what is waited for has a limit of its own.
    let _ = socket.set_tcp_keepalive(&asked);
    // Nobody is asked after while something is unacknowledged: that has a limit of its own.
    let _ = socket.set_tcp_user_timeout(Some(LOST));
}

/// After so long without a word from its kernel an end is gone: `TCP_USER_TIMEOUT` of tcp(7).
const LOST: Duration = Duration::from_secs(15);

/// Ends both directions: whoever waits on the socket, in this process or at the other end, waits no longer.
pub fn shut_down(socket: &impl AsFd) {
    // One that is no socket, or has no other end any more, has nobody who waits.
    let _ = SockRef::from(socket).shutdown(std::net::Shutdown::Both);
}

/// The process at the other end of a Unix socket, where it is one of this one's user (SO_PEERCRED, unix(7)).
pub fn own_peer(socket: &impl AsFd) -> Option<u32> {
    let peer = rustix::net::sockopt::socket_peercred(socket).ok()?;
    (peer.uid == rustix::process::geteuid()).then_some(peer.pid.as_raw_nonzero().get().cast_unsigned())
}

/// Waits until a connection that was begun stands.
fn finished(socket: &Socket, limit: Duration) -> io::Result<()> {
    let begun = std::time::Instant::now();
    loop {
        let left = limit.saturating_sub(begun.elapsed());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        wait_writable(socket, left).map_err(|error| error.source)?;
        if let Some(error) = socket.take_error()? {
            return Err(error);
        }
        if socket.peer_addr().is_ok() {
            return Ok(());
        }
    }
}

/// The CPU on which the kernel received the socket's last packet (SO_INCOMING_CPU, socket(7)); none where it has
/// received none.
pub fn incoming_cpu(socket: &impl AsFd) -> Option<u32> {
    let cpu: libc::c_int = option::get(socket, libc::SOL_SOCKET, libc::SO_INCOMING_CPU).ok()?;
    u32::try_from(cpu).ok()
}

/// Asks for room for so much to be received: beyond the limit of net.core.rmem_max where that is allowed.
pub fn raise_receive_buffer(socket: &impl AsFd, bytes: usize) {
    let asked = libc::c_int::try_from(bytes).unwrap_or(libc::c_int::MAX);
    if option::set(socket, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, asked).is_err() {
        set_buffers(socket, None, Some(bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bound::interface;

    #[test]
    fn options_are_applied_and_read_back() {
        let options = TcpOptions {
            send_buffer: Some(100_000),
            receive_buffer: Some(60_000),
            congestion_control: Some("reno".into()),
            mss: Some(1000),
            no_delay: true,
            pacing: Some(10_000_000_000),
            dscp: Some(46),
            source_port: None,
            interface: Some("lo".into()),
            multipath: false,
        };
        for place in ["127.0.0.1:0", "[::1]:0"] {
            let listener = options.listen(place.parse().unwrap(), 1).unwrap();
            let address = listener.local_addr().unwrap();
            let client = options.connect(address, Duration::from_secs(5)).unwrap();
            let (server, _) = listener.accept().unwrap();
            are_granted([client, server]);
        }
    }

    fn are_granted(streams: [TcpStream; 2]) {
        for stream in streams {
            assert_eq!(interface(&stream).unwrap().as_deref(), Some("lo"));
            let granted = granted(&stream).unwrap();
            assert_eq!((granted.pacing, granted.dscp), (Some(10_000_000_000), 46));
            assert_eq!((granted.send_buffer, granted.receive_buffer), (200_000, 120_000));
            assert_eq!((granted.congestion_control.as_str(), granted.no_delay), ("reno", true));
            assert!((500..=1000).contains(&granted.mss), "{}", granted.mss);
        }
    }

    /// A listener whose queue is full leaves a SYN without an answer.
    #[test]
    fn an_unanswered_connection_fails_in_time() {
        let options = TcpOptions::default();
        let listener = options.listen("127.0.0.1:0".parse().unwrap(), 0).unwrap();
        let address = listener.local_addr().unwrap();
        let connect = || options.connect(address, Duration::from_millis(300));
        let mut stand = Vec::new();
        let error = loop {
            let begun = std::time::Instant::now();
            match connect() {
                Ok(stream) => stand.push(stream),
                Err(error) => {
                    assert!((300..2000).contains(&begun.elapsed().as_millis()), "{:?}", begun.elapsed());
                    break error;
                }
            }
            assert!(stand.len() < 10);
        };
        assert_eq!(error.source.kind(), io::ErrorKind::TimedOut);
        drop(listener);
        let refused = connect().unwrap_err();
        assert_eq!(refused.source.kind(), io::ErrorKind::ConnectionRefused);
    }

    #[test]
    fn a_port_asked_for_is_taken_time_and_again() {
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let options = TcpOptions { source_port: Some(free), ..TcpOptions::default() };
        for _ in 0..2 {
            let listener = TcpOptions::default().listen("127.0.0.1:0".parse().unwrap(), 1).unwrap();
            let client = options.connect(listener.local_addr().unwrap(), Duration::from_secs(5)).unwrap();
            assert_eq!(client.local_addr().unwrap().port(), free);
            assert_eq!(granted(&client).unwrap().pacing, None);
            // The end that closes first keeps the port in TIME_WAIT.
            drop(client);
        }
    }
}
