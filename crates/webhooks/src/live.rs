//! The in-memory copy of all webhooks, including their secrets while the vault is unsealed, so that
//! requests need no database query. Reloaded at startup, after each change, on each unseal, and when
//! another node reports a change. Sealing the vault removes the secrets.

use crate::error::WebhooksError;
use crate::handle::{Inner, Webhooks};
use crate::limits::WINDOW_MS;
use crate::rules::OnLimit;
use crate::secret;
use crate::webhook::{AuthConfig, Snapshot, StoredConfig, WebhookConfig};
use arc_swap::ArcSwap;
use gatehouse_domain::{Timestamp, WebhookId};
use gatehouse_secrets::{Secrets, SecretsError, Status};
use gatehouse_sources::profile::Profile;
use gatehouse_store::{StoreError, WebhookRow, WebhookSecretRow};
use secrecy::{ExposeSecret, SecretString};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Maximum number of accepted deliveries that the rate limits restore at startup.
const REMEMBERED: i64 = 100_000;

/// A secret and its expiry. The current secret has none.
struct LiveSecret {
    value: SecretString,
    expires_at: Option<Timestamp>,
}

enum LiveSecrets {
    /// The secrets that could be decrypted.
    Known(Vec<LiveSecret>),
    /// The secrets are encrypted, and the vault was sealed when they were loaded.
    Sealed,
}

/// A webhook, ready to serve requests.
pub(crate) struct LiveWebhook {
    pub(crate) id: WebhookId,
    pub(crate) public_id: String,
    pub(crate) enabled: bool,
    pub(crate) auth: AuthConfig,
    pub(crate) config: WebhookConfig,
    pub(crate) profile: &'static Profile,
    /// The snapshot that is copied into each delivery, as JSON.
    pub(crate) snapshot: Arc<str>,
    /// The queue target of its deliveries: a channel target, or empty for an agent's turn.
    pub(crate) target: Arc<str>,
    secrets: LiveSecrets,
}

impl fmt::Debug for LiveWebhook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveWebhook")
            .field("id", &self.id)
            .field("enabled", &self.enabled)
            .finish_non_exhaustive()
    }
}

impl LiveWebhook {
    /// Whether the secrets could not be loaded because the vault was sealed.
    pub(crate) const fn is_sealed(&self) -> bool {
        matches!(self.secrets, LiveSecrets::Sealed)
    }

    /// The unexpired secrets, current one first.
    pub(crate) fn secrets(&self, now: Timestamp) -> Vec<&str> {
        let LiveSecrets::Known(secrets) = &self.secrets else {
            return Vec::new();
        };
        secrets
            .iter()
            .filter(|secret| secret.expires_at.is_none_or(|end| now < end))
            .map(|secret| secret.value.expose_secret())
            .collect()
    }

    /// The secrets, including expired ones.
    pub(crate) fn all_secrets(&self) -> Vec<&str> {
        let LiveSecrets::Known(secrets) = &self.secrets else {
            return Vec::new();
        };
        let values = secrets.iter().map(|secret| &secret.value);
        values.map(ExposeSecret::expose_secret).collect()
    }

    async fn of(
        secrets: &Secrets,
        row: WebhookRow,
        secret_rows: Vec<WebhookSecretRow>,
    ) -> Result<Self, StoreError> {
        let StoredConfig { auth, webhook } = StoredConfig::of(&row)?;
        let snapshot = Snapshot::text(&row, &webhook)?;
        Ok(Self {
            secrets: open_secrets(secrets, &row.public_id, secret_rows).await,
            id: row.id,
            public_id: row.public_id,
            enabled: row.enabled,
            auth,
            profile: webhook.profile(),
            target: webhook.queue_target().into(),
            config: webhook,
            snapshot: snapshot.into(),
        })
    }
}

