//! A control stream over TCP: TLS 1.3 in which both ends prove the same secret, before either says a word.
//!
//! Each end's key follows from the secret (RFC 7250: a raw public key in place of a certificate, so that no name, date or
//! authority says anything). The name that the connecting end says follows from it too, so that a stranger is refused with an
//! alert of seven bytes, before any work with keys. A secret is 128 random bits at least and never a user's word: what is
//! sent in the clear could be tried against a guess.

use crate::{Error, Result};
use linerate_sys::socket;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{AlwaysResolvesClientRawPublicKeys, Resumption};
use rustls::crypto::ring::{default_provider, sign::any_eddsa_type};
use rustls::crypto::{CryptoProvider, verify_tls13_signature_with_raw_key};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::{
    CertificateError, ClientConfig, ClientConnection, Connection, DigitallySignedStruct, DistinguishedName,
    ServerConfig, ServerConnection, SignatureScheme,
};
use sha2::{Digest, Sha256};
use std::fmt::Display;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What an end may send before it is known; a handshake has about 700 bytes.
const UNKNOWN_BYTES: usize = 8 << 10;

/// How long one write may take: an end that takes nothing for so long is as good as gone.
const WRITE: Duration = Duration::from_secs(60);

/// What is sealed at once.
const AT_ONCE: usize = 64 << 10;

/// What precedes the seed of an Ed25519 key in PKCS #8 (RFC 8410, section 7).
const PKCS8: [u8; 16] =
    [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];

/// Both ends' configurations, of one secret.
#[derive(Debug, Clone)]
pub struct Seal {
    connecting: Arc<ClientConfig>,
    listening: Arc<ServerConfig>,
    name: ServerName<'static>,
}

impl Seal {
    /// What follows from this secret.
    pub fn from_secret(secret: &str) -> Result<Seal> {
        let provider = Arc::new(default_provider());
        let [listens, connects] = ["listens", "connects"].map(|end| key(secret, end));
        let (listens, connects) = (listens?, connects?);
        let name: String = derived(secret, "name").iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let name = format!("{name}.invalid");
        let known = |key: &CertifiedKey| {
            let key = key.cert.first().map(|key| key.to_vec()).unwrap_or_default();
            Arc::new(Known { key, provider: provider.clone() })
        };
        let versions = &[&rustls::version::TLS13];
        let mut connecting = ClientConfig::builder_with_provider(provider.clone())
            .with_protocol_versions(versions)
            .map_err(|e| failed(&e))?
            .dangerous()
            .with_custom_certificate_verifier(known(&listens))
            .with_client_cert_resolver(Arc::new(AlwaysResolvesClientRawPublicKeys::new(connects.clone())));
        connecting.resumption = Resumption::disabled();
        let named = Named { name: name.clone(), key: listens };
        let mut listening = ServerConfig::builder_with_provider(provider.clone())
            .with_protocol_versions(versions)
            .map_err(|e| failed(&e))?
            .with_client_cert_verifier(known(&connects))
            .with_cert_resolver(Arc::new(named));
        listening.send_tls13_tickets = 0;
        let name = ServerName::try_from(name).map_err(|e| failed(&e))?;
        Ok(Seal { connecting: Arc::new(connecting), listening: Arc::new(listening), name })
    }

    /// The end that listened. When this returns, the other one has proved the secret.
    pub fn accept(&self, stream: TcpStream, limit: Duration) -> Result<(Opener, Sealer)> {
        let state = ServerConnection::new(self.listening.clone()).map_err(|e| failed(&e))?;
        shake_hands(stream, Connection::Server(state), limit)
    }

    /// The end that connected. When this returns, the other one has proved the secret, and may still refuse this one.
    pub fn connect(&self, stream: TcpStream, limit: Duration) -> Result<(Opener, Sealer)> {
        let state = ClientConnection::new(self.connecting.clone(), self.name.clone());
        shake_hands(stream, Connection::Client(state.map_err(|e| failed(&e))?), limit)
    }
}

fn failed(error: &dyn Display) -> Error {
    Error::unavailable(format!("TLS: {error}"), "")
}

/// What follows from a secret for one use, and says nothing of that for another.
fn derived(secret: &str, of: &str) -> [u8; 32] {
    Sha256::digest(format!("linerate control {of} {secret}")).into()
}

fn key(secret: &str, end: &str) -> Result<Arc<CertifiedKey>> {
    let key = [&PKCS8[..], &derived(secret, end)].concat();
    let key = any_eddsa_type(&PrivatePkcs8KeyDer::from(key)).map_err(|e| failed(&e))?;
    let public = key.public_key().map(|public| public.to_vec()).unwrap_or_default();
    Ok(Arc::new(CertifiedKey::new(vec![CertificateDer::from(public)], key)))
}

/// The listening end's key, for who says the name.
#[derive(Debug)]
struct Named {
    name: String,
    key: Arc<CertifiedKey>,
}

impl ResolvesServerCert for Named {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        (hello.server_name() == Some(&self.name)).then(|| self.key.clone())
    }

    fn only_raw_public_keys(&self) -> bool {
        true
    }
}

/// Takes one key and no other.
#[derive(Debug)]
struct Known {
    key: Vec<u8>,
    provider: Arc<CryptoProvider>,
}

