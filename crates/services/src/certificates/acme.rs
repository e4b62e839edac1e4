//! Keeps the certificate valid: orders the first one, renews it, and adopts certificates of other nodes.

mod stored;

use super::order::{order, update_contact};
use super::renewal::Jitter;
use super::{PemCertificate, record_expiry};
use crate::Services;
use crate::certificates::CertificateFacts;
use gatehouse_config::Acme;
use gatehouse_domain::Timestamp;
use gatehouse_store::{StoreError, TlsCertificateKey};
use std::sync::Arc;
use std::time::Duration;
pub(super) use stored::find_row;
pub use stored::stored_certificate;
use stored::{key_of, pem_of};
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

/// Puts a certificate into use. The error says why it cannot be used.
pub type Install = Arc<dyn Fn(&PemCertificate) -> Result<(), String> + Send + Sync>;

/// Keeps the certificate of `server.tls.acme`.
pub struct AcmeKeeper {
    services: Arc<Services>,
    acme: Acme,
    key: TlsCertificateKey,
    /// The ID of this process among those that share the database.
    node: String,
    install: Install,
    /// The chain that was installed last.
    chain: Option<String>,
    next_order_at: Timestamp,
    look_at: Instant,
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

    /// Runs until `shutdown`. An interrupted order can be repeated immediately.
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
        // Updated now, because the next order may be months away.
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

    /// Returns the time by which the nodes claim an order.
    async fn now(&self) -> Timestamp {
        let services = &self.services;
        services.store.shared_now(&services.clock).await
    }

    /// Adopts a certificate that another node stored. Orders one if an order is due.
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
}
