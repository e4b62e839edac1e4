//! The settings in effect: the settings at startup plus later changes. Only this module translates settings into
//! the types of the other crates.

pub mod settings;
#[cfg(feature = "voice")]
pub mod voice;
mod written_keys;

use crate::to_problem;
use arc_swap::ArcSwap;
use gatehouse_auth::client_address::ProxyTrust;
use gatehouse_auth::locality::LocalitySettings;
use gatehouse_auth::{Auth, AuthSettings};
use gatehouse_config::{ConfigError, Layers, Resolved, StartValues};
use gatehouse_domain::{ErrorCode, Problem};
use gatehouse_secrets::{Secrets, SecretsSettings};
use gatehouse_store::{Store, StoreError};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::{Mutex, watch};

/// The settings in effect.
#[derive(Debug)]
pub struct LiveConfig {
    layers: Layers,
    resolved: ArcSwap<Resolved>,
    started_with: StartValues,
    /// Fixed until the next start, because sockets are opened with this limit.
    max_message_bytes: usize,
    /// Serializes changes, so that an older one never overwrites a newer one.
    applying: Mutex<()>,
    /// Counts how often changes were applied.
    applied: watch::Sender<u64>,
}

/// Returns the rows of table `settings` that are run-time changes of settings.
///
/// The name of a setting contains a dot. Rows without a dot are internal state.
pub fn changes(mut rows: BTreeMap<String, Value>) -> BTreeMap<String, Value> {
    rows.retain(|key, _| key.contains('.'));
    rows
}

async fn stored(store: &Store) -> Result<BTreeMap<String, Value>, StoreError> {
    store
        .read(|conn| Box::pin(async move { Ok(changes(conn.list_settings().await?)) }))
        .await
}

impl LiveConfig {
    /// Creates the settings at startup from the layers and the rows of table `settings`.
    pub fn new(layers: Layers, rows: BTreeMap<String, Value>) -> Result<Self, ConfigError> {
        let resolved = layers.resolve(&changes(rows))?;
        Ok(Self {
            max_message_bytes: resolved.settings.server.max_message_bytes,
            started_with: StartValues::of(&resolved),
            resolved: ArcSwap::from_pointee(resolved),
            layers,
            applying: Mutex::new(()),
            applied: watch::Sender::new(0),
        })
    }

    /// Returns the layers at startup.
    pub fn layers(&self) -> &Layers {
        &self.layers
    }

    /// Returns the settings currently in effect.
    pub fn resolved(&self) -> Arc<Resolved> {
        self.resolved.load_full()
    }

    /// Returns, by key, the settings whose new value takes effect at the next start of this process.
    pub fn restart_pending(&self) -> Vec<String> {
        self.started_with.changed(&self.resolved())
    }

    /// Returns the maximum message size for authenticated callers, in bytes.
    pub const fn max_message_bytes(&self) -> usize {
        self.max_message_bytes
    }

    /// Returns a receiver that is notified whenever changes have been applied in every crate.
    pub fn applied(&self) -> watch::Receiver<u64> {
        self.applied.subscribe()
    }

    fn announce(&self) {
        self.applied
            .send_modify(|count| *count = count.wrapping_add(1));
    }

    /// Returns the settings for `auth` that are currently in effect.
    pub fn auth_settings(&self) -> AuthSettings {
        auth_settings(&self.resolved(), &self.layers)
    }

    /// Returns the URL at which others reach this server.
    pub fn base_url(&self) -> String {
        settings::base_url(&self.resolved().settings)
    }

    /// Returns the settings for `secrets` that are currently in effect.
    pub fn secrets_settings(&self) -> SecretsSettings {
        secrets_settings(&self.resolved(), &self.layers)
    }

    /// Reloads the run-time changes for display, without updating the other crates.
    pub async fn refresh(&self, store: &Store) -> Result<Arc<Resolved>, Problem> {
        let _one_at_a_time = self.applying.lock().await;
        self.read(store).await
    }

    async fn read(&self, store: &Store) -> Result<Arc<Resolved>, Problem> {
        let rows = stored(store).await.map_err(to_problem)?;
        let resolved = self.layers.resolve(&rows).map_err(|error| {
            tracing::error!(%error, "the stored settings conflict with each other");
            Problem::new(
                ErrorCode::Internal,
                "The stored settings conflict with each other.",
            )
        })?;
        self.resolved.store(Arc::new(resolved));
        Ok(self.resolved())
    }

    /// Reloads the run-time changes and applies them to `auth` and `secrets`. With `to_others`, also applies them
    /// to all other crates.
    pub async fn apply(
        &self,
        store: &Store,
        auth: &Auth,
        secrets: &Secrets,
        to_others: impl FnOnce(&Resolved),
    ) -> Result<(), Problem> {
        let _one_at_a_time = self.applying.lock().await;
        let resolved = self.read(store).await?;
        for warning in &resolved.warnings {
            tracing::warn!("{warning}");
        }
        auth.update_settings(auth_settings(&resolved, &self.layers));
        secrets.update_settings(secrets_settings(&resolved, &self.layers));
        secrets.set_share_unseal(resolved.settings.vault.share_unseal);
        to_others(&resolved);
        self.announce();
        Ok(())
    }
}

/// Translates the settings for `auth`.
pub fn auth_settings(resolved: &Resolved, layers: &Layers) -> AuthSettings {
    let (settings, process) = (&resolved.settings, layers.process());
    // The configuration has validated both values. An unreadable value would only make the checks stricter.
    let header = http::HeaderName::from_bytes(settings.proxy.header.as_bytes());
    let origins = &settings.server.allowed_origins;
    AuthSettings {
        disabled_scope: settings.auth.disabled_scope,
        step_up: settings.auth.step_up,
        step_up_for_keys: settings.auth.step_up_for_keys,
        local_setup_code: settings.auth.local_setup_code,
        audit_retention_days: settings.audit.retention_days,
        locality: LocalitySettings {
            behind_proxy: process.behind_proxy,
            trust_docker_loopback: process.trust_docker_loopback,
        },
        proxy: ProxyTrust {
            behind_proxy: process.behind_proxy,
            trusted_cidrs: settings.proxy.trusted_cidrs.clone(),
            header: header.unwrap_or_else(|_| ProxyTrust::default().header),
        },
        external_url: resolved.configured_external_url().cloned(),
        allowed_origins: origins
            .iter()
            .filter_map(|o| o.to_string().parse().ok())
            .collect(),
    }
}

/// Translates the settings for `secrets`.
pub fn secrets_settings(resolved: &Resolved, layers: &Layers) -> SecretsSettings {
    let settings = &resolved.settings;
    SecretsSettings {
        vault_enabled: settings.auth.vault_enabled,
        vault_enabled_fixed: layers.fixed_by("auth.vault_enabled").is_some(),
        plaintext_while_sealed: settings.vault.plaintext_while_sealed,
        keep_plaintext_provider_keys: settings.vault.keep_plaintext_provider_keys,
        data_dir: layers.data_dir().to_owned(),
    }
}
