//! A test node: all parts that a delivery needs, with a real database and a scripted model.

use super::model::{self, FakeModel};
use gatehouse_agents::{Agents, AgentsParts, AgentsSettings};
use gatehouse_channels::{Channels, ChannelsParts, InboxFilter};
use gatehouse_domain::{
    Actor, Clock, DeliveryId, DeliveryStatus, ManualClock, Random, SystemRandom, Timestamp,
    WebhookId,
};
use gatehouse_models::{
    Models, ModelsParts, ModelsSettings, ProviderKind, ProviderSettings, Tuning,
};
use gatehouse_outbound::{Outbound, OutboundSettings};
use gatehouse_secrets::{KdfQueue, Secrets, SecretsSettings};
use gatehouse_store::testing::{TestDatabase, databases, run_sql};
use gatehouse_store::{
    ClaimRequest, Conn, DeliveryFinish, DeliveryRequeue, DeliveryResponse, DeliveryRow, Location,
    NewDelivery, Store, StoreError, Take, WebhookRow,
};
use gatehouse_webhooks::{DeliveryChange, Webhooks, WebhooksParts, WebhooksSettings};
use secrecy::SecretString;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The start time of every test, in Unix milliseconds.
pub const START: i64 = 1_795_000_000_000;
/// Timeout for events that should happen immediately.
const PATIENCE: Duration = Duration::from_secs(20);
pub const PASSWORD: &str = "correct horse battery";

pub fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

fn finish(status: DeliveryStatus, now: Timestamp) -> DeliveryFinish {
    DeliveryFinish {
        status,
        finished_at: now,
        session_id: None,
        input_tokens: None,
        output_tokens: None,
        error: None,
        response_actions: Some("[]".to_owned()),
        delivered_at: None,
        outcome: None,
        channel: None,
        response: DeliveryResponse::default(),
    }
}

/// One process of a node, from start to stop.
pub struct Harness {
    pub store: Store,
    pub secrets: Secrets,
    pub channels: Channels,
    pub agents: Agents,
    pub webhooks: Webhooks,
    pub clock: Arc<ManualClock>,
    events: tokio::sync::Mutex<broadcast::Receiver<Arc<DeliveryChange>>>,
    stop: CancellationToken,
    tasks: TaskTracker,
}

pub fn settings() -> WebhooksSettings {
    WebhooksSettings {
        drain_seconds: 2,
        ..WebhooksSettings::default()
    }
}

/// Runs a test on each engine, each with a new model.
pub async fn everywhere<F: Future>(test: impl Fn(TestDatabase, FakeModel) -> F) {
    for database in databases().await {
        eprintln!("on {:?}", database.engine());
        Box::pin(test(database, model::start().await)).await;
    }
}

impl Harness {
    pub async fn open(database: &TestDatabase, model: &FakeModel) -> Self {
        Self::open_with(database, model, settings()).await
    }

    pub async fn open_with(
        database: &TestDatabase,
        model: &FakeModel,
        settings: WebhooksSettings,
    ) -> Self {
        Self::open_at(&database.location, database.directory(), model, settings).await
    }

