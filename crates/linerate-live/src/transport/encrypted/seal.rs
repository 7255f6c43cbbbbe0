//! One end of one connection's TLS 1.3, by rustls with ring: what seals before it is sent, and opens what came.
//!
//! It holds no socket, so that whoever has both decides how bytes reach the kernel and where the time of sealing is told.

use super::certificate::{Identity, NAME, client, name_of};
use crate::{Error, Result};
use linerate_sys::socket;
use rustls::pki_types::ServerName;
use rustls::{ClientConnection, Connection, ServerConnection};
use std::fmt::Display;
use std::io::{self, IoSlice, Read, Write};
use std::net::TcpStream;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What is sealed before it is sent: four records. The library would hold all of a longer message sealed.
const AT_ONCE: usize = 64 << 10;

/// What is read at once; the library by itself would read 4 KiB.
const ROOM: usize = 128 << 10;

/// The state of one end.
pub struct Seal {
    state: Connection,
    /// What was read, and the part of it that has not been opened yet.
    room: Box<[u8]>,
    left: Range<usize>,
}

impl Seal {
    /// The end that shows the certificate.
    pub fn server(identity: &Identity, cipher: &str) -> Result<Seal> {
        let state = ServerConnection::new(Arc::new(identity.server(cipher)?)).map_err(|e| failed(&e))?;
        Ok(Seal::new(Connection::Server(state)))
    }

    /// The end that takes nobody but the holder of this fingerprint's certificate.
    pub fn client(cipher: &str, fingerprint: &str) -> Result<Seal> {
        let name = ServerName::try_from(NAME).map_err(|e| failed(&e))?;
        let state =
            ClientConnection::new(Arc::new(client(cipher, fingerprint)?), name).map_err(|e| failed(&e))?;
        Ok(Seal::new(Connection::Client(state)))
    }

    fn new(state: Connection) -> Seal {
        Seal { state, room: vec![0; ROOM].into(), left: 0..0 }
    }

    /// The cipher that was agreed upon, by its value of the knob.
    pub fn cipher(&self) -> Option<String> {
        self.state.negotiated_cipher_suite().map(name_of)
    }

    /// Shakes hands within the limit.
    pub fn shake_hands(&mut self, stream: &TcpStream, limit: Duration) -> Result<()> {
        let until = Instant::now() + limit;
        while self.state.is_handshaking() {
            self.shake(stream, until)?;
        }
        self.flush(|parts| socket::send_parts_waiting(stream, parts)).map_err(|e| refused(&e))
    }

    /// One turn: what is to be said, then what is heard. The other end is told why where it is refused.
    fn shake(&mut self, stream: &TcpStream, until: Instant) -> Result<()> {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(refused(&io::ErrorKind::TimedOut.into()));
        }
        socket::limit_waits(stream, left)?;
        self.flush(|parts| socket::send_parts_waiting(stream, parts)).map_err(|e| refused(&e))?;
        if !self.state.is_handshaking() {
            return Ok(());
        }
        match self.take_in(|room| socket::receive_waiting(stream, room)).and_then(|_| self.open()) {
            Err(error) => {
                let _ = self.flush(|parts| socket::send_parts_now(stream, parts));
                Err(refused(&error))
            }
            Ok(()) => Ok(()),
        }
    }

    /// Takes in what came; false where nothing did.
    #[inline]
    pub fn take_in(
        &mut self,
        mut receive: impl FnMut(&mut [u8]) -> io::Result<Option<usize>>,
    ) -> io::Result<bool> {
        if self.left.is_empty() {
            match receive(&mut self.room)? {
                Some(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Some(count) => self.left = 0..count,
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Whether something that was taken in waits to be opened.
    pub fn has_more(&self) -> bool {
        !self.left.is_empty()
    }

    /// Opens what was taken in.
    #[inline]
    pub fn open(&mut self) -> io::Result<()> {
        if self.left.is_empty() {
            return Ok(());
        }
        self.left.start += self.state.read_tls(&mut &self.room[self.left.clone()])?;
        let seen = self.state.process_new_packets();
        seen.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        Ok(())
    }

    /// Seals the first part of `bytes`; says how much.
    #[inline]
    pub fn seal(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.state.writer().write(&bytes[..bytes.len().min(AT_ONCE)])
    }

    /// Sends all that is sealed.
    #[inline]
    pub fn flush(&mut self, send: impl FnMut(&[IoSlice<'_>]) -> io::Result<usize>) -> io::Result<()> {
        let mut out = Out(send);
        while self.state.wants_write() {
            self.state.write_tls(&mut out)?;
        }
        Ok(())
    }

    /// Fills the first part of `bytes` with what was opened; none where nothing whole has come.
    #[inline]
    pub fn opened(&mut self, bytes: &mut [u8]) -> io::Result<Option<usize>> {
        match self.state.reader().read(bytes) {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            answer => answer.map(Some),
        }
    }
}

/// What the library writes its records to.
struct Out<S>(S);

impl<S: FnMut(&[IoSlice<'_>]) -> io::Result<usize>> Write for Out<S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (self.0)(&[IoSlice::new(bytes)])
    }

    fn write_vectored(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        (self.0)(parts)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn failed(error: &dyn Display) -> Error {
    Error::unavailable(format!("TLS: {error}"), "")
}

fn refused(error: &io::Error) -> Error {
    let what = match error.kind() {
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => "did not shake hands in time".into(),
        io::ErrorKind::UnexpectedEof => "went away in mid-handshake".into(),
        _ => format!("TLS handshake: {error}"),
    };
    Error::peer("the other end", what, "are both ends of this session?")
}
