//! TLS for the connections of this crate. All of them use the certificate authorities of this system. Connections
//! to PostgreSQL are not made by this crate.

use crate::OutboundError;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{self, CryptoProvider, aws_lc_rs};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, SignatureScheme};
use rustls_platform_verifier::Verifier;
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// How long handshakes fail without another attempt after the certificate authorities could not be read.
const RETRY: Duration = Duration::from_secs(5);

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

/// Verifies certificates with the authorities of this system. The authorities are read at the first handshake,
/// because reading them takes milliseconds, and kept until the process ends. If they could not be read, a later
/// handshake retries.
#[derive(Debug)]
struct SystemVerifier {
    provider: Arc<CryptoProvider>,
    loaded: OnceLock<Verifier>,
    /// The last failed attempt to read the authorities. Locked while they are read.
    failed: Mutex<Option<Failed>>,
}

#[derive(Debug)]
struct Failed {
    at: Instant,
    error: rustls::Error,
}

impl SystemVerifier {
    fn new() -> Self {
        Self {
            provider: Arc::new(aws_lc_rs::default_provider()),
            loaded: OnceLock::new(),
            failed: Mutex::new(None),
        }
    }

    /// Returns the verifier, or the error of the last attempt. Calls `load` only if there is no verifier and the
    /// last failed attempt is longer ago than [`RETRY`].
    fn loaded_by(
        &self,
        now: Instant,
        load: impl FnOnce(Arc<CryptoProvider>) -> Result<Verifier, rustls::Error>,
    ) -> Result<&Verifier, rustls::Error> {
        if let Some(verifier) = self.loaded.get() {
            return Ok(verifier);
        }
        let mut last = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have read the authorities in the meantime.
        if let Some(verifier) = self.loaded.get() {
            return Ok(verifier);
        }
        if let Some(failed) = &*last
            && now.saturating_duration_since(failed.at) < RETRY
        {
            return Err(failed.error.clone());
        }
        match load(Arc::clone(&self.provider)) {
            Ok(verifier) => Ok(self.loaded.get_or_init(|| verifier)),
            Err(error) => {
                tracing::warn!(
                    %error,
                    "the certificate authorities of this system cannot be read; https requests fail"
                );
                *last = Some(Failed {
                    at: now,
                    error: error.clone(),
                });
                Err(error)
            }
        }
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
        let verifier = self.loaded_by(Instant::now(), Verifier::new)?;
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
        let none = rustls::Error::General("none".to_owned());
        *verifier.failed.lock().unwrap() = Some(Failed {
            at: Instant::now() + Duration::from_hours(1),
            error: none.clone(),
        });
        let name = ServerName::try_from("example.com").unwrap();
        let certificate = CertificateDer::from(Vec::new());
        let verdict = verifier.verify_server_cert(&certificate, &[], &name, &[], UnixTime::now());
        assert_eq!(verdict.unwrap_err(), none);
        assert!(!verifier.supported_verify_schemes().is_empty());
    }

    #[test]
    fn certificate_authorities_that_could_not_be_read_are_read_again_after_five_seconds() {
        let verifier = SystemVerifier::new();
        let none = rustls::Error::General("none".to_owned());
        let start = Instant::now();
        let mut loads = 0;
        for (after_ms, expected) in [(0, 1), (4_999, 1), (5_000, 2), (9_999, 2), (10_000, 3)] {
            let now = start + Duration::from_millis(after_ms);
            let loaded = verifier.loaded_by(now, |_| {
                loads += 1;
                Err(none.clone())
            });
            assert_eq!(loaded.err().as_ref(), Some(&none), "{after_ms}");
            assert_eq!(loads, expected, "{after_ms}");
        }
        let later = start + Duration::from_secs(15);
        // The system that runs the test may have no certificate authorities.
        if verifier.loaded_by(later, Verifier::new).is_ok() {
            assert!(verifier.loaded_by(later, |_| Err(none.clone())).is_ok());
        }
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