    /// Opens a node on a database that another process has created.
    pub async fn open_at(
        location: &Location,
        directory: &Path,
        model: &FakeModel,
        settings: WebhooksSettings,
    ) -> Self {
        let store = Store::open(location).await.unwrap();
        let clock = Arc::new(ManualClock::at(at(START)));
        let as_clock: Arc<dyn Clock> = clock.clone();
        let random: Arc<dyn Random> = Arc::new(SystemRandom);
        let secrets = Secrets::open(
            store.clone(),
            KdfQueue::new(2),
            as_clock.clone(),
            random.clone(),
            SecretsSettings {
                vault_enabled: true,
                vault_enabled_fixed: false,
                plaintext_while_sealed: true,
                keep_plaintext_provider_keys: true,
                data_dir: directory.to_owned(),
            },
        )
        .await
        .unwrap();
        let outbound = Outbound::new(OutboundSettings {
            allow_private: true,
        })
        .unwrap();
        let channels = Channels::open(ChannelsParts {
            store: store.clone(),
            secrets: secrets.clone(),
            outbound: outbound.clone(),
            clock: as_clock.clone(),
            random: random.clone(),
        });
        let models = Models::with_tuning(
            ModelsParts {
                secrets: secrets.clone(),
                outbound,
                clock: as_clock.clone(),
                random: random.clone(),
            },
            models(model),
            Tuning {
                local: None,
                ..Tuning::default()
            },
        );
        let agents = Agents::open(
            AgentsParts {
                store: store.clone(),
                models,
                clock: as_clock.clone(),
                random: random.clone(),
                tracer: gatehouse_domain::trace::Tracer::default(),
            },
            AgentsSettings::default(),
        )
        .await
        .unwrap();
        let parts = WebhooksParts {
            store: store.clone(),
            secrets: secrets.clone(),
            agents: agents.clone(),
            channels: channels.clone(),
            clock: as_clock,
            random,
            tracer: gatehouse_domain::trace::Tracer::default(),
        };
        let webhooks = Webhooks::open(parts, settings).await.unwrap();
        Self {
            events: tokio::sync::Mutex::new(webhooks.subscribe(|| true)),
            store,
            secrets,
            channels,
            agents,
            webhooks,
            clock,
            stop: CancellationToken::new(),
            tasks: TaskTracker::new(),
        }
    }

    pub fn work(&self) {
        self.webhooks.background(self.stop.clone(), &self.tasks);
    }

    /// Shuts down like a server.
    pub async fn stop(self) {
        self.begin_to_stop().await;
    }

    /// Requests shutdown; the returned future completes when it is done.
    pub fn begin_to_stop(self) -> impl Future<Output = ()> {
        self.stop.cancel();
        self.tasks.close();
        async move {
            let ended = tokio::time::timeout(PATIENCE, self.tasks.wait());
            assert!(ended.await.is_ok(), "the worker does not end");
            self.store.close().await;
        }
    }

    /// Waits until the worker has completed a pass at the current time.
    pub async fn worker_has_looked(&self) {
        let looked = tokio::time::timeout(PATIENCE, self.webhooks.worker_turn());
        assert!(looked.await.is_ok(), "the worker does not look");
    }

    pub fn clock_ms(&self) -> i64 {
        self.clock.now().as_millis()
    }

    /// Sets the wall clock, like an operator. The monotonic clock is not affected.
    pub fn jump_days(&self, days: i64) {
        self.clock.set_wall(at(self.clock_ms() + days * 86_400_000));
    }

