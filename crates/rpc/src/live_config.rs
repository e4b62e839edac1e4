//! The settings in force: what stood fast at start, and what was changed since. The one place that
//! translates settings into what the rooms below take.

pub mod rooms;
#[cfg(feature = "voice")]
pub mod voice;
mod written_keys;

use crate::method::told;
use arc_swap::ArcSwap;
use gatehouse_auth::client_address::ProxyTrust;
use gatehouse_auth::locality::LocalitySettings;
use gatehouse_auth::{Auth, AuthSettings, DisabledScope};
use gatehouse_config::{ConfigError, Layers, Resolved};
use gatehouse_domain::{ErrorCode, Problem};
use gatehouse_secrets::{Secrets, SecretsSettings};
use gatehouse_store::{Store, StoreError};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::{Mutex, watch};

/// The settings in force.
#[derive(Debug)]
pub struct LiveConfig {
    layers: Layers,
    resolved: ArcSwap<Resolved>,
    /// Holds until the next start: sockets are opened with it.
    max_message_bytes: usize,
    /// One change after the other, so that an older one never overwrites a newer one.
    applying: Mutex<()>,
    /// Counts how often changes were put in force.
    applied: watch::Sender<u64>,
}

/// The changes made at run time, from the rows of table `settings`.
///
/// Settings have a dot in their name; rows without one are state that only auth reads and writes.
pub(crate) fn changes(mut rows: BTreeMap<String, Value>) -> BTreeMap<String, Value> {
    rows.retain(|key, _| key.contains('.'));
    rows
}

async fn stored(store: &Store) -> Result<BTreeMap<String, Value>, StoreError> {
    store
        .read(|conn| Box::pin(async move { Ok(changes(conn.list_settings().await?)) }))
        .await
}

impl LiveConfig {
    /// The settings at start: the layers, and the rows of table `settings`.
    pub fn new(layers: Layers, rows: BTreeMap<String, Value>) -> Result<Self, ConfigError> {
        let resolved = layers.resolve(&changes(rows))?;
        Ok(Self {
            max_message_bytes: resolved.settings.server.max_message_bytes,
            resolved: ArcSwap::from_pointee(resolved),
            layers,
            applying: Mutex::new(()),
            applied: watch::Sender::new(0),
        })
    }

    /// What was fixed at start.
    pub fn layers(&self) -> &Layers {
        &self.layers
    }

    /// What is in force.
    pub fn resolved(&self) -> Arc<Resolved> {
        self.resolved.load_full()
    }

    /// The longest message of an authenticated caller.
    pub const fn max_message_bytes(&self) -> usize {
        self.max_message_bytes
    }

    /// Changes whenever changes were put in force in every room.
    pub fn applied(&self) -> watch::Receiver<u64> {
        self.applied.subscribe()
    }

    pub(crate) fn tell_applied(&self) {
        self.applied
            .send_modify(|count| *count = count.wrapping_add(1));
    }

    /// What is in force for auth.
    pub fn auth_settings(&self) -> AuthSettings {
        auth_settings(&self.resolved(), &self.layers)
    }

    /// Where others reach this server.
    pub fn base_url(&self) -> String {
        rooms::base_url(&self.resolved().settings)
    }

    /// What is in force for secrets.
    pub fn secrets_settings(&self) -> SecretsSettings {
        secrets_settings(&self.resolved(), &self.layers)
    }

    /// Reads the run-time changes again, for display.
    pub(crate) async fn refresh(&self, store: &Store) -> Result<Arc<Resolved>, Problem> {
        let rows = stored(store).await.map_err(told)?;
        let resolved = self.layers.resolve(&rows).map_err(|error| {
            tracing::error!(%error, "the stored settings do not hold together");
            Problem::new(
                ErrorCode::Internal,
                "The stored settings do not hold together.",
            )
        })?;
        self.resolved.store(Arc::new(resolved));
        Ok(self.resolved())
    }

    /// Reads the run-time changes again and puts them in force.
    pub async fn apply(
        &self,
        store: &Store,
        auth: &Auth,
        secrets: &Secrets,
    ) -> Result<(), Problem> {
        let _one_at_a_time = self.applying.lock().await;
        let resolved = self.refresh(store).await?;
        for warning in &resolved.warnings {
            tracing::warn!("{warning}");
        }
        auth.update_settings(auth_settings(&resolved, &self.layers));
        secrets.update_settings(secrets_settings(&resolved, &self.layers));
        Ok(())
    }
}

/// What auth takes of the settings.
pub fn auth_settings(resolved: &Resolved, layers: &Layers) -> AuthSettings {
    let (settings, process) = (&resolved.settings, layers.process());
    // The configuration has checked both: what could not be read here would only be stricter.
    let header = http::HeaderName::from_bytes(settings.proxy.header.as_bytes());
    let origins = &settings.server.allowed_origins;
    AuthSettings {
        disabled_scope: match settings.auth.disabled_scope {
            gatehouse_config::DisabledScope::All => DisabledScope::All,
            gatehouse_config::DisabledScope::Local => DisabledScope::Local,
        },
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
        external_url: settings.server.external_url.clone(),
        allowed_origins: origins
            .iter()
            .filter_map(|o| o.to_string().parse().ok())
            .collect(),
    }
}

/// What secrets takes of the settings.
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
