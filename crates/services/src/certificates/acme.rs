//! Keeps the certificate valid: orders the first one, renews it, and adopts certificates of other nodes.

use super::order::{Issued, OrderFailure, order, update_contact};
use super::renewal::{Jitter, next_try, renewal};
use super::{PemCertificate, record_expiry};
use crate::Services;
use crate::certificates::CertificateFacts;
use gatehouse_config::Acme;
use gatehouse_domain::Timestamp;
use gatehouse_store::{FailedOrder, StoreError, TlsCertificateKey, TlsCertificateRow};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How often the time of the next order is compared with the clock.
const POLL: Duration = Duration::from_secs(1);
/// How often certificates of other nodes are read.
const LOOK_EVERY: Duration = Duration::from_secs(30);
/// How often certificates of other nodes are read while there is none, or another node is requesting one.
const LOOK_SOON: Duration = Duration::from_secs(5);
/// How long other nodes wait for a node that is requesting a certificate. Longer than a request may take.
const CLAIM: Duration = Duration::from_mins(6);
/// How long expired certificates for other names are kept.
const KEEP_MS: i64 = 30 * 24 * 3_600_000;

/// Puts a certificate into use. The error says why it cannot be used.
pub type Install = Arc<dyn Fn(&PemCertificate) -> Result<(), String> + Send + Sync>;

/// Keeps the certificate of `server.tls.acme`.
pub struct AcmeKeeper {
    services: Arc<Services>,
    acme: Acme,
    key: TlsCertificateKey,
    /// This process, among those that share the database.
    node: String,
    install: Install,
    /// The chain that was installed last.
    chain: Option<String>,
    next_order_at: Timestamp,
    look_at: Instant,
}

fn key_of(acme: &Acme) -> TlsCertificateKey {
    TlsCertificateKey {
        directory: acme.directory.to_string(),
        names: acme.domains.join(","),
    }
}

fn pem_of(row: TlsCertificateRow) -> Option<PemCertificate> {
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

pub(super) async fn find_row(
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
    pub fn new(services: &Arc<Services>, acme: &Acme, install: Install) -> Self {
        let node = u128::from_le_bytes(services.random.bytes());
        Self {
            services: Arc::clone(services),
            acme: acme.clone(),
            key: key_of(acme),
            node: format!("{node:032x}"),
            install,
            chain: None,
            next_order_at: Timestamp::from_millis(i64::MIN),
            look_at: Instant::now(),
        }
    }

    /// Runs until `shutdown`. An interrupted order can be repeated at once.
    pub fn background(mut self, shutdown: CancellationToken, tasks: &TaskTracker) {
        tasks.spawn(async move {
            shutdown.run_until_cancelled(self.run()).await;
            let node = self.node.clone();
            let released = self.services.store.write(move |conn| {
                let node = node.clone();
                Box::pin(async move { conn.release_tls_orders(&node).await })
            });
            let released: Result<(), StoreError> = released.await;
            drop(released);
        });
    }

    async fn run(&mut self) {
        // The next order may be months away.
        if let Err(failure) = update_contact(&self.services, &self.acme).await {
            tracing::warn!(
                reason = %failure.message,
                "the contact of the account at the certificate authority could not be changed; the next order \
                 retries the change"
            );
        }
        let mut timer = tokio::time::interval(POLL);
        timer.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            timer.tick().await;
            if let Err(error) = self.look().await {
                tracing::warn!(%error, "the stored certificate cannot be read");
                self.next_order_at = self.now().await.after(LOOK_SOON);
                self.look_at = Instant::now() + LOOK_SOON;
            }
        }
    }

    /// The time by which the nodes claim an order.
    async fn now(&self) -> Timestamp {
        let services = &self.services;
        services.store.shared_now(&services.clock).await
    }

    /// Adopts a certificate that another node stored, and orders one if that is due.
    async fn look(&mut self) -> Result<(), StoreError> {
        let now = self.now().await;
        if Instant::now() < self.look_at && now < self.next_order_at {
            return Ok(());
        }
        self.read().await?;
        if now < self.next_order_at {
            return Ok(());
        }
        let (key, node) = (self.key.clone(), self.node.clone());
        let claim = self.services.store.write(move |conn| {
            let (key, node) = (key.clone(), node.clone());
            Box::pin(async move {
                conn.claim_tls_order(&key, &node, now, now.after(CLAIM))
                    .await
            })
        });
        if claim.await? {
            self.order().await?;
            return self.read().await;
        }
        // Another node is requesting the certificate.
        self.next_order_at = now.after(LOOK_SOON);
        self.look_at = Instant::now() + LOOK_SOON;
        Ok(())
    }

    async fn read(&mut self) -> Result<(), StoreError> {
        let row = find_row(&self.services, &self.acme).await?;
        let wait = if row.as_ref().is_some_and(|row| row.chain.is_some()) {
            LOOK_EVERY
        } else {
            LOOK_SOON
        };
        self.look_at = Instant::now() + wait;
        let Some(row) = row else {
            self.next_order_at = Timestamp::from_millis(i64::MIN);
            return Ok(());
        };
        self.next_order_at = row.next_order_at;
        if row.chain.is_none() || row.chain == self.chain {
            return Ok(());
        }
        self.chain.clone_from(&row.chain);
        if let Some(found) = pem_of(row) {
            match (self.install)(&found) {
                Ok(()) => {
                    if let Ok(facts) = CertificateFacts::from_pem(&found.chain) {
                        record_expiry(&facts);
                        tracing::info!(until = %facts.not_after, "a certificate is in use");
                    }
                }
                Err(error) => tracing::error!(%error, "the stored certificate cannot be used"),
            }
        }
        Ok(())
    }

    /// Orders a certificate and stores the outcome.
    async fn order(&mut self) -> Result<(), StoreError> {
        tracing::info!(names = %self.key.names, "ordering a certificate");
        let outcome = order(&self.services, &self.acme).await;
        let now = self.now().await;
        let jitter = Jitter(self.services.random.below(1000));
        match outcome {
            Ok(issued) => self.store_issued(issued, now, jitter).await,
            Err(failure) => self.store_failure(failure, now, jitter).await,
        }
    }

    async fn store_issued(
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
            // An authority may issue certificates that are already due for renewal. They must not be ordered in a loop.
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

    async fn store_failure(
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
