//! The in-memory copy of all webhooks. It includes their secrets while the vault is unlocked, so that requests need
//! no database query. [`crate::reload`] keeps the copy up to date.

use crate::metrics::DeliveryCounters;
use crate::rules::OnLimit;
use crate::schedule::Schedule;
use crate::secret;
use crate::webhook::{AuthConfig, Snapshot, StoredConfig, WebhookConfig};
use arc_swap::ArcSwap;
use gatehouse_domain::{Timestamp, WebhookId};
use gatehouse_secrets::{Secrets, SecretsError};
use gatehouse_sources::profile::{self, Profile};
use gatehouse_store::{DeliveryConfig, StoreError, WebhookRow, WebhookSecretRow};
use secrecy::{ExposeSecret, SecretString};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

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
    pub(crate) paused: bool,
    pub(crate) auth: AuthConfig,
    pub(crate) config: WebhookConfig,
    pub(crate) profile: &'static Profile,
    /// Whether no profile in use has the webhook's profile or mode. Its deliveries can then be neither verified nor
    /// read.
    pub(crate) lacks_profile: bool,
    /// The snapshot that is copied into each delivery, as JSON.
    pub(crate) snapshot: DeliveryConfig,
    /// The queue target of its deliveries: a channel target, or empty for an agent's turn.
    pub(crate) target: Arc<str>,
    pub(crate) counters: DeliveryCounters,
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
    /// Returns whether the secrets could not be loaded because the vault was sealed.
    pub(crate) const fn is_sealed(&self) -> bool {
        matches!(self.secrets, LiveSecrets::Sealed)
    }

    /// Returns the unexpired secrets, current one first.
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

    /// Returns the secrets, including expired ones.
    pub(crate) fn all_secrets(&self) -> Vec<&str> {
        let LiveSecrets::Known(secrets) = &self.secrets else {
            return Vec::new();
        };
        let values = secrets.iter().map(|secret| &secret.value);
        values.map(ExposeSecret::expose_secret).collect()
    }

    pub(crate) async fn of(
        secrets: &Secrets,
        row: WebhookRow,
        secret_rows: Vec<WebhookSecretRow>,
    ) -> Result<Self, StoreError> {
        let StoredConfig {
            auth,
            paused,
            webhook,
        } = StoredConfig::of(&row)?;
        let snapshot = Snapshot::text(&row, &webhook)?;
        // One lookup for both fields, because the profiles can change at any time.
        let profile = webhook.find_profile();
        Ok(Self {
            secrets: open_secrets(secrets, &row.public_id, secret_rows).await,
            id: row.id,
            public_id: row.public_id,
            enabled: row.enabled,
            paused,
            lacks_profile: profile.is_none() || auth.mode.is_unknown(),
            auth,
            profile: profile.unwrap_or_else(profile::generic),
            target: webhook.queue_target().into(),
            config: webhook,
            snapshot: snapshot.into(),
            counters: DeliveryCounters::default(),
        })
    }
}

/// Decrypts the secrets of a webhook. A damaged secret is logged and skipped, so no request can be verified with
/// it.
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

pub(crate) type ByPublicId = HashMap<String, Arc<LiveWebhook>>;

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

    /// Returns the webhooks whose queues are on hold because the webhooks are disabled or paused.
    pub(crate) fn on_hold(&self) -> HashSet<WebhookId> {
        let all = self.0.load();
        let on_hold = all.values().filter(|live| !live.enabled || live.paused);
        on_hold.map(|live| live.id.clone()).collect()
    }

    /// Returns the paused schedules, whose due runs wait.
    pub(crate) fn paused_schedules(&self) -> HashSet<WebhookId> {
        let all = self.0.load();
        let paused = all
            .values()
            .filter(|live| live.paused && live.config.schedule.is_some());
        paused.map(|live| live.id.clone()).collect()
    }

    /// Returns the enabled webhooks that refuse deliveries because their profile is missing.
    pub(crate) fn without_profile(&self) -> Vec<WebhookId> {
        let all = self.0.load();
        let without = all
            .values()
            .filter(|live| live.enabled && live.lacks_profile);
        without.map(|live| live.id.clone()).collect()
    }

    /// Returns the schedules whose time zone this machine does not have, except disabled and paused ones.
    pub(crate) fn without_zone(&self) -> Vec<WebhookId> {
        let all = self.0.load();
        let without = all.values().filter(|live| {
            let schedule = live.config.schedule.as_ref();
            live.enabled && !live.paused && schedule.is_some_and(Schedule::lacks_zone)
        });
        without.map(|live| live.id.clone()).collect()
    }

    pub(crate) fn schedules(&self) -> Vec<WebhookId> {
        let all = self.0.load();
        let schedules = all.values().filter(|live| live.config.schedule.is_some());
        schedules.map(|live| live.id.clone()).collect()
    }

    /// Returns the webhooks whose queues are rate limited, with their deliveries per minute.
    pub(crate) fn paced(&self) -> Vec<(WebhookId, u32)> {
        let all = self.0.load();
        all.values()
            .filter(|live| live.config.on_limit == OnLimit::Queue)
            .map(|live| (live.id.clone(), live.config.rate_limit_per_minute))
            .collect()
    }

    /// Replaces all webhooks. Call this function, `put` and `remove` only while `changing` is locked.
    pub(crate) fn replace_all(&self, all: ByPublicId) {
        self.0.store(Arc::new(all));
    }

    pub(crate) fn put(&self, webhook: LiveWebhook) {
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
