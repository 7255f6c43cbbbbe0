//! TCP sockets. One write a message; whatever came is read at once.
//!
//! The passive end binds a port of the kernel's choice before the active one connects. Every
//! connection presents the session's secret and its flow's number first; one that does not is closed
//! and nothing is sent to it.

use super::shim::Faults;
use super::{Offer, Pending, Session, Spec, Task, Transport, by_task, granted};
use crate::pattern::{Link, Measured, Part, poll};
use crate::plan::Block;
use crate::record::Granted;
use crate::unit::Bytes;
use crate::vocabulary::Wait;
use crate::{Error, Result};
use linerate_sys::socket::{self, TcpOptions};
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

/// Characters of the secret that opens a connection: 128 bits in hexadecimal.
const SECRET_LEN: usize = 32;

/// The most parallel connections of one session.
const MOST_FLOWS: u32 = 256;

/// How long a stranger may take to present the secret before it is closed.
const GREETING: Duration = Duration::from_secs(2);

/// The transport.
pub struct Tcp;

impl Transport for Tcp {
    fn name(&self) -> &'static str {
        "tcp"
    }

    fn offer(&self, spec: &Spec) -> Result<(Box<dyn Pending>, Offer)> {
        if spec.flows == 0 || spec.flows > MOST_FLOWS {
            return Err(Error::usage(format!("{} flows", spec.flows), format!("1 to {MOST_FLOWS} flows")));
        }
        if !spec.passive {
            return Ok((Box::new(Active { spec: spec.clone() }), Offer::Nothing));
        }
        let any = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let address = SocketAddr::new(spec.address.unwrap_or(any), 0);
        let listener = options(spec).listen(address, spec.flows as i32)?;
        let address = listener.local_addr().map_err(|e| Error::io("getsockname", "listener", e))?;
        let secret = format!("{:032x}", rand::random::<u128>());
        let offer = Offer::Socket { address, secret: secret.clone() };
        Ok((Box::new(Passive { spec: spec.clone(), listener, secret }), offer))
    }
}

fn options(spec: &Spec) -> TcpOptions {
    let bytes = |knob| spec.parsed::<Bytes>(knob).map(|bytes| bytes.0);
    TcpOptions {
        send_buffer: bytes("socket.send-buffer").map(|bytes| bytes as usize),
        receive_buffer: bytes("socket.receive-buffer").map(|bytes| bytes as usize),
        congestion_control: spec.value("tcp.congestion-control").map(String::from),
        mss: bytes("tcp.mss").map(|bytes| bytes as u32),
        no_delay: spec.value("tcp.no-delay") != Some("off"),
    }
}

struct Active {
    spec: Spec,
}

impl Pending for Active {
    fn join(self: Box<Self>, other: &Offer) -> Result<Box<dyn Session>> {
        let Offer::Socket { address, secret } = other else {
            return Err(Error::peer("the other end", "offered no port", ""));
        };
        let options = options(&self.spec);
        let flows = (0..self.spec.flows).map(|flow| greet(&options, *address, secret, flow, &self.spec));
        Connected::open(self.spec.clone(), flows.collect::<Result<_>>()?)
    }
}

fn greet(options: &TcpOptions, to: SocketAddr, secret: &str, flow: u32, spec: &Spec) -> Result<TcpStream> {
    let mut stream = options.connect(to, spec.patience())?;
    let greeting = format!("{secret}{flow:08x}");
    stream.write_all(greeting.as_bytes()).map_err(|e| Error::io("write", format!("{to}"), e))?;
    Ok(stream)
}

struct Passive {
    spec: Spec,
    listener: TcpListener,
    secret: String,
}

impl Pending for Passive {
    fn join(self: Box<Self>, _other: &Offer) -> Result<Box<dyn Session>> {
        let mut flows: Vec<Option<TcpStream>> = (0..self.spec.flows).map(|_| None).collect();
        let deadline = Instant::now() + self.spec.patience();
        self.listener.set_nonblocking(true).map_err(|e| Error::io("fcntl", "listener", e))?;
        while flows.iter().any(Option::is_none) {
            if let Some(stream) = self.accept(deadline)?
                && let Some(flow) = self.greeted(&stream)
                && let Some(slot @ None) = flows.get_mut(flow)
            {
                *slot = Some(stream);
            }
        }
        Connected::open(self.spec.clone(), flows.into_iter().flatten().collect())
    }
}