    pub async fn write<T: Send + 'static>(
        &self,
        job: impl for<'c> FnOnce(
            &'c mut Conn,
        ) -> futures_util::future::BoxFuture<'c, Result<T, StoreError>>
        + Send
        + 'static,
    ) -> T {
        self.store.write(job).await.unwrap()
    }

    /// Stores a webhook with the default configuration and these overrides.
    pub async fn webhook(&self, name: &str, more: Value) -> WebhookRow {
        let mut config = json!({
            "auth": { "mode": "none" },
            "source_profile": "generic",
            "rate_limit_per_minute": 60,
            "max_body_bytes": 1_048_576,
        });
        merge(&mut config, more);
        let row = WebhookRow {
            id: WebhookId::from_text(format!("hook_{name}")),
            public_id: format!("wh_{name}"),
            name: name.to_owned(),
            config: config.to_string(),
            enabled: true,
            delivery_count: 0,
            last_delivery_at: None,
            created_at: at(START),
            updated_at: at(START),
        };
        let stored = row.clone();
        self.write(move |conn| {
            Box::pin(async move { conn.insert_webhook(&stored).await.map(drop) })
        })
        .await;
        self.webhooks.reload().await.unwrap();
        row
    }

    /// Returns a delivery as ingest would store it.
    pub fn delivery(&self, n: u32, webhook: &WebhookRow, session: &str) -> NewDelivery {
        let mut snapshot: Value = serde_json::from_str(&webhook.config).unwrap();
        let target = match snapshot["deliver_only"].as_bool() {
            Some(true) => snapshot["deliver_to"]
                .as_str()
                .unwrap_or("inbox")
                .to_owned(),
            _ => String::new(),
        };
        let members = snapshot.as_object_mut().unwrap();
        members.remove("auth");
        members.insert("public_id".into(), webhook.public_id.clone().into());
        members.insert("name".into(), webhook.name.clone().into());
        NewDelivery {
            id: id(n),
            webhook_id: webhook.id.clone(),
            status: DeliveryStatus::Queued,
            event_type: Some("push".to_owned()),
            entity_key: None,
            delivery_key: None,
            unique_key: None,
            bytes_key: None,
            duplicate_of: None,
            replay_of: None,
            redelivery: None,
            summary: None,
            session_key: session.to_owned(),
            received_at: self.clock.now(),
            next_attempt_at: Some(self.clock.now()),
            headers: "{}".to_owned(),
            body_size: 12,
            body_preview: String::new(),
            payload: Some(format!(r#"{{"n":{n},"text":"hello {n}"}}"#)),
            config: Some(snapshot.to_string().into()),
            target: Some(target.into()),
            error: None,
        }
    }

    pub async fn insert(&self, new: Vec<NewDelivery>) {
        self.write(move |conn| {
            Box::pin(async move { conn.insert_deliveries(&new).await.map(drop) })
        })
        .await;
        self.webhooks.wake();
    }

    /// Ends a waiting delivery, like a worker.
    pub async fn end_as(&self, wanted: &DeliveryId, status: DeliveryStatus) {
        let (wanted, now) = (wanted.clone(), self.clock.now());
        let ended = self.write(move |conn| {
            Box::pin(async move {
                let lines = conn.list_delivery_lines(None, 64).await?.into_iter();
                let takes = lines.map(|line| Take {
                    target: line.target,
                    webhook_id: line.webhook_id,
                    limit: 64,
                });
                let want = ClaimRequest {
                    owner: "test".to_owned(),
                    now,
                    lease_until: now,
                    takes: takes.collect(),
                    paced: Vec::new(),
                };
                let mut ended = false;
                for work in conn.claim_deliveries(&want).await?.claimed {
                    let (id, attempt) = (work.row.id, work.row.attempts);
                    if id == wanted {
                        let finish = finish(status, now);
                        ended = conn.finish_delivery(&id, "test", attempt, &finish).await?;
                    } else {
                        let back = DeliveryRequeue {
                            next_attempt_at: Some(now),
                            uncount: true,
                            error: None,
                            session_id: None,
                        };
                        conn.requeue_delivery(&id, "test", attempt, &back).await?;
                    }
                }
                Ok(ended)
            })
        });
        assert!(ended.await, "it did not wait");
    }

    /// Stores deliveries of one webhook, each in the given session.
    pub async fn arrive(&self, webhook: &WebhookRow, deliveries: &[(u32, &str)]) {
        let each = deliveries.iter();
        let new = each.map(|(n, session)| self.delivery(*n, webhook, session));
        self.insert(new.collect()).await;
    }

    /// Stores a delivery that this node does not claim.
    pub async fn arrive_parked(&self, webhook: &WebhookRow, n: u32, session: &str) {
        let parked = NewDelivery {
            next_attempt_at: None,
            ..self.delivery(n, webhook, session)
        };
        self.insert(vec![parked]).await;
    }

    pub async fn find(&self, n: u32) -> Option<DeliveryRow> {
        self.store
            .read(move |conn| Box::pin(async move { conn.find_delivery(id(n).as_str()).await }))
            .await
            .unwrap()
    }

    pub async fn row(&self, n: u32) -> DeliveryRow {
        self.find(n).await.unwrap()
    }

    /// Advances the clock and wakes the worker.
    pub fn advance(&self, duration: Duration) {
        self.clock.advance(duration);
        self.webhooks.wake();
    }

    /// Waits for the event in which the delivery reaches this status.
    pub async fn until(&self, n: u32, status: DeliveryStatus) -> DeliveryChange {
        let mut events = self.events.lock().await;
        let wait = async {
            loop {
                let event = events.recv().await.unwrap();
                if event.id == id(n) && event.status == status {
                    return DeliveryChange::clone(&event);
                }
            }
        };
        if let Ok(delivery) = tokio::time::timeout(PATIENCE, wait).await {
            return delivery;
        }
        panic!("{n} does not reach {status}: {:?}", self.find(n).await);
    }

    pub async fn until_all(&self, numbers: &[u32], status: DeliveryStatus) -> Vec<u32> {
        let mut events = self.events.lock().await;
        let mut order = Vec::new();
        let wait = async {
            while order.len() < numbers.len() {
                let event = events.recv().await.unwrap();
                if event.status == status {
                    order.push(number(&event.id));
                }
            }
        };
        let ended = tokio::time::timeout(PATIENCE, wait).await;
        assert!(ended.is_ok(), "of {numbers:?} only {order:?} are {status}");
        order
    }

    pub async fn switch(&self, webhook: &WebhookRow, enabled: bool) {
        let row = WebhookRow {
            enabled,
            ..webhook.clone()
        };
        self.write(move |conn| Box::pin(async move { conn.update_webhook(&row).await.map(drop) }))
            .await;
        self.webhooks.reload().await.unwrap();
    }

    /// Returns the texts in the inbox, oldest first.
    pub async fn inbox(&self) -> Vec<String> {
        let page = self
            .channels
            .list_inbox(&InboxFilter::default(), 100, None)
            .await
            .unwrap();
        let mut texts: Vec<_> = page
            .messages
            .into_iter()
            .map(|message| message.text)
            .collect();
        texts.reverse();
        texts
    }

    pub async fn initialize_vault(&self) {
        let password = SecretString::from(PASSWORD);
        let actor = Actor::cli();
        drop(self.secrets.initialize(&actor, password).await.unwrap());
    }

    pub async fn seal(&self) {
        self.secrets.seal(&Actor::cli()).await.unwrap();
    }

    pub async fn unseal(&self) {
        let password = SecretString::from(PASSWORD);
        let actor = Actor::cli();
        let unsealed = self.secrets.unseal_with_password(&actor, &password);
        unsealed.await.unwrap();
    }
}

fn models(model: &FakeModel) -> ModelsSettings {
    let provider = ProviderSettings {
        api_key: Some(SecretString::from("sk-test")),
        models: vec!["m".to_owned()],
        ..ProviderSettings::new(ProviderKind::Openai, model.url.clone())
    };
    ModelsSettings {
        default: Some("fake/m".to_owned()),
        autodetect: false,
        providers: BTreeMap::from([("fake".to_owned(), provider)]),
        ..ModelsSettings::default()
    }
}

fn merge(into: &mut Value, more: Value) {
    if let (Value::Object(into), Value::Object(more)) = (into, more) {
        into.extend(more);
    }
}

/// Returns a delivery ID. IDs sort by their numbers.
pub fn id(n: u32) -> DeliveryId {
    DeliveryId::from_text(format!("del_{n:08}"))
}

pub fn number(id: &DeliveryId) -> u32 {
    id.as_str().trim_start_matches("del_").parse().unwrap_or(0)
}

/// Puts a delivery in the state that a crashed process leaves: running, with this number of attempts.
pub async fn leave_in_work(database: &TestDatabase, n: u32, attempts: i64) {
    let sql = format!(
        "UPDATE webhook_deliveries SET status = 'processing', attempts = {attempts},
             next_attempt_at = NULL, lease_owner = 'an earlier life', lease_until = {},
             started_at = {START} WHERE id = 'del_{n:08}'",
        START + 60_000
    );
    run_sql(&database.location, &sql).await;
}
