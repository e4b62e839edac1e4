//! Stored certificates and failures.

use super::{AcmeKeeper, CLAIM};
use crate::Services;
use crate::certificates::{
    PemCertificate,
    order::{Issued, OrderFailure},
    renewal::{Jitter, next_try, renewal},
};
use gatehouse_config::Acme;
use gatehouse_domain::Timestamp;
use gatehouse_store::{FailedOrder, StoreError, TlsCertificateKey, TlsCertificateRow};

/// How long expired certificates for other names are kept.
const KEEP_MS: i64 = 30 * 24 * 3_600_000;

pub(super) fn key_of(acme: &Acme) -> TlsCertificateKey {
    TlsCertificateKey {
        directory: acme.directory.to_string(),
        names: acme.domains.join(","),
    }
}

pub(super) fn pem_of(row: TlsCertificateRow) -> Option<PemCertificate> {
    Some(PemCertificate {
        chain: row.chain?,
        private_key: row.private_key?,
    })
}

/// Returns the stored certificate for the configured names. Otherwise, returns the longest-valid certificate for other
/// names, to use until the new one is issued.
pub async fn stored_certificate(
    services: &Services,
    acme: &Acme,
) -> Result<Option<PemCertificate>, StoreError> {
    let (key, now) = (key_of(acme), services.clock.now());
    let read = services.store.read(move |conn| {
        Box::pin(async move {
            let exact = conn.find_tls_certificate(&key).await?;
            match exact.and_then(pem_of) {
                Some(found) => Ok(Some(found)),
                None => Ok(conn
                    .find_longest_tls_certificate(now)
                    .await?
                    .and_then(pem_of)),
            }
        })
    });
    read.await
}

pub(in super::super) async fn find_row(
    services: &Services,
    acme: &Acme,
) -> Result<Option<TlsCertificateRow>, StoreError> {
    let key = key_of(acme);
    let read = services
        .store
        .read(move |conn| Box::pin(async move { conn.find_tls_certificate(&key).await }));
    read.await
}

impl AcmeKeeper {
    pub(super) async fn store_issued(
        &self,
        issued: Issued,
        now: Timestamp,
        jitter: Jitter,
    ) -> Result<(), StoreError> {
        metrics::counter!("tls_certificate_orders_total", "outcome" => "ok").increment(1);
        let Issued { certificate, facts } = issued;
        let row = TlsCertificateRow {
            directory: self.key.directory.clone(),
            names: self.key.names.clone(),
            chain: Some(certificate.chain),
            private_key: Some(certificate.private_key),
            not_before: Some(facts.not_before),
            not_after: Some(facts.not_after),
            // An authority may issue certificates that are already due for renewal. The delay prevents ordering
            // them in a loop.
            next_order_at: renewal(&facts, jitter).max(now.after(CLAIM)),
            failures: 0,
            error: None,
        };
        let (key, old) = (
            self.key.clone(),
            Timestamp::from_millis(now.as_millis() - KEEP_MS),
        );
        let stored = self.services.store.write(move |conn| {
            let (row, key) = (row.clone(), key.clone());
            Box::pin(async move {
                conn.update_tls_certificate(&row).await?;
                conn.delete_expired_tls(&key, old).await
            })
        });
        stored.await
    }

    pub(super) async fn store_failure(
        &self,
        failure: OrderFailure,
        now: Timestamp,
        jitter: Jitter,
    ) -> Result<(), StoreError> {
        metrics::counter!("tls_certificate_orders_total", "outcome" => "error").increment(1);
        let row = find_row(&self.services, &self.acme).await?;
        let before = row.map_or(0, |row| u32::try_from(row.failures).unwrap_or(u32::MAX));
        let failures = before.saturating_add(1);
        let next = next_try(now, failures, failure.retry_after, jitter);
        tracing::error!(
            reason = %failure.message, failures, next = %next,
            "the certificate could not be ordered; the previous one stays in use"
        );
        let (key, node) = (self.key.clone(), self.node.clone());
        let failed = FailedOrder {
            error: failure.message,
            next_order_at: next,
        };
        let stored = self.services.store.write(move |conn| {
            let (key, node, failed) = (key.clone(), node.clone(), failed.clone());
            Box::pin(async move { conn.update_failed_tls_order(&key, &node, &failed).await })
        });
        stored.await
    }
}
