//! A test's database and data directory, and the crate opened over them.

use gatehouse_domain::{
    Actor, Clock, ErrorCode, KeyBinding, ManualClock, Problem, Random, SystemRandom, Timestamp,
};
use gatehouse_secrets::{KdfQueue, Secrets, SecretsSettings, VaultError};
use gatehouse_store::testing::{self, TestDatabase};
use gatehouse_store::{AuditPage, AuditRow, EnvVariableRow, Store};
use secrecy::{ExposeSecret, SecretString};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use url::Url;

pub const PASSWORD: &str = "the first password";
pub const OTHER: &str = "another password";

pub fn secret(text: &str) -> SecretString {
    SecretString::from(text)
}

/// Returns the key binding of a model provider at this URL.
pub fn service(url: &str) -> KeyBinding {
    KeyBinding::of_url("openai", &Url::parse(url).unwrap())
}

pub fn actor() -> &'static Actor {
    static ACTOR: LazyLock<Actor> = LazyLock::new(Actor::cli);
    &ACTOR
}

/// A database and directory that outlive the process using them.
pub struct Installation {
    pub database: TestDatabase,
}

/// Creates one installation for each available database engine.
pub async fn installations() -> Vec<Installation> {
    let all = testing::databases().await;
    all.into_iter()
        .map(|database| Installation { database })
        .collect()
}

/// Creates an installation for tests that concern only files.
pub fn sqlite_home() -> Installation {
    Installation {
        database: testing::sqlite(),
    }
}

impl Installation {
    pub fn directory(&self) -> &Path {
        self.database.directory()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory().join(name)
    }

    pub async fn sql(&self, statement: &str) {
        testing::run_sql(&self.database.location, statement).await;
    }

    /// Copies the installation. Its node must be stopped.
    pub fn copy(&self) -> Self {
        let copy = sqlite_home();
        for entry in std::fs::read_dir(self.directory()).unwrap() {
            let entry = entry.unwrap();
            std::fs::copy(
                entry.path(),
                copy.path(&entry.file_name().to_string_lossy()),
            )
            .unwrap();
        }
        copy
    }

    /// Starts a node like the server.
    pub async fn start(&self) -> Node {
        self.start_with(|_| {}).await
    }

    pub async fn start_with(&self, change: impl FnOnce(&mut SecretsSettings)) -> Node {
        Node::start(self.database.open().await, self.directory(), change).await
    }
}

pub fn settings(directory: &Path) -> SecretsSettings {
    SecretsSettings {
        vault_enabled: true,
        vault_enabled_fixed: false,
        plaintext_while_sealed: true,
        keep_plaintext_provider_keys: true,
        data_dir: directory.to_owned(),
    }
}

/// One run of the process.
pub struct Node {
    pub store: Store,
    pub secrets: Secrets,
    pub clock: Arc<ManualClock>,
}

impl Node {
    pub async fn start(
        store: Store,
        directory: &Path,
        change: impl FnOnce(&mut SecretsSettings),
    ) -> Self {
        Self::start_on(store, directory, change, KdfQueue::new(2)).await
    }

    /// Starts a node whose password hashing uses this queue.
    pub async fn start_with_queue(
        installation: &Installation,
        queue: KdfQueue,
    ) -> (Self, KdfQueue) {
        let store = installation.database.open().await;
        let node = Self::start_on(store, installation.directory(), |_| {}, queue.clone()).await;
        (node, queue)
    }

    async fn start_on(
        store: Store,
        directory: &Path,
        change: impl FnOnce(&mut SecretsSettings),
        queue: KdfQueue,
    ) -> Self {
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_000_000)));
        let mut settings = settings(directory);
        change(&mut settings);
        let as_clock: Arc<dyn Clock> = clock.clone();
        let random: Arc<dyn Random> = Arc::new(SystemRandom);
        let opened = Secrets::open(store.clone(), queue, as_clock, random, settings);
        Self {
            secrets: opened.await.unwrap(),
            store,
            clock,
        }
    }

    pub async fn stop(self) {
        self.store.close().await;
    }

    pub async fn set(&self, key: &str, value: &str) {
        let set = self
            .secrets
            .set_env_variable(actor(), key, secret(value), None);
        set.await.unwrap();
    }

    /// Returns every readable variable with its value.
    pub async fn values(&self) -> Vec<(String, String)> {
        let environment = self.secrets.environment().await.unwrap();
        let shown = |(key, value): (String, SecretString)| (key, value.expose_secret().to_owned());
        environment.variables.into_iter().map(shown).collect()
    }

    /// Returns the value of one variable, which must be readable.
    pub async fn value(&self, key: &str) -> String {
        let values = self.values().await;
        values.into_iter().find(|(k, _)| k == key).unwrap().1
    }

    pub async fn rows(&self) -> Vec<EnvVariableRow> {
        let read = self
            .store
            .read(|conn| Box::pin(async move { conn.list_env_variables().await }));
        let rows: Result<_, gatehouse_store::StoreError> = read.await;
        rows.unwrap()
    }

    /// Returns how many secrets are encrypted.
    pub async fn encrypted(&self) -> i64 {
        let read = self
            .store
            .read(|conn| Box::pin(async move { conn.count_encrypted().await }));
        let count: Result<_, gatehouse_store::StoreError> = read.await;
        count.unwrap()
    }

    pub async fn record(&self) -> Option<gatehouse_store::VaultRow> {
        let read = self
            .store
            .read(|conn| Box::pin(async move { conn.find_vault().await }));
        let record: Result<_, gatehouse_store::StoreError> = read.await;
        record.unwrap()
    }

    pub async fn setting(&self, key: &'static str) -> Option<serde_json::Value> {
        let read = self
            .store
            .read(move |conn| Box::pin(async move { conn.find_setting(key).await }));
        let value: Result<_, gatehouse_store::StoreError> = read.await;
        value.unwrap()
    }

    /// Returns the kinds of the audit rows, oldest first.
    pub async fn audit(&self) -> Vec<String> {
        let page = AuditPage {
            before_seq: i64::MAX,
            kind: None,
            limit: 500,
            ..gatehouse_store::AuditPage::default()
        };
        let read = self
            .store
            .read(move |conn| Box::pin(async move { conn.list_audit(&page).await }));
        let rows: Result<Vec<AuditRow>, gatehouse_store::StoreError> = read.await;
        rows.unwrap()
            .into_iter()
            .rev()
            .map(|row| row.kind)
            .collect()
    }

    pub async fn initialize(&self) -> String {
        let made = self.secrets.initialize(actor(), secret(PASSWORD)).await;
        made.unwrap().expose_secret().to_owned()
    }

    pub async fn unlock(&self, password: &str) -> Result<gatehouse_secrets::Status, VaultError> {
        let password = secret(password);
        self.secrets.unseal_with_password(actor(), &password).await
    }

    pub async fn recover(&self, key: &str) -> Result<gatehouse_secrets::Status, VaultError> {
        self.secrets.unseal_with_recovery_key(actor(), key).await
    }
}

/// Returns the error code that a caller would get.
pub fn code<T>(result: Result<T, impl Into<Problem>>) -> ErrorCode {
    match result {
        Ok(_) => panic!("it was accepted"),
        Err(error) => error.into().code,
    }
}
