//! The connection of two ends whose ranks have one of their own: it carries their addresses, and ends with an end.

use crate::transport::connection::channel::{receive_all, send_all};
use crate::{Error, Result};
use linerate_sys::socket;
use std::net::TcpStream;
use std::time::Duration;

/// The longest address of a rank: those that are known have some hundred bytes, and some more for each device.
const LONGEST: usize = 16 << 10;

/// An end's side.
#[derive(Debug)]
pub struct OutOfBand(TcpStream);

impl OutOfBand {
    /// Over this connection, whose other side has shown that it belongs to the session.
    pub fn over(stream: TcpStream) -> OutOfBand {
        OutOfBand(stream)
    }

    /// Tells this end's address and gives the other one's. It may be anything of a bounded length.
    pub fn exchange(&self, own: &[u8], patience: Duration) -> Result<Vec<u8>> {
        let too_long = |len: usize| {
            let what = format!("an address of {len} B for its rank: at most {LONGEST} B are one");
            Error::peer("the other end", what, "is it of the same version?")
        };
        let len = u32::try_from(own.len()).ok().filter(|_| own.len() <= LONGEST);
        let len = len.ok_or_else(|| too_long(own.len()))?;
        let failed = |e| Error::io("exchange", "the ranks' addresses", e);
        socket::limit_waits(&self.0, patience)?;
        send_all(&self.0, &[&len.to_be_bytes()[..], own].concat()).map_err(failed)?;
        let mut len = [0; 4];
        receive_all(&self.0, &mut len).map_err(failed)?;
        let len = u32::from_be_bytes(len) as usize;
        if len > LONGEST {
            return Err(too_long(len));
        }
        let mut other = vec![0; len];
        receive_all(&self.0, &mut other).map_err(failed)?;
        Ok(other)
    }

    /// An error once the other end has gone: nothing else comes after the addresses.
    pub fn check(&self) -> Result<()> {
        match socket::wait_readable(&self.0, Duration::ZERO) {
            Ok(false) => Ok(()),
            _ => Err(Error::hung_up("the other end", "gave its session up")),
        }
    }

    /// Tells the other end that this one is done with it.
    pub fn cut(&self) {
        socket::shut_down(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::net::TcpListener;

    const PATIENCE: Duration = Duration::from_secs(5);

    fn pair() -> [TcpStream; 2] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let one = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        [one, listener.accept().unwrap().0]
    }

    #[test]
    fn each_end_hears_the_others_address_and_end() {
        let [one, other] = pair().map(OutOfBand::over);
        let far = std::thread::spawn(move || (other.exchange(b"far away", PATIENCE).unwrap(), other));
        assert_eq!(one.exchange(b"near", PATIENCE).unwrap(), b"far away");
        let (near, other) = far.join().unwrap();
        assert_eq!(near, b"near");
        one.check().unwrap();
        other.cut();
        while one.check().is_ok() {}
        assert!(matches!(one.check().unwrap_err(), Error::HungUp { .. }));
    }

    #[test]
    fn an_address_of_any_length_is_none() {
        let [one, mut other] = pair();
        other.write_all(&u32::MAX.to_be_bytes()).unwrap();
        let error = OutOfBand::over(one).exchange(b"near", PATIENCE).unwrap_err().to_string();
        assert!(error.contains("4294967295 B"), "{error}");
        let [one, other] = pair();
        assert!(OutOfBand::over(one).exchange(&[0; LONGEST + 1], PATIENCE).is_err());
        drop(other);
    }

    #[test]
    fn hang_ups_and_silence_are_told_in_time() {
        let [one, mut other] = pair();
        other.write_all(&[0, 0, 0, 9, 1]).unwrap();
        drop(other);
        assert!(OutOfBand::over(one).exchange(b"near", PATIENCE).is_err());
        let [one, other] = pair();
        assert!(OutOfBand::over(one).exchange(b"near", Duration::from_millis(50)).is_err());
        drop(other);
    }
}
