//! TLS of outgoing connections. All clients of the process share the certificate authorities of this system.

use crate::OutboundError;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{self, CryptoProvider, aws_lc_rs};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, SignatureScheme};
use rustls_platform_verifier::Verifier;
use std::sync::{Arc, LazyLock, OnceLock};

pub(crate) const NO_TLS: OutboundError = OutboundError::Other("TLS could not be set up");

/// Returns settings that trust the certificate authorities of this system. `protocols` are the names that ALPN offers
/// (RFC 7301), the preferred one first.
pub(crate) fn system_config(protocols: &[&str]) -> Result<ClientConfig, OutboundError> {
    static SYSTEM: LazyLock<Arc<SystemVerifier>> =
        LazyLock::new(|| Arc::new(SystemVerifier::new()));
    let mut config = config(Arc::<SystemVerifier>::clone(&SYSTEM))?;
    config.alpn_protocols = protocols
        .iter()
        .map(|name| name.as_bytes().to_vec())
        .collect();
    Ok(config)
}

fn config(verifier: Arc<dyn ServerCertVerifier>) -> Result<ClientConfig, OutboundError> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|_| NO_TLS)?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    Ok(config)
}

/// Verifies certificates by the authorities of this system. They are read at the first handshake, because reading them
/// takes milliseconds, and kept until the process ends.
#[derive(Debug)]
struct SystemVerifier {
    provider: Arc<CryptoProvider>,
    loaded: OnceLock<Result<Verifier, rustls::Error>>,
}

impl SystemVerifier {
    fn new() -> Self {
        Self {
            provider: Arc::new(aws_lc_rs::default_provider()),
            loaded: OnceLock::new(),
        }
    }

    fn loaded(&self) -> Result<&Verifier, rustls::Error> {
        let loaded = self.loaded.get_or_init(|| {
            Verifier::new(Arc::clone(&self.provider)).inspect_err(|_| {
                tracing::warn!(
                    "no certificate authorities were found on this system; https requests fail"
                );
            })
        });
        loaded.as_ref().map_err(Clone::clone)
    }
}

impl ServerCertVerifier for SystemVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let verifier = self.loaded()?;
        verifier.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        crypto::verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        crypto::verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        let algorithms = &self.provider.signature_verification_algorithms;
        algorithms.supported_schemes()
    }
}

/// Returns settings that trust only this certificate.
#[cfg(feature = "testing")]
pub(crate) fn config_trusting(certificate: &[u8]) -> Result<ClientConfig, OutboundError> {
    let mut roots = rustls::RootCertStore::empty();
    let certificate = CertificateDer::from(certificate.to_vec());
    roots.add(certificate).map_err(|_| NO_TLS)?;
    let provider = Arc::new(aws_lc_rs::default_provider());
    let builder =
        rustls::client::WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider);
    config(builder.build().map_err(|_| NO_TLS)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_certificate_authorities_every_certificate_is_refused() {
        let verifier = SystemVerifier::new();
        // Nothing has read them.
        assert!(verifier.loaded.get().is_none());
        let none = rustls::Error::General("none".to_owned());
        verifier.loaded.set(Err(none.clone())).unwrap();
        let name = ServerName::try_from("example.com").unwrap();
        let certificate = CertificateDer::from(Vec::new());
        let verdict = verifier.verify_server_cert(&certificate, &[], &name, &[], UnixTime::now());
        assert_eq!(verdict.unwrap_err(), none);
        assert!(!verifier.supported_verify_schemes().is_empty());
    }

    #[test]
    fn the_protocols_are_offered_in_their_order() {
        let config = system_config(&["h2", "http/1.1"]).unwrap();
        assert_eq!(
            config.alpn_protocols,
            [b"h2".to_vec(), b"http/1.1".to_vec()]
        );
        assert!(system_config(&[]).unwrap().alpn_protocols.is_empty());
    }
}
