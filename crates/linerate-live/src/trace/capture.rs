//! One stream's packets, as they pass this host's interface: a thread keeps their heads while the stream runs.

use super::ask::{CaptureRequest, Captured};
use crate::observer::tcp_info;
use crate::record::{CapturedSide, Packet, encode_packets};
use crate::{Error, Result};
use linerate_sys::packets::{KEPT, Packets, ports};
use linerate_sys::socket::{receive_waiting, send_waiting};
use linerate_sys::{clock, link, thread};
use std::io;
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Bytes of one call of the stream.
pub const CALL: usize = 128 << 10;

/// The bytes by which the receiving end says that its packets are kept, and that all has come.
pub(super) const READY: u8 = 1;
pub(super) const ALL: u8 = 2;

/// How long the kernel may take until it stamps packets: a work item turns it on (net_enable_timestamp).
const TURNED_ON: Duration = Duration::from_millis(30);

/// How long what is still on its way may take: the last acknowledgements.
const AFTER: Duration = Duration::from_millis(100);

/// How long a sender that sends no more may wait until the other end has all: what its buffer holds may go slowly.
pub const DRAINS: Duration = Duration::from_secs(60);

/// The most bytes of heads that are kept: they go to the controller in one message.
const MOST: u64 = 6 << 20;

/// What a head takes beside itself.
const BESIDE: u64 = 16;

/// Plays this end of the stream, and keeps what passes.
pub fn capture(socket: &TcpStream, request: &CaptureRequest) -> Result<Captured> {
    let fail = |call| move |e| Error::io(call, "the connection", e);
    let (here, there) =
        (socket.local_addr().map_err(fail("getsockname"))?, socket.peer_addr().map_err(fail("getpeername"))?);
    let missing = || Error::unavailable(format!("no interface has the address {}", here.ip()), "");
    let interface = link::with_address(here.ip())?.ok_or_else(missing)?;
    let packets = Packets::open(interface.index, ports(here, there)).map_err(refused)?;
    std::thread::sleep(TURNED_ON);
    let before = linerate_sys::tcp_info::tcp_info(socket)?;
    let stop = AtomicBool::new(false);
    let (played, kept) = std::thread::scope(|scope| -> Result<_> {
        let keeper =
            thread::start_within(scope, "capture", || keep(&packets, &stop, request.most_bytes.min(MOST)))?;
        let played = if request.sends { send(socket, request) } else { receive(socket, request) };
        std::thread::sleep(AFTER);
        stop.store(true, Ordering::Relaxed);
        let panicked = |_| Error::peer("this process", "a thread panicked", "please report it");
        Ok((played, keeper.join().map_err(panicked)?))
    })?;
    let after = linerate_sys::tcp_info::tcp_info(socket)?;
    let Kept { heads, cut, dropped } = kept?;
    let Flow { bytes, timed_bytes, elapsed_ns, stalled } = played.map_err(|error| hung_up(&error))?;
    if heads.is_empty() && !cut && dropped == 0 {
        let what = format!("no packet of the connection was seen at {}", interface.name);
        let hint = "packets have no Ethernet header there (tun, InfiniBand), or both ends are on this host: \
                    name addresses of an Ethernet between two hosts, with --address";
        return Err(Error::unavailable(what, hint));
    }
    Ok(Captured {
        bytes,
        timed_bytes,
        elapsed_ns,
        stalled,
        side: CapturedSide {
            interface: interface.name,
            packets: encode_packets(&heads),
            dropped,
            cut,
            tcp: tcp_info::moved(&before, &after),
            tcp_last: tcp_info::last(&after),
            address: here.to_string(),
        },
    })
}

fn refused(error: linerate_sys::Error) -> Error {
    match error.is_refusal() {
        true => Error::unavailable(
            format!("{error}: {}", error.source),
            "packet sockets ask for CAP_NET_RAW: run as root, or in a lab",
        ),
        false => error.into(),
    }
}

fn hung_up(error: &io::Error) -> Error {
    Error::hung_up("the other end of the capture", format!("ended the stream ({})", error.kind()))
}

