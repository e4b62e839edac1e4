//! Opens the crate over a test database.

use gatehouse_channels::{
    Account, Channels, ChannelsError, ChannelsParts, MessageLink, NewAccount, OfDelivery, Outgoing,
    SendError,
};
use gatehouse_domain::{
    Actor, Clock, DeliveryId, ErrorCode, ManualClock, Problem, Random, SeededRandom, SystemRandom,
    Timestamp, WebhookId,
};
use gatehouse_outbound::{Outbound, OutboundSettings};
use gatehouse_secrets::{KdfQueue, Secrets, SecretsSettings};
use gatehouse_store::testing::{self, TestDatabase};
use gatehouse_store::{AuditPage, ChannelSecretRow, Store, StoreError};
use secrecy::SecretString;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

pub const PASSWORD: &str = "the password";
/// 2026-11-18T11:06:40.123Z
pub const NOW_MS: i64 = 1_795_000_000_123;

pub fn actor() -> &'static Actor {
    static ACTOR: LazyLock<Actor> = LazyLock::new(Actor::cli);
    &ACTOR
}

pub struct Harness {
    pub channels: Channels,
    pub secrets: Secrets,
    pub store: Store,
    pub clock: Arc<ManualClock>,
    pub outbound: Outbound,
    _database: TestDatabase,
}

/// Opens the crate once for each available database engine.
pub async fn harnesses() -> Vec<Harness> {
    let mut harnesses = Vec::new();
    for database in testing::databases().await {
        harnesses.push(Harness::open(database).await);
    }
    harnesses
}

/// Opens the crate for a test that does not depend on the engine.
pub async fn harness() -> Harness {
    Harness::open(testing::sqlite()).await
}