impl Passive {
    fn accept(&self, deadline: Instant) -> Result<Option<TcpStream>> {
        match self.listener.accept() {
            Ok((stream, _)) => Ok(Some(stream)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                let left = deadline.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    let hint = "does a firewall stand between the hosts' test ports?";
                    return Err(Error::peer("the other end", "did not connect in time", hint));
                }
                linerate_sys::socket::wait_readable(&self.listener, left)?;
                Ok(None)
            }
            Err(error) => Err(Error::io("accept", "listener", error)),
        }
    }

    /// The flow's number, when the connection presented the secret in time.
    fn greeted(&self, mut stream: &TcpStream) -> Option<usize> {
        let mut greeting = [0; SECRET_LEN + 8];
        stream.set_nonblocking(false).ok()?;
        stream.set_read_timeout(Some(GREETING)).ok()?;
        stream.read_exact(&mut greeting).ok()?;
        let (secret, flow) = greeting.split_at(SECRET_LEN);
        let flow = std::str::from_utf8(flow).ok()?;
        (secret == self.secret.as_bytes()).then(|| usize::from_str_radix(flow, 16).ok()).flatten()
    }
}

/// An open session.
struct Connected {
    spec: Spec,
    flows: Vec<TcpStream>,
}

impl Connected {
    fn open(spec: Spec, flows: Vec<TcpStream>) -> Result<Box<dyn Session>> {
        for stream in &flows {
            socket::limit_waits(stream, spec.patience())?;
        }
        Ok(Box::new(Connected { spec, flows }))
    }
}

impl Session for Connected {
    fn granted(&self) -> Vec<Granted> {
        let Some(Ok(options)) = self.flows.first().map(socket::granted) else {
            return Vec::new();
        };
        vec![
            granted(&self.spec, "socket.send-buffer", options.send_buffer),
            granted(&self.spec, "socket.receive-buffer", options.receive_buffer),
            granted(&self.spec, "tcp.congestion-control", options.congestion_control),
            granted(&self.spec, "tcp.no-delay", if options.no_delay { "on" } else { "off" }),
            granted(&self.spec, "tcp.mss", options.mss),
        ]
    }

    fn endpoints(&self) -> Vec<String> {
        let both =
            |stream: &TcpStream| Some(format!("{} {}", stream.local_addr().ok()?, stream.peer_addr().ok()?));
        self.flows.iter().filter_map(both).collect()
    }

    fn sockets(&self) -> Vec<&TcpStream> {
        self.flows.iter().collect()
    }

    fn trial(&mut self, tasks: &[Task], wait: Wait, blocks: &[Block]) -> Result<Vec<Vec<Vec<Measured>>>> {
        let patience = self.spec.patience();
        match wait {
            Wait::Polling => self.with_links(tasks, wait, blocks, |stream| Polling { stream, patience }),
            Wait::Sleeping => self.with_links(tasks, wait, blocks, |stream| Sleeping { stream }),
        }
    }
}

impl Connected {
    fn with_links<'s, L: Link + Send>(
        &'s self,
        tasks: &[Task],
        wait: Wait,
        blocks: &[Block],
        link: impl Fn(&'s TcpStream) -> L,
    ) -> Result<Vec<Vec<Vec<Measured>>>> {
        let parts: Vec<Part<L>> = tasks
            .iter()
            .flat_map(|task| self.flows.iter().enumerate().map(move |flow| (task, flow)))
            .map(|(task, (flow, stream))| Part { link: link(stream), does: task.does, cpu: task.cpu(flow) })
            .collect();
        let measured = Faults::of(&self.spec).play(parts, wait, blocks)?;
        Ok(by_task(measured, self.flows.len()))
    }
}

/// Asks the kernel again and again.
struct Polling<'s> {
    stream: &'s TcpStream,
    patience: Duration,
}

/// Sleeps in the kernel; `SO_RCVTIMEO` and `SO_SNDTIMEO` end a wait that is too long.
struct Sleeping<'s> {
    stream: &'s TcpStream,
}

impl Link for Polling<'_> {
    #[inline]
    fn push(&mut self, bytes: &[u8]) -> io::Result<usize> {
        poll(self.patience, || socket::send_now(self.stream, bytes))
    }

    #[inline]
    fn pull(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        poll(self.patience, || came(socket::receive_now(self.stream, bytes)?))
    }
}

impl Link for Sleeping<'_> {
    #[inline]
    fn push(&mut self, bytes: &[u8]) -> io::Result<usize> {
        socket::send_waiting(self.stream, bytes)
    }

    #[inline]
    fn pull(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        came(socket::receive_waiting(self.stream, bytes)?)
    }
}

/// No byte yet is 0; the end of the stream in mid-trial is an error.
#[inline]
fn came(received: Option<usize>) -> io::Result<usize> {
    match received {
        Some(0) => Err(io::ErrorKind::UnexpectedEof.into()),
        Some(count) => Ok(count),
        None => Ok(0),
    }
}