/// What became of the stream at this end.
struct Flow {
    bytes: u64,
    /// Those of them that the time is of.
    timed_bytes: u64,
    elapsed_ns: u64,
    /// Whether nothing came for so long that no more was waited for.
    stalled: bool,
}

/// What was kept.
struct Kept {
    heads: Vec<Packet>,
    cut: bool,
    /// What there was no room for until then.
    dropped: u64,
}

/// Heads until it is to stop, or so many bytes are kept.
fn keep(packets: &Packets, stop: &AtomicBool, most_bytes: u64) -> Result<Kept> {
    let (mut room, mut heads, mut bytes) = ([0; KEPT], Vec::new(), 0);
    loop {
        let next = packets.next(&mut room);
        match next.map_err(|e| Error::io("recvmsg(AF_PACKET)", "packets of the connection", e))? {
            Some(head) => {
                bytes += head.kept as u64 + BESIDE;
                if bytes > most_bytes {
                    return Ok(Kept { heads, cut: true, dropped: packets.dropped()? });
                }
                heads.push(Packet {
                    ns: head.ns,
                    length: head.length.min(u32::MAX as usize) as u32,
                    outgoing: head.outgoing,
                    head: room[..head.kept].to_vec(),
                });
            }
            None if stop.load(Ordering::Relaxed) => {
                return Ok(Kept { heads, cut: false, dropped: packets.dropped()? });
            }
            None => {}
        }
    }
}

/// Sends so many bytes, or as many as it can in the time, and waits until the other end has them, or waits no more.
fn send(socket: &TcpStream, request: &CaptureRequest) -> io::Result<Flow> {
    let buffer = vec![0x55; CALL];
    await_byte(socket, READY)?;
    let (begun, mut left) = (clock::monotonic_ns(), request.bytes);
    while left > 0 && clock::monotonic_ns() - begun < request.limit_ns {
        let part = left.min(CALL as u64) as usize;
        match send_waiting(socket, &buffer[..part]) {
            Ok(sent) => left -= sent as u64,
            // The other end sees it, too, and says so.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(error) => return Err(error),
        }
    }
    socket.shutdown(Shutdown::Write)?;
    await_byte(socket, ALL)?;
    let bytes = request.bytes - left;
    let elapsed_ns = clock::monotonic_ns() - begun;
    Ok(Flow { bytes, timed_bytes: bytes, elapsed_ns, stalled: false })
}

/// Receives to the end, or until nothing comes any more, and says so. The time is of what came after the first call.
fn receive(socket: &TcpStream, request: &CaptureRequest) -> io::Result<Flow> {
    let (mut buffer, mut bytes, mut begun, mut ended) = (vec![0; CALL], 0, None::<(u64, u64)>, 0);
    let mut stalled = false;
    while send_waiting(socket, &[READY])? == 0 {}
    loop {
        match receive_waiting(socket, &mut buffer) {
            Ok(Some(0)) => break,
            Ok(Some(came)) => bytes += came as u64,
            Ok(None) => continue,
            // What passes nothing is what a capture is wanted of.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                stalled = true;
                break;
            }
            Err(error) => return Err(error),
        }
        ended = clock::monotonic_ns();
        begun.get_or_insert((ended, bytes));
        if bytes > request.bytes {
            return Err(io::ErrorKind::InvalidData.into());
        }
    }
    while send_waiting(socket, &[ALL])? == 0 {}
    let (first, ahead) = begun.unwrap_or((ended, bytes));
    Ok(Flow { bytes, timed_bytes: bytes - ahead, elapsed_ns: ended - first, stalled })
}

/// Waits for this byte.
pub(super) fn await_byte(socket: &TcpStream, byte: u8) -> io::Result<()> {
    let (mut room, begun) = ([0], Instant::now());
    loop {
        match receive_waiting(socket, &mut room) {
            Ok(Some(0)) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(Some(_)) if room[0] == byte => return Ok(()),
            Ok(Some(_)) => return Err(io::ErrorKind::InvalidData.into()),
            Ok(None) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock && begun.elapsed() < DRAINS => {}
            Err(error) => return Err(error),
        }
    }
}