impl Known {
    fn is(&self, key: &CertificateDer<'_>) -> std::result::Result<(), rustls::Error> {
        let unknown = rustls::Error::InvalidCertificate(CertificateError::ApplicationVerificationFailure);
        if key.as_ref() == self.key { Ok(()) } else { Err(unknown) }
    }

    fn signed(
        &self,
        message: &[u8],
        key: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        let key = SubjectPublicKeyInfoDer::from(key.as_ref());
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature_with_raw_key(message, &key, signature, algorithms)
    }

    fn schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// TLS 1.2 is not spoken, so nothing is signed for it.
fn no_older() -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
    Err(rustls::Error::General("TLS 1.2 is not spoken".into()))
}

impl ServerCertVerifier for Known {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        self.is(end_entity).map(|()| ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        no_older()
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        key: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        self.signed(message, key, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.schemes()
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}

impl ClientCertVerifier for Known {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> std::result::Result<ClientCertVerified, rustls::Error> {
        self.is(end_entity).map(|()| ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        no_older()
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        key: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        self.signed(message, key, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.schemes()
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}

/// A stream of which an end that is not known yet has so much time and so many bytes.
struct Unknown<'s> {
    stream: &'s TcpStream,
    until: Instant,
    bytes: usize,
}

impl Read for Unknown<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() || self.bytes == 0 {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(Some(left))?;
        let most = bytes.len().min(self.bytes);
        let count = self.stream.read(&mut bytes[..most])?;
        self.bytes -= count;
        Ok(count)
    }
}

impl Write for Unknown<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn shake_hands(stream: TcpStream, mut state: Connection, limit: Duration) -> Result<(Opener, Sealer)> {
    let said = |e: io::Error| Error::io("prove the secret to", peer(&stream), e);
    stream.set_nodelay(true).map_err(said)?;
    stream.set_write_timeout(Some(limit)).map_err(said)?;
    let mut unknown = Unknown { stream: &stream, until: Instant::now() + limit, bytes: UNKNOWN_BYTES };
    while state.is_handshaking() {
        state.complete_io(&mut unknown).map_err(said)?;
    }
    while state.wants_write() {
        state.write_tls(&mut unknown).map_err(said)?;
    }
    stream.set_read_timeout(None).map_err(said)?;
    stream.set_write_timeout(Some(WRITE)).map_err(said)?;
    socket::notice_loss(&stream);
    let other = stream.try_clone().map_err(said)?;
    let state = Arc::new(Mutex::new(state));
    let opener = Opener { stream: other, state: state.clone(), room: vec![0; AT_ONCE].into(), left: 0..0 };
    Ok((opener, Sealer { stream, state }))
}

fn peer(stream: &TcpStream) -> String {
    stream.peer_addr().map_or_else(|_| "the other end".into(), |address| address.to_string())
}

fn locked(state: &Mutex<Connection>) -> MutexGuard<'_, Connection> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The reading half. It waits without the lock, so that the other half may write meanwhile.
pub struct Opener {
    stream: TcpStream,
    state: Arc<Mutex<Connection>>,
    room: Box<[u8]>,
    left: Range<usize>,
}

impl Opener {
    /// How long one read waits at most; for ever where nothing is said.
    pub fn limit(&self, limit: Option<Duration>) {
        // Of a socket that is gone the next read tells.
        let _ = self.stream.set_read_timeout(limit);
    }

    /// The addresses of this end and of the other one.
    pub fn ends(&self) -> io::Result<[std::net::SocketAddr; 2]> {
        Ok([self.stream.local_addr()?, self.stream.peer_addr()?])
    }
}

impl Read for Opener {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        loop {
            let mut state = locked(&self.state);
            match state.reader().read(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                answer => return answer,
            }
            if self.left.is_empty() {
                drop(state);
                let count = self.stream.read(&mut self.room)?;
                if count == 0 {
                    return Ok(0);
                }
                self.left = 0..count;
                state = locked(&self.state);
            }
            self.left.start += state.read_tls(&mut &self.room[self.left.clone()])?;
            state.process_new_packets().map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e))?;
        }
    }
}

/// The writing half. With it the stream ends.
pub struct Sealer {
    stream: TcpStream,
    state: Arc<Mutex<Connection>>,
}

impl Sealer {
    /// How long one write waits at most.
    pub fn limit(&self, limit: Duration) {
        // Of a socket that is gone the next write tells.
        let _ = self.stream.set_write_timeout(Some(limit));
    }

    /// Sends what is sealed; without the lock, so that what comes is opened meanwhile.
    fn send(&mut self, seal: impl FnOnce(&mut Connection) -> io::Result<usize>) -> io::Result<usize> {
        let mut sealed = Vec::new();
        let mut state = locked(&self.state);
        let taken = seal(&mut state)?;
        while state.wants_write() {
            state.write_tls(&mut sealed)?;
        }
        drop(state);
        self.stream.write_all(&sealed)?;
        Ok(taken)
    }
}

impl Write for Sealer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let most = bytes.len().min(AT_ONCE);
        self.send(|state| state.writer().write(&bytes[..most]))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Sealer {
    fn drop(&mut self) {
        let _ = self.stream.set_write_timeout(Some(Duration::from_secs(1)));
        // An end that is gone hears nothing, and need not.
        let _ = self.send(|state| {
            state.send_close_notify();
            Ok(0)
        });
        let _ = self.stream.shutdown(Shutdown::Write);
    }
}

#[cfg(test)]
mod tests;