impl Harness {
    async fn open(database: TestDatabase) -> Self {
        let store = database.open().await;
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(NOW_MS)));
        let as_clock: Arc<dyn Clock> = clock.clone();
        let random: Arc<dyn Random> = Arc::new(SystemRandom);
        let settings = SecretsSettings {
            vault_enabled: true,
            vault_enabled_fixed: false,
            plaintext_while_sealed: true,
            keep_plaintext_provider_keys: true,
            data_dir: database.directory().to_owned(),
        };
        let queue = KdfQueue::new(2);
        let secrets = Secrets::open(store.clone(), queue, as_clock.clone(), random, settings);
        let secrets = secrets.await.unwrap();
        let outbound = Outbound::new(OutboundSettings::default()).unwrap();
        let channels = Channels::open(ChannelsParts {
            store: store.clone(),
            secrets: secrets.clone(),
            outbound: outbound.clone(),
            clock: as_clock,
            random: Arc::new(SeededRandom::new(7)),
        });
        Self {
            channels,
            secrets,
            store,
            clock,
            outbound,
            _database: database,
        }
    }

    pub async fn create(&self, kind: &str, fields: Value) -> Account {
        self.try_create(kind, None, fields).await.unwrap()
    }

    pub async fn try_create(
        &self,
        kind: &str,
        id: Option<&str>,
        fields: Value,
    ) -> Result<Account, ChannelsError> {
        let new = NewAccount {
            kind: kind.to_owned(),
            label: format!("My {kind}"),
            fields: object(fields),
            id: id.map(str::to_owned),
            enabled: true,
        };
        self.channels.create(actor(), true, new).await
    }

    pub async fn send(&self, target: &str, text: &str) -> Result<(), SendError> {
        self.send_with(target, text, &[]).await
    }

    pub async fn send_with(
        &self,
        target: &str,
        text: &str,
        extra: &[(&str, &str)],
    ) -> Result<(), SendError> {
        let extra: BTreeMap<_, _> = extra
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let message = Outgoing {
            target,
            text,
            is_json: false,
            extra: &extra,
            source: "deploys",
            at: Timestamp::from_millis(NOW_MS),
            delivery: None,
            pictures: &[],
            links: &[],
        };
        self.channels.send(message).await
    }

    /// Sends a text with links.
    pub async fn send_linked(
        &self,
        target: &str,
        text: &str,
        links: &[MessageLink<'_>],
    ) -> Result<(), SendError> {
        let message = Outgoing {
            target,
            text,
            is_json: false,
            extra: &BTreeMap::new(),
            source: "deploys",
            at: Timestamp::from_millis(NOW_MS),
            delivery: None,
            pictures: &[],
            links,
        };
        self.channels.send(message).await
    }

    /// Sends JSON in a custom format.
    pub async fn send_json(&self, target: &str, json: &str) -> Result<(), SendError> {
        let message = Outgoing {
            target,
            text: json,
            is_json: true,
            extra: &BTreeMap::new(),
            source: "deploys",
            at: Timestamp::from_millis(NOW_MS),
            delivery: None,
            pictures: &[],
            links: &[],
        };
        self.channels.send(message).await
    }

    /// Sends a text for a delivery.
    pub async fn send_of(&self, delivery: &str, target: &str, text: &str) -> Result<(), SendError> {
        let (webhook_id, delivery_id) = (
            WebhookId::from_text("hook_1"),
            DeliveryId::from_text(delivery),
        );
        let message = Outgoing {
            target,
            text,
            is_json: false,
            extra: &BTreeMap::new(),
            source: "deploys",
            at: Timestamp::from_millis(NOW_MS),
            delivery: Some(OfDelivery {
                webhook_id: &webhook_id,
                delivery_id: &delivery_id,
            }),
            pictures: &[],
            links: &[],
        };
        self.channels.send(message).await
    }

    pub async fn secret_rows(&self) -> Vec<ChannelSecretRow> {
        let read = self
            .store
            .read(|conn| Box::pin(async move { conn.list_channel_secrets().await }));
        let rows: Result<_, StoreError> = read.await;
        rows.unwrap()
    }

    /// Returns kinds and details of the audit rows, oldest first.
    pub async fn audit(&self) -> Vec<(String, Value)> {
        let page = AuditPage {
            before_seq: i64::MAX,
            kind: None,
            limit: 500,
            ..gatehouse_store::AuditPage::default()
        };
        let read = self
            .store
            .read(move |conn| Box::pin(async move { conn.list_audit(&page).await }));
        let rows: Result<Vec<_>, StoreError> = read.await;
        let shown = rows.unwrap().into_iter().rev();
        shown
            .map(|row| (row.kind, serde_json::from_str(&row.detail).unwrap()))
            .collect()
    }

    pub async fn initialize_vault(&self) {
        let password = SecretString::from(PASSWORD);
        self.secrets.initialize(actor(), password).await.unwrap();
    }

    pub async fn unseal(&self) {
        let password = SecretString::from(PASSWORD);
        let opened = self.secrets.unseal_with_password(actor(), &password).await;
        opened.unwrap();
    }

    pub async fn seal(&self) {
        self.secrets.seal(actor()).await.unwrap();
    }
}

pub fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        other => panic!("{other} is no object"),
    }
}

/// Returns the problem that the API would return.
pub fn problem<T: std::fmt::Debug>(result: Result<T, ChannelsError>) -> Problem {
    result.unwrap_err().into()
}

/// Returns the error code and the field it names.
pub fn blame<T: std::fmt::Debug>(result: Result<T, ChannelsError>) -> (ErrorCode, String) {
    let problem = problem(result);
    let field = problem.details.get("field").and_then(Value::as_str);
    (problem.code, field.unwrap_or_default().to_owned())
}

/// Returns the wait and the text of a retryable failure.
pub fn retry(result: Result<(), SendError>) -> (Option<Duration>, String) {
    match result {
        Err(SendError::Retry { after, why }) => (after, why),
        Err(SendError::Unreachable { why }) => (None, why),
        other => panic!("{other:?}"),
    }
}

/// Returns the text of a permanent failure.
pub fn give_up(result: Result<(), SendError>) -> String {
    match result {
        Err(SendError::GiveUp { why } | SendError::Disabled { why }) => why,
        other => panic!("{other:?}"),
    }
}
