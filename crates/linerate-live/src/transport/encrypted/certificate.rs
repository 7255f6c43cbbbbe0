//! What TLS and QUIC trust: one certificate, made for the session, whose fingerprint came with the offer.
//!
//! The offer travels by control, so whoever has it knows the other end. No name, no date and no authority says
//! anything here, and nothing of it is ever written to a file.

use crate::transport::Spec;
use crate::{Error, Result};
use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, ring, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use rustls::{
    CertificateError, CipherSuite, ClientConfig, DigitallySignedStruct, ServerConfig, SignatureScheme,
    SupportedCipherSuite,
};
use sha2::{Digest, Sha256};
use std::fmt::Display;
use std::sync::Arc;

/// The knob.
pub const CIPHER: &str = "tls.cipher";

/// The name that a client has to say, and that nobody looks at.
pub const NAME: &str = "linerate";

/// The values of the knob. The first one is what every implementation must have (RFC 8446, section 9.1).
const CIPHERS: [(&str, CipherSuite); 3] = [
    ("aes-128-gcm", CipherSuite::TLS13_AES_128_GCM_SHA256),
    ("aes-256-gcm", CipherSuite::TLS13_AES_256_GCM_SHA384),
    ("chacha20-poly1305", CipherSuite::TLS13_CHACHA20_POLY1305_SHA256),
];

/// The cipher where none is asked for.
pub const DEFAULT: &str = CIPHERS[0].0;

/// The cipher that a session is to have: its value of the knob.
pub fn cipher_asked_for(spec: &Spec) -> &str {
    spec.value(CIPHER).unwrap_or(DEFAULT)
}

/// A cipher's value of the knob, or the standard's name for another one.
pub fn name_of(suite: SupportedCipherSuite) -> String {
    let known = CIPHERS.iter().find(|(_, known)| *known == suite.suite());
    known.map_or_else(|| format!("{:?}", suite.suite()), |(name, _)| (*name).into())
}

/// A key, and the certificate that says so.
pub struct Identity {
    certificate: CertificateDer<'static>,
    key: PrivatePkcs8KeyDer<'static>,
}

impl Identity {
    /// A new one.
    pub fn new() -> Result<Identity> {
        let made = rcgen::generate_simple_self_signed(vec![NAME.to_owned()]).map_err(|e| failed(&e))?;
        let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
        Ok(Identity { certificate: made.cert.der().clone(), key })
    }

    /// What the other end pins.
    pub fn fingerprint(&self) -> String {
        fingerprint(&self.certificate)
    }

    /// The serving end: TLS 1.3 and the one cipher, no client certificate, no tickets.
    pub fn server(&self, cipher: &str) -> Result<ServerConfig> {
        let builder = ServerConfig::builder_with_provider(provider(cipher)?.into())
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(|e| failed(&e))?;
        let config = builder
            .with_no_client_auth()
            .with_single_cert(vec![self.certificate.clone()], self.key.clone_key().into());
        let mut config = config.map_err(|e| failed(&e))?;
        config.send_tls13_tickets = 0;
        Ok(config)
    }
}

/// The end that connects, and takes nobody but the holder of this fingerprint's certificate.
pub fn client(cipher: &str, fingerprint: &str) -> Result<ClientConfig> {
    let provider = provider(cipher)?;
    let pin = Pin { fingerprint: fingerprint.into(), algorithms: provider.signature_verification_algorithms };
    let builder = ClientConfig::builder_with_provider(provider.into())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(|e| failed(&e))?;
    let mut config =
        builder.dangerous().with_custom_certificate_verifier(Arc::new(pin)).with_no_client_auth();
    config.resumption = Resumption::disabled();
    Ok(config)
}

/// ring's provider with the asked cipher alone.
fn provider(asked: &str) -> Result<CryptoProvider> {
    let wanted = CIPHERS.iter().find(|(name, _)| *name == asked).map(|(_, suite)| *suite);
    let mut provider = ring::default_provider();
    provider.cipher_suites.retain(|suite| Some(suite.suite()) == wanted);
    if provider.cipher_suites.is_empty() {
        return Err(Error::usage(format!("no cipher is called `{asked}`"), "see `linerate list knobs`"));
    }
    Ok(provider)
}

fn fingerprint(certificate: &CertificateDer<'_>) -> String {
    Sha256::digest(certificate).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn failed(error: &dyn Display) -> Error {
    Error::unavailable(format!("TLS: {error}"), "")
}

/// Takes one certificate.
#[derive(Debug)]
struct Pin {
    fingerprint: String,
    algorithms: WebPkiSupportedAlgorithms,
}

impl ServerCertVerifier for Pin {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        if fingerprint(end_entity) == self.fingerprint {
            return Ok(ServerCertVerified::assertion());
        }
        Err(rustls::Error::InvalidCertificate(CertificateError::ApplicationVerificationFailure))
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        Err(rustls::Error::General("TLS 1.2 is not spoken".into()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
