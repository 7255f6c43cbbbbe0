//! Multipath TCP: sockets like TCP's, whose connections may use several paths at once. Where the peer or the
//! way does not let it pass, the kernel falls back to TCP, and what was granted says so.

use super::kernel_stream::lack;
use super::tcp::{DSCP, backlog, options, unreached};
use crate::record::{Granted, UnavailableTransport};
use crate::transport::connection::channel::Channel;
use crate::transport::connection::family::Family;
use crate::transport::connection::meeting::Streams;
use crate::transport::connection::place::Protocol;
use crate::transport::{Address, Spec, granted};
use crate::{Error, Result};
use linerate_sys::mptcp;
use linerate_sys::socket::{self, TcpOptions};
use std::io;
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};

/// The transport.
pub const MPTCP: Streams<Multipath> = Streams::new();

/// What says whether a connection is what was asked for.
const PROTOCOL: &str = "mptcp.protocol";

/// A connection.
#[derive(Debug)]
pub struct Multipath(TcpStream);

impl Family for Multipath {
    const NAME: &'static str = "mptcp";
    type Listener = TcpListener;

    fn lacks() -> Option<UnavailableTransport> {
        let error = mptcp::probe().err()?;
        let hint = "sysctl net.mptcp.enabled=1, on a kernel with CONFIG_MPTCP";
        Some(lack(Self::NAME, "multipath TCP", &error, hint))
    }

    fn listen(spec: &Spec) -> Result<(TcpListener, Address)> {
        let listener = spec.bind(Protocol::Tcp, |place| several_paths(spec).listen(place, backlog(spec)))?;
        let fail = |call| move |e| Error::io(call, "listener", e);
        listener.set_nonblocking(true).map_err(fail("fcntl"))?;
        let address = listener.local_addr().map_err(fail("getsockname"))?;
        Ok((listener, spec.announced(address)))
    }

    fn accept(listener: &TcpListener) -> io::Result<Multipath> {
        listener.accept().map(|(stream, _)| Multipath(stream))
    }

    fn connect(spec: &Spec, address: &Address, _flow: u32) -> Result<Multipath> {
        match address {
            Address::Internet(to) => {
                let connected = several_paths(spec).connect(*to, spec.patience());
                connected.map(Multipath).map_err(|error| unreached(spec, address, Protocol::Tcp, error))
            }
            other => Err(Error::peer("the other end", format!("offered {other} for MPTCP"), "")),
        }
    }
}

fn several_paths(spec: &Spec) -> TcpOptions {
    TcpOptions { multipath: true, ..options(spec) }
}

impl AsFd for Multipath {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Channel for Multipath {
    /// Each option by itself: kernels differ in which of TCP's they pass on to the paths.
    fn granted(&self, spec: &Spec) -> Vec<Granted> {
        let protocol =
            mptcp::fell_back(self).ok().map(|fell| if fell { TcpStream::NAME } else { Self::NAME });
        let mut all = vec![Granted {
            knob: PROTOCOL.into(),
            asked: Some(Self::NAME.into()),
            granted: protocol.map(String::from),
        }];
        if let Ok((send, receive)) = socket::buffers(self) {
            all.push(granted(spec, "socket.send-buffer", send));
            all.push(granted(spec, "socket.receive-buffer", receive));
        }
        let control = socket::congestion_control(&self.0).ok();
        all.extend(control.map(|name| granted(spec, "tcp.congestion-control", name)));
        let no_delay = self.0.nodelay().ok();
        all.extend(no_delay.map(|on| granted(spec, "tcp.no-delay", if on { "on" } else { "off" })));
        all.extend(socket::dscp(self).ok().map(|code| granted(spec, DSCP, code)));
        all
    }

    fn endpoints(&self) -> Option<String> {
        Some(format!("{} {}", self.0.local_addr().ok()?, self.0.peer_addr().ok()?))
    }

    /// What it tells is of the first path.
    fn tcp(&self) -> Option<&TcpStream> {
        Some(&self.0)
    }
}
