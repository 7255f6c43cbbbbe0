//! The timed loops of a trace: one end asks and waits for the answer, the other one waits and answers.

use super::probe::Probe;
use super::sleeping::Waiting;
use std::io;
use std::net::TcpStream;

/// So many exchanges, asked from here: each message goes in as many calls as there are parts between its cuts.
pub fn ask<P: Probe, W: Waiting>(
    socket: &TcpStream,
    (message, cuts): (&[u8], &[usize]),
    room: &mut [u8],
    exchanges: usize,
    probe: &mut P,
    waiting: &W,
) -> io::Result<()> {
    for exchange in 0..exchanges {
        probe.begin(exchange);
        let sent = probe.now();
        for cut in cuts.windows(2) {
            send_whole(socket, &message[cut[0]..cut[1]], probe)?;
        }
        receive_whole(socket, room, probe, waiting)?;
        let returned = probe.now();
        probe.asked(exchange, sent, returned)?;
    }
    Ok(())
}

/// So many exchanges, answered from here.
pub fn answer<P: Probe, W: Waiting>(
    socket: &TcpStream,
    message: &[u8],
    room: &mut [u8],
    exchanges: usize,
    probe: &mut P,
    waiting: &W,
) -> io::Result<()> {
    for exchange in 0..exchanges {
        probe.begin(exchange);
        receive_whole(socket, room, probe, waiting)?;
        let (returned, sent) = probe.between(exchange);
        send_whole(socket, message, probe)?;
        probe.answered(exchange, returned, sent)?;
    }
    Ok(())
}

/// Where a message is cut that goes in so many calls: its begin, each call's end.
pub fn cuts(bytes: u64, calls: u32) -> Vec<usize> {
    let calls = u64::from(calls.max(1));
    (0..=calls).map(|call| (call * bytes / calls) as usize).collect()
}

/// Sends all of it.
#[inline]
pub fn send_whole<P: Probe>(socket: &TcpStream, mut bytes: &[u8], probe: &mut P) -> io::Result<()> {
    while !bytes.is_empty() {
        bytes = &bytes[probe.send(socket, bytes)?..];
    }
    Ok(())
}

/// Receives until the room is full.
#[inline]
pub fn receive_whole<P: Probe, W: Waiting>(
    socket: &TcpStream,
    room: &mut [u8],
    probe: &mut P,
    waiting: &W,
) -> io::Result<()> {
    let (mut filled, mut spins, mut since) = (0, 0, None);
    while filled < room.len() {
        match probe.receive(socket, &mut room[filled..], W::SLEEPS) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(came) => filled += came,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                waiting.nothing_yet(&mut spins, &mut since)?
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::cuts;

    #[test]
    fn a_message_goes_in_as_many_calls_as_asked() {
        assert_eq!((cuts(64, 1), cuts(10, 4)), (vec![0, 64], vec![0, 2, 5, 7, 10]));
        for (bytes, calls) in [(9, 4), (16, 16), (17, 16), (65_536, 7)] {
            let cuts = cuts(bytes, calls);
            assert_eq!((cuts.len() as u32, cuts.last()), (calls + 1, Some(&(bytes as usize))));
            assert!(cuts.windows(2).all(|cut| cut[0] < cut[1]), "{cuts:?}");
        }
    }
}
