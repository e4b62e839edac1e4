//! `[server.tls]`: certificates that a certificate authority issues by ACME, and certificate files.

mod acme;
mod authority;
mod authority_routes;
mod files;
mod jws;
mod validation;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use rustls::{DigitallySignedStruct, SignatureScheme};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use x509_parser::prelude::{FromDer, X509Certificate};

/// Accepts every certificate; the caller looks at it.
#[derive(Debug)]
struct Anything;

impl ServerCertVerifier for Anything {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        // With the key alone: rustls refuses a certificate with the critical extension of the challenge.
        let (_, found) = X509Certificate::from_der(cert).unwrap();
        let key = SubjectPublicKeyInfoDer::from(found.public_key().raw);
        let provider = rustls::crypto::aws_lc_rs::default_provider();
        rustls::crypto::verify_tls13_signature_with_raw_key(
            message,
            &key,
            dss,
            &provider.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        let provider = rustls::crypto::aws_lc_rs::default_provider();
        provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}

/// What a server presented.
struct Presented {
    certificate: CertificateDer<'static>,
    alpn: Option<Vec<u8>>,
}

/// Connects with this name and protocol, and returns the certificate.
async fn handshake(
    address: SocketAddr,
    name: &str,
    alpn: Option<&[u8]>,
) -> std::io::Result<Presented> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Anything))
        .with_no_client_auth();
    config.alpn_protocols = alpn.map(<[u8]>::to_vec).into_iter().collect();
    let stream = TcpStream::connect(address).await?;
    let name = ServerName::try_from(name.to_owned()).unwrap();
    let stream = TlsConnector::from(Arc::new(config))
        .connect(name, stream)
        .await?;
    let (_, connection) = stream.get_ref();
    Ok(Presented {
        certificate: connection.peer_certificates().unwrap()[0]
            .clone()
            .into_owned(),
        alpn: connection.alpn_protocol().map(<[u8]>::to_vec),
    })
}

/// Returns the certificate that the server presents to browsers.
async fn presented(address: SocketAddr) -> CertificateDer<'static> {
    let alpn: &[u8] = b"h2";
    let found = handshake(address, "gate.example", Some(alpn)).await;
    found.unwrap().certificate
}

/// Waits until the condition is true.
async fn until<F: Future<Output = bool>>(what: &str, mut condition: impl FnMut() -> F) {
    let waited = tokio::time::timeout(Duration::from_secs(20), async {
        while !condition().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    assert!(waited.await.is_ok(), "{what} did not happen");
}