/// Decrypts the secrets of a webhook. A damaged secret is logged and skipped, so it verifies nothing.
async fn open_secrets(
    secrets: &Secrets,
    public_id: &str,
    mut rows: Vec<WebhookSecretRow>,
) -> LiveSecrets {
    // The current secret has no expiry and sorts first.
    rows.sort_by_key(|row| row.expires_at.is_some());
    let mut known = Vec::with_capacity(rows.len());
    for row in rows {
        let expires_at = row.expires_at;
        match secret::open(secrets, public_id, row).await {
            Ok(value) => known.push(LiveSecret { value, expires_at }),
            Err(SecretsError::Sealed) => return LiveSecrets::Sealed,
            Err(error) => {
                tracing::error!(%error, webhook = public_id, "a webhook's secret cannot be read");
            }
        }
    }
    LiveSecrets::Known(known)
}

type ByPublicId = HashMap<String, Arc<LiveWebhook>>;

/// All webhooks by public ID.
#[derive(Debug, Default)]
pub(crate) struct LiveWebhooks(ArcSwap<ByPublicId>);

impl LiveWebhooks {
    pub(crate) fn find(&self, public_id: &str) -> Option<Arc<LiveWebhook>> {
        self.0.load().get(public_id).map(Arc::clone)
    }

    pub(crate) fn find_by_id(&self, id: &WebhookId) -> Option<Arc<LiveWebhook>> {
        let all = self.0.load();
        all.values().find(|live| live.id == *id).map(Arc::clone)
    }

    /// The disabled webhooks. Their queues are on hold.
    pub(crate) fn disabled(&self) -> HashSet<WebhookId> {
        let all = self.0.load();
        let disabled = all.values().filter(|live| !live.enabled);
        disabled.map(|live| live.id.clone()).collect()
    }

    /// The webhooks whose queues are rate limited, with their deliveries per minute.
    pub(crate) fn paced(&self) -> Vec<(WebhookId, u32)> {
        let all = self.0.load();
        all.values()
            .filter(|live| live.config.on_limit == OnLimit::Queue)
            .map(|live| (live.id.clone(), live.config.rate_limit_per_minute))
            .collect()
    }

    /// Call this, `put` and `remove` only while `changing` is held.
    fn replace_all(&self, all: ByPublicId) {
        self.0.store(Arc::new(all));
    }

    fn put(&self, webhook: LiveWebhook) {
        let mut all = ByPublicId::clone(&self.0.load());
        all.insert(webhook.public_id.clone(), Arc::new(webhook));
        self.replace_all(all);
    }

    pub(crate) fn remove(&self, id: &WebhookId) {
        let mut all = ByPublicId::clone(&self.0.load());
        all.retain(|_, live| live.id != *id);
        self.replace_all(all);
    }
}

impl Inner {
    /// Reloads one webhook from the database. Call it only while `changing` is held.
    pub(crate) async fn reload_one(&self, id: &WebhookId) -> Result<(), WebhooksError> {
        let wanted = id.clone();
        let read = self.store.read(move |conn| {
            Box::pin(async move {
                let row = conn.find_webhook(wanted.as_str()).await?;
                let secrets = conn.list_secrets_of_webhook(wanted.as_str()).await?;
                Ok::<_, StoreError>((row, secrets))
            })
        });
        let (row, secrets) = read.await?;
        match row {
            Some(row) => self
                .live
                .put(LiveWebhook::of(&self.secrets, row, secrets).await?),
            None => self.live.remove(id),
        }
        self.wake.notify_one();
        self.schedules_changed.notify_one();
        Ok(())
    }

    /// Restores the rate limits from deliveries accepted in the minute before startup.
    pub(crate) async fn remember_recent(&self) -> Result<(), WebhooksError> {
        let now = self.now();
        let since = Timestamp::from_millis(now.as_millis() - i64::from(WINDOW_MS));
        let read = self.store.read(move |conn| {
            Box::pin(async move { conn.list_accepted_since(since, REMEMBERED).await })
        });
        for delivery in read.await? {
            let age = delivery.received_at.until(now);
            let age_ms = u64::try_from(age.as_millis()).unwrap_or(0);
            self.limits.remember(&delivery.webhook_id, age_ms);
        }
        Ok(())
    }
}

