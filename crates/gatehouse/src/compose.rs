//! Opens the crates in order. Each step depends on the preceding one. Steps that need an open vault come after the
//! automatic unseal.

use crate::data_dir::{self, DataDirError, Locks};
use crate::profiles::{self, ProfileFiles};
use crate::remains;
use gatehouse_auth::{Auth, AuthError};
use gatehouse_config::{ConfigError, DatabaseUrl, Layers};
use gatehouse_domain::{Clock, Random};
use gatehouse_rpc::Rpc;
use gatehouse_secrets::{KdfQueue, Secrets, SecretsError, SecretsSettings};
use gatehouse_services::backup::{check_written_recipient, database_location};
use gatehouse_services::{Build, LiveConfig, Services, ServicesError, ServicesParts};
use gatehouse_store::{Location, Store, StoreError};
use gatehouse_web::{ServerTls, TlsError};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The injected dependencies.
#[derive(Debug)]
pub struct Parts {
    pub clock: Arc<dyn Clock>,
    pub random: Arc<dyn Random>,
}

/// The purpose of opening the crates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Serves. Uses the configured unseal key.
    Serve,
    /// Runs one operator command. Does not change the state of the vault.
    Command,
    /// Runs one command while a server of the same version has the lock.
    Beside,
}

/// Why the service could not start.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error(transparent)]
    DataDir(#[from] DataDirError),
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The database cannot be opened.
    #[error(transparent)]
    Database(#[from] gatehouse_store::OpenError),
    /// The database cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("cannot open the secrets")]
    Secrets(#[from] SecretsError),
    #[error("cannot open the credentials")]
    Auth(#[from] AuthError),
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The HTTP clients, the agents or the webhooks cannot be opened.
    #[error(transparent)]
    Services(#[from] ServicesError),
}

/// The dependencies of every crate: the data directory, its lock, the database.
#[derive(Debug)]
pub struct Storage {
    pub store: Store,
    /// The locks. They are released last, after the store is closed.
    locks: Mutex<Option<Locks>>,
}

impl Storage {
    /// Opens the data directory, the lock and the database, in this order.
    pub async fn open(layers: &Layers, purpose: Purpose) -> Result<Self, OpenError> {
        data_dir::prepare(layers.data_dir())?;
        let (location, locks) = location(layers, purpose)?;
        Ok(Self {
            store: Store::open(&location).await?,
            locks: Mutex::new(locks),
        })
    }

    /// Lets writes finish, closes the database and releases the locks.
    pub async fn close(&self) {
        self.store.close().await;
        drop(
            self.locks
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take(),
        );
    }
}

/// The opened crates and their database.
#[derive(Debug)]
pub struct Gateway {
    pub services: Arc<Services>,
    profiles: Arc<Mutex<ProfileFiles>>,
    storage: Storage,
}

impl Gateway {
    /// Opens [`Storage`], then settings, secrets, auth and the other crates.
    pub async fn open(layers: Layers, parts: Parts, purpose: Purpose) -> Result<Self, OpenError> {
        let Parts { clock, random } = parts;
        let started_at_ms = clock.monotonic_ms();
        if purpose == Purpose::Serve {
            check_written_recipient(&layers)?;
        }
        let storage = Storage::open(&layers, purpose).await?;
        let profiles = ProfileFiles::open(layers.data_dir());
        let store = storage.store.clone();
        let rows = store.read(|conn| Box::pin(async move { conn.list_settings().await }));
        let config = Arc::new(LiveConfig::new(layers, settings_of(rows.await?))?);
        report(&config);

        let resolved = config.resolved();
        let kdf = KdfQueue::new(resolved.settings.auth.kdf_concurrency);
        let secrets = Secrets::open(
            store.clone(),
            kdf.clone(),
            Arc::clone(&clock),
            Arc::clone(&random),
            secrets_settings(&config),
        )
        .await?;
        let vault = &resolved.settings.vault;
        if let Some(secret) = &vault.cluster_secret {
            secrets.join_cluster(secret).await?;
        }
        secrets.set_share_unseal(vault.share_unseal);
        if purpose == Purpose::Serve {
            let process = config.layers().process();
            let file = process.auto_unseal_key_file.as_deref();
            let value = process.take_auto_unseal_key();
            secrets.auto_unseal(file, value.as_ref()).await;
        }
        let auth = Auth::open(
            store.clone(),
            secrets.clone(),
            kdf,
            Arc::clone(&clock),
            Arc::clone(&random),
            config.auth_settings(),
        )
        .await?;
        auth.name_targets(gatehouse_web::targets());
        let parts = ServicesParts {
            store,
            secrets,
            auth,
            config,
            clock,
            random,
            build: BUILD,
            started_at_ms,
        };
        let services = Services::open(parts).await?;
        services.profile_files.set(profiles.report());
        Ok(Self {
            services: Arc::new(services),
            profiles: Arc::new(Mutex::new(profiles)),
            storage,
        })
    }

    /// Applies changed profile files until shutdown.
    pub(crate) fn watch_profiles(&self, shutdown: &CancellationToken, tasks: &TaskTracker) {
        let files = Arc::clone(&self.profiles);
        profiles::watch(files, &self.services, shutdown, tasks);
    }

    /// Returns the database, for checks.
    pub const fn store(&self) -> &Store {
        &self.storage.store
    }

    /// Lets writes finish, closes the database and releases the locks.
    pub async fn close(&self) {
        self.storage.close().await;
    }
}

const BUILD: Build = Build {
    version: env!("CARGO_PKG_VERSION"),
    vault: cfg!(feature = "vault"),
    voice: cfg!(feature = "voice"),
};

/// Keeps only settings, whose keys have a section. State such as `auth_disabled` is in the same table.
fn settings_of(mut rows: BTreeMap<String, Value>) -> BTreeMap<String, Value> {
    rows.retain(|key, _| key.contains('.'));
    rows
}

fn report(config: &LiveConfig) {
    let resolved = config.resolved();
    for warning in config.layers().warnings().iter().chain(&resolved.warnings) {
        tracing::warn!("{warning}");
    }
    if !resolved.shadowed.is_empty() {
        let keys = resolved.shadowed.join(", ");
        tracing::info!("these settings in the file are overridden: {keys}");
    }
}

/// Returns the database's location. Creates a SQLite file first, with the permissions that its journal files inherit.
fn location(layers: &Layers, purpose: Purpose) -> Result<(Location, Option<Locks>), OpenError> {
    let fixed = layers.resolve(&BTreeMap::new())?;
    let data_dir = layers.data_dir();
    let url = &fixed.settings.database.url;
    let locks = match url {
        DatabaseUrl::Postgres { .. } => None,
        DatabaseUrl::Sqlite { path } => {
            let path = data_dir.join(path);
            let locks = match purpose {
                Purpose::Serve | Purpose::Command => Some(Locks::take(data_dir, &path)?),
                Purpose::Beside => None,
            };
            remains::ensure_none(data_dir, &path)?;
            drop(data_dir::open_private(&path)?);
            locks
        }
    };
    Ok((database_location(url, data_dir)?, locks))
}

/// The service, ready to serve. Cheap to clone.
#[derive(Clone)]
pub struct App(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) gateway: Gateway,
    pub(crate) rpc: Rpc,
    pub(crate) tls: Option<ServerTls>,
}

impl std::fmt::Debug for App {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("App")
            .field("gateway", &self.0.gateway)
            .finish_non_exhaustive()
    }
}

impl App {
    /// Opens everything that serving needs.
    pub async fn open(layers: Layers, parts: Parts) -> Result<Self, OpenError> {
        let gateway = Gateway::open(layers, parts, Purpose::Serve).await?;
        let tls = ServerTls::open(&gateway.services).await?;
        let rpc = Rpc::new(Arc::clone(&gateway.services));
        Ok(Self(Arc::new(Inner { gateway, rpc, tls })))
    }

    /// Returns the opened crates.
    pub fn services(&self) -> &Arc<Services> {
        &self.0.gateway.services
    }
}

/// Returns the settings for secrets. A build without the vault feature never creates a vault, because it has no
/// endpoint to open one.
fn secrets_settings(config: &LiveConfig) -> SecretsSettings {
    let settings = config.secrets_settings();
    if cfg!(feature = "vault") {
        return settings;
    }
    SecretsSettings {
        vault_enabled: false,
        vault_enabled_fixed: true,
        ..settings
    }
}
