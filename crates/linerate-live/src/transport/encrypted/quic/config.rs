//! What both ends of a QUIC session are set to.

use crate::transport::Spec;
use crate::transport::encrypted::certificate::{Identity, cipher_asked_for, client};
use crate::{Error, Result};
use quinn_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn_proto::{ClientConfig, EndpointConfig, ServerConfig, TransportConfig, VarInt};
use rustls::crypto::ring::cipher_suite::TLS13_AES_128_GCM_SHA256;
use rustls::quic::Suite;
use std::fmt::Display;
use std::sync::Arc;

/// What may be under way or wait to be read: the product of 10 Gb/s and 13 ms.
const WINDOW: u32 = 16 << 20;

/// One stream each way, no datagrams; silence ends nothing, because sessions rest between their trials.
fn transport() -> Arc<TransportConfig> {
    let mut config = TransportConfig::default();
    config
        .max_idle_timeout(None)
        .max_concurrent_bidi_streams(VarInt::from_u32(1))
        .max_concurrent_uni_streams(VarInt::from_u32(0))
        .stream_receive_window(VarInt::from_u32(WINDOW))
        .receive_window(VarInt::from_u32(WINDOW))
        .send_window(WINDOW.into())
        .datagram_receive_buffer_size(None);
    Arc::new(config)
}

/// The cipher of the first packets, which is fixed (RFC 9001, section 5.2) whatever the session has.
fn initial() -> Result<Suite> {
    let suite = TLS13_AES_128_GCM_SHA256.tls13().and_then(rustls::Tls13CipherSuite::quic_suite);
    suite.ok_or_else(|| failed(&"no cipher for the first packets"))
}

/// The end that connects, and takes the holder of this fingerprint's certificate only.
pub fn connecting(spec: &Spec, fingerprint: &str) -> Result<ClientConfig> {
    let sealed =
        QuicClientConfig::with_initial(Arc::new(client(cipher_asked_for(spec), fingerprint)?), initial()?);
    let mut config = ClientConfig::new(Arc::new(sealed.map_err(|e| failed(&e))?));
    config.transport_config(transport());
    Ok(config)
}

/// The end that serves.
pub fn serving(spec: &Spec, identity: &Identity) -> Result<Arc<ServerConfig>> {
    let sealed =
        QuicServerConfig::with_initial(Arc::new(identity.server(cipher_asked_for(spec))?), initial()?);
    let mut config = ServerConfig::with_crypto(Arc::new(sealed.map_err(|e| failed(&e))?));
    config.transport_config(transport()).migration(false).max_incoming(1);
    Ok(Arc::new(config))
}

/// Of either end.
pub fn endpoint() -> Arc<EndpointConfig> {
    Arc::new(EndpointConfig::default())
}

fn failed(error: &dyn Display) -> Error {
    Error::unavailable(format!("QUIC: {error}"), "")
}
