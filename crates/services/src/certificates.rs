//! Certificates for TLS: ordering and renewing them by ACME, and the check of `doctor`. Does not handle connections:
//! `web` presents the certificates and answers challenges.

mod acme;
mod check;
mod facts;
mod http_client;
mod order;
mod renewal;

pub use acme::{AcmeKeeper, Install, stored_certificate};
pub(crate) use check::check;
pub use facts::{CertificateFacts, FactsError};

use crate::Services;
use gatehouse_store::StoreError;
use std::sync::{Mutex, PoisonError};

/// A certificate and its key in PEM.
#[derive(Clone)]
pub struct PemCertificate {
    pub chain: String,
    pub private_key: String,
}

impl std::fmt::Debug for PemCertificate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PemCertificate").finish_non_exhaustive()
    }
}

/// This process's view of its certificate.
#[derive(Debug, Default)]
pub struct CertificateState {
    reload_error: Mutex<Option<String>>,
}

impl CertificateState {
    /// Sets why changed certificate files cannot be used; `None` if they are in use.
    pub fn set_reload_error(&self, error: Option<String>) {
        *self
            .reload_error
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = error;
    }

    fn reload_error(&self) -> Option<String> {
        let error = self.reload_error.lock();
        error.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Records when the certificate in use expires.
pub fn record_expiry(facts: &CertificateFacts) {
    #[expect(
        clippy::cast_precision_loss,
        reason = "Unix seconds are far below 2^52"
    )]
    let seconds = (facts.not_after.as_millis() / 1000) as f64;
    metrics::gauge!("tls_certificate_expires_seconds").set(seconds);
}

impl Services {
    /// Returns the digest to present to a certificate authority that verifies `name` (RFC 8737).
    pub async fn find_tls_challenge(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let (name, now) = (name.to_ascii_lowercase(), self.clock.now());
        let read = self
            .store
            .read(move |conn| Box::pin(async move { conn.find_tls_challenge(&name, now).await }));
        read.await
    }
}
