//! The handshake, and the response to a certificate authority that verifies a name (RFC 8737).

use super::{ServerTls, Source, builder};
use gatehouse_services::Services;
use rcgen::{CertificateParams, CustomExtension, DistinguishedName, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::server::{Acceptor, ClientHello};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use std::io::{Error, Result};
use std::sync::Arc;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;
use tokio_rustls::{LazyConfigAcceptor, TlsAcceptor};

/// The application protocol of the challenge (RFC 8737, section 6.2).
const ACME_TLS: &[u8] = b"acme-tls/1";

/// The result of a handshake.
pub(crate) enum Accepted {
    /// A client, which will send requests.
    Client(Box<TlsStream<TcpStream>>),
    /// A certificate authority, which has already received its response.
    Challenge,
}

impl ServerTls {
    /// Accepts a client before the database is open.
    pub(crate) async fn accept_early(&self, stream: TcpStream) -> Result<TlsStream<TcpStream>> {
        TlsAcceptor::from(Arc::clone(&self.config))
            .accept(stream)
            .await
    }

    pub(crate) async fn accept(&self, stream: TcpStream, services: &Services) -> Result<Accepted> {
        let Source::Acme(acme) = &self.source else {
            let accepted = TlsAcceptor::from(Arc::clone(&self.config)).accept(stream);
            return Ok(Accepted::Client(Box::new(accepted.await?)));
        };
        let start = LazyConfigAcceptor::new(Acceptor::default(), stream).await?;
        if !is_challenge(&start.client_hello()) {
            let accepted = start.into_stream(Arc::clone(&self.config));
            return Ok(Accepted::Client(Box::new(accepted.await?)));
        }
        let name = start
            .client_hello()
            .server_name()
            .map(str::to_ascii_lowercase);
        let name = name.filter(|name| acme.domains.contains(name));
        let name = name.ok_or_else(|| Error::other("a challenge for a name that is not ours"))?;
        let digest = services.find_tls_challenge(&name).await;
        let digest = digest.map_err(Error::other)?;
        let digest = digest.ok_or_else(|| Error::other("no challenge is open for this name"))?;
        let config = challenge_config(&name, &digest)?;
        let mut answered = start.into_stream(Arc::new(config)).await?;
        tracing::info!(name, "a certificate authority verified a name");
        answered.shutdown().await?;
        Ok(Accepted::Challenge)
    }
}

/// Returns whether the client offers only the protocol of the challenge, as an authority does (section 3).
fn is_challenge(hello: &ClientHello<'_>) -> bool {
    let offered = hello.alpn();
    offered.is_some_and(|mut offered| offered.next() == Some(ACME_TLS) && offered.next().is_none())
}

/// Creates the certificate for a challenge (section 3). It is self-signed and contains the name and
/// the digest.
fn challenge_config(name: &str, digest: &[u8]) -> Result<rustls::ServerConfig> {
    let digest: &[u8; 32] = digest.try_into().map_err(Error::other)?;
    let key = KeyPair::generate().map_err(Error::other)?;
    let mut params = CertificateParams::new([name.to_owned()]).map_err(Error::other)?;
    params.distinguished_name = DistinguishedName::new();
    params.custom_extensions = vec![CustomExtension::new_acme_identifier(digest)];
    let certificate = params.self_signed(&key).map_err(Error::other)?;
    // `CertifiedKey::from_der` refuses the certificate, because rustls does not support its critical extension.
    let key = rustls::crypto::aws_lc_rs::sign::any_supported_type(&PrivateKeyDer::from(key));
    let certified = CertifiedKey::new(vec![certificate.into()], key.map_err(Error::other)?);
    let resolver = SingleCertAndKey::from(certified);
    let builder = builder().map_err(Error::other)?;
    let mut config = builder.with_cert_resolver(Arc::new(resolver));
    config.alpn_protocols = vec![ACME_TLS.to_vec()];
    Ok(config)
}
