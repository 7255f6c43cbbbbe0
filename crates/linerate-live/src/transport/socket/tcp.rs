//! TCP sockets, over IPv4 or IPv6. One write a message; whatever came is read at once.

use super::half;
use super::relay::{Accepting, Relay};
use crate::pattern::Drive;
use crate::plan::Block;
use crate::record::Granted;
use crate::transport::connection::channel::Channel;
use crate::transport::connection::family::Family;
use crate::transport::connection::meeting::Streams;
use crate::transport::connection::place::{Protocol, not_reached};
use crate::transport::{Address, Spec, granted};
use crate::unit::{BitRate, Bytes};
use crate::vocabulary::{Does, Wait};
use crate::{Error, Result};
use linerate_sys::bound;
use linerate_sys::socket::{self, TcpOptions};
use std::io;
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};

/// The knob of the mark that packets carry.
pub(super) const DSCP: &str = "socket.dscp";

/// The knob of the interface that sockets are bound to.
pub(super) const INTERFACE: &str = "socket.interface";

const SOURCE_PORT: &str = "tcp.source-port";

/// The transport.
pub const TCP: Streams<TcpStream> = Streams::new();

impl Family for TcpStream {
    const NAME: &'static str = "tcp";
    type Listener = Listener;

    fn listen(spec: &Spec) -> Result<(Listener, Address)> {
        let listen = |place| options(spec).listen(place, backlog(spec));
        let fail = |call| move |e| Error::io(call, "listener", e);
        let relay = Relay::from_spec(spec);
        let listener = match relay {
            // The relay is what has to be reached.
            Some(_) => listen(spec.own_place()?).map_err(Error::from),
            None => spec.bind(Protocol::Tcp, listen),
        };
        let listener = listener.map_err(|error| refused(spec, error))?;
        listener.set_nonblocking(true).map_err(fail("fcntl"))?;
        let address = listener.local_addr().map_err(fail("getsockname"))?;
        let Some(relay) = relay else {
            return Ok((Listener { listener, _relay: None }, spec.announced(address)));
        };
        let (relay, outer) = relay.stand_before(address, spec, options(spec))?;
        Ok((Listener { listener, _relay: Some(relay) }, spec.announced(outer)))
    }

    fn accept(listener: &Listener) -> io::Result<TcpStream> {
        listener.listener.accept().map(|(stream, _)| stream)
    }

    fn connect(spec: &Spec, address: &Address, flow: u32) -> Result<TcpStream> {
        match address {
            Address::Internet(to) => {
                let connected = from_port(spec, flow)?.connect(*to, spec.patience());
                connected.map_err(|error| unreached(spec, address, Protocol::Tcp, error))
            }
            other => Err(Error::peer("the other end", format!("offered {other} for TCP"), "")),
        }
    }
}

/// A listener, and the relay before it if there is one.
#[derive(Debug)]
pub struct Listener {
    listener: TcpListener,
    _relay: Option<Accepting>,
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }
}

pub(super) fn options(spec: &Spec) -> TcpOptions {
    let bytes = |knob| spec.parsed::<Bytes>(knob).map(|bytes| bytes.0);
    TcpOptions {
        send_buffer: bytes("socket.send-buffer").map(|bytes| bytes as usize),
        receive_buffer: bytes("socket.receive-buffer").map(|bytes| bytes as usize),
        congestion_control: spec.value("tcp.congestion-control").map(String::from),
        mss: bytes("tcp.mss").map(|bytes| bytes as u32),
        no_delay: spec.value("tcp.no-delay") != Some("off"),
        pacing: spec.parsed::<BitRate>("tcp.pacing-rate").map(|rate| (rate.0 / 8.0) as u64),
        dscp: spec.parsed(DSCP),
        source_port: None,
        interface: spec.value(INTERFACE).map(String::from),
        multipath: false,
    }
}

/// The interface as read back, where one was asked for.
pub(super) fn granted_interface(spec: &Spec, socket: &impl AsFd) -> Option<Granted> {
    spec.value(INTERFACE)?;
    let name = bound::interface(socket).ok().flatten();
    Some(granted(spec, INTERFACE, name.unwrap_or_else(|| "none".into())))
}

/// An interface that is not there, or that this user may not bind to, is no fault of the peer's.
fn no_interface(name: &str, error: linerate_sys::Error) -> Error {
    if error.call != bound::BIND_TO_DEVICE {
        return error.into();
    }
    let what = format!("{INTERFACE}={name}: {error}: {}", error.source);
    Error::unavailable(what, "`ip link` shows the interfaces; both ends need one of this name")
}

/// The same of what may have failed otherwise.
pub(super) fn refused(spec: &Spec, error: Error) -> Error {
    match error {
        Error::System(error) => no_interface(spec.value(INTERFACE).unwrap_or_default(), error),
        error => error,
    }
}

/// Why a connection did not come to be.
pub(super) fn unreached(
    spec: &Spec,
    address: &Address,
    protocol: Protocol,
    error: linerate_sys::Error,
) -> Error {
    not_reached(address, protocol, &error).unwrap_or_else(|| refused(spec, error.into()))
}

/// Connections that may wait to be accepted: those of the flows, and of strangers.
pub(super) fn backlog(spec: &Spec) -> i32 {
    spec.flows as i32 + STRANGERS
}

/// Strangers that may wait beside them.
const STRANGERS: i32 = 64;

/// The same, for a connection that comes from a port of the user's choice: each flow from the next one.
fn from_port(spec: &Spec, flow: u32) -> Result<TcpOptions> {
    let Some(first) = spec.parsed::<u32>(SOURCE_PORT) else { return Ok(options(spec)) };
    let beyond = || Error::usage(format!("{SOURCE_PORT}={first} and {flow} more"), "ports end at 65535");
    let port = u16::try_from(first + flow).map_err(|_| beyond())?;
    Ok(TcpOptions { source_port: Some(port), ..options(spec) })
}

impl Channel for TcpStream {
    fn granted(&self, spec: &Spec) -> Vec<Granted> {
        let Ok(options) = socket::granted(self) else {
            return Vec::new();
        };
        let pacing =
            options.pacing.map_or("unlimited".into(), |bytes| format!("{}b/s", 8 * u128::from(bytes)));
        let mut all = vec![
            granted(spec, "socket.send-buffer", options.send_buffer),
            granted(spec, "socket.receive-buffer", options.receive_buffer),
            granted(spec, "tcp.congestion-control", options.congestion_control),
            granted(spec, "tcp.no-delay", if options.no_delay { "on" } else { "off" }),
            granted(spec, "tcp.mss", options.mss),
            granted(spec, "tcp.pacing-rate", pacing),
            granted(spec, DSCP, options.dscp),
        ];
        all.extend(half::granted_engines(spec));
        all.extend(granted_interface(spec, self));
        if let (false, Some(_), Ok(from)) = (spec.passive, spec.value(SOURCE_PORT), self.local_addr()) {
            all.push(granted(spec, SOURCE_PORT, from.port()));
        }
        all
    }

    fn endpoints(&self) -> Option<String> {
        Some(format!("{} {}", self.local_addr().ok()?, self.peer_addr().ok()?))
    }

    fn tcp(&self) -> Option<&TcpStream> {
        Some(self)
    }

    fn is_driven(&self, spec: &Spec) -> bool {
        half::is_chosen(spec)
    }

    fn drive(&self, spec: &Spec, does: Does, wait: Wait, blocks: &[Block]) -> Result<Option<Box<dyn Drive>>> {
        half::drive(self, spec, does, wait, blocks)
    }
}