impl Webhooks {
    /// Reloads every webhook from the database: at startup, after an unseal, and when another node changed
    /// webhooks (subject `webhooks` of the change feed).
    pub async fn reload(&self) -> Result<(), WebhooksError> {
        let _turn = self.0.changing.lock().await;
        self.reload_all().await
    }

    /// Loads the webhook with this public id from the database, if there is one.
    pub(crate) async fn load_by_public_id(&self, public_id: &str) -> Result<(), WebhooksError> {
        let wanted = public_id.to_owned();
        let read = self.0.store.read(move |conn| {
            let wanted = wanted.clone();
            Box::pin(async move { conn.find_webhook_by_public_id(&wanted).await })
        });
        let Some(row) = read.await? else {
            return Ok(());
        };
        let _turn = self.0.changing.lock().await;
        self.0.reload_one(&row.id).await
    }

    /// Like [`Webhooks::reload`], unless another request has already reloaded. Many requests can find
    /// sealed secrets at once; only one of them reloads.
    pub(crate) async fn reload_sealed(&self, public_id: &str) -> Result<(), WebhooksError> {
        let _turn = self.0.changing.lock().await;
        match self.0.live.find(public_id) {
            Some(webhook) if webhook.is_sealed() => self.reload_all().await,
            _ => Ok(()),
        }
    }

    /// Call it only while `changing` is held.
    async fn reload_all(&self) -> Result<(), WebhooksError> {
        let read = self.0.store.read(|conn| {
            Box::pin(async move {
                let rows = conn.list_webhooks().await?;
                Ok::<_, StoreError>((rows, conn.list_webhook_secrets().await?))
            })
        });
        let (rows, secret_rows) = read.await?;
        let mut secrets: HashMap<WebhookId, Vec<WebhookSecretRow>> = HashMap::new();
        for row in secret_rows {
            secrets.entry(row.webhook_id.clone()).or_default().push(row);
        }
        let mut all = ByPublicId::with_capacity(rows.len());
        for row in rows {
            let id = row.id.clone();
            let its = secrets.remove(&id).unwrap_or_default();
            match LiveWebhook::of(&self.0.secrets, row, its).await {
                Ok(live) => drop(all.insert(live.public_id.clone(), Arc::new(live))),
                // One damaged row must not prevent the others from loading.
                Err(error) => tracing::error!(%error, %id, "a webhook is left out"),
            }
        }
        self.0.live.replace_all(all);
        self.0.wake.notify_one();
        self.0.schedules_changed.notify_one();
        Ok(())
    }

    /// Reloads the webhooks whenever the vault is sealed or unsealed, and then processes held deliveries.
    pub(crate) fn follow_vault(&self, stop: &CancellationToken, tasks: &TaskTracker) {
        const AGAIN: Duration = Duration::from_secs(1);
        /// How often to look for deliveries that a sealed node has held.
        const OTHER_NODES: Duration = Duration::from_secs(20);
        let (webhooks, mut status) = (self.clone(), self.0.secrets.subscribe_status());
        let follow = async move {
            // The webhooks were loaded before this task subscribed, so reload once for changes in between.
            status.mark_changed();
            loop {
                tokio::select! {
                    changed = status.changed() => {
                        if changed.is_err() {
                            return;
                        }
                        let now: Status = *status.borrow_and_update();
                        if now == Status::Sealed {
                            webhooks.0.originals.forget_all();
                        }
                        if let Err(error) = webhooks.reload().await {
                            tracing::error!(%error, "webhooks could not be read");
                            tokio::time::sleep(AGAIN).await;
                            status.mark_changed();
                            continue;
                        }
                    }
                    () = webhooks.0.held.notified() => {}
                    () = tokio::time::sleep(OTHER_NODES) => {}
                }
                if let Err(error) = webhooks.release_held().await {
                    tracing::error!(%error, "held deliveries could not be processed; retrying");
                    tokio::time::sleep(AGAIN).await;
                    webhooks.0.held.notify_one();
                }
            }
        };
        tasks.spawn(stop.clone().run_until_cancelled_owned(follow));
    }
}
