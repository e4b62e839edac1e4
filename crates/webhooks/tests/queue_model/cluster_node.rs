//! A complete node on its own runtime, and the receiver that the nodes deliver to.

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use bytes::Bytes;
use gatehouse_agents::{Agents, AgentsParts, AgentsSettings};
use gatehouse_channels::{Channels, ChannelsParts, InboxFilter, NewAccount};
use gatehouse_domain::{
    Actor, ClientKey, Clock, DeliveryStatus, ManualClock, Random, SystemRandom, Timestamp, input,
};
use gatehouse_models::{Models, ModelsParts, ModelsSettings, Tuning};
use gatehouse_outbound::{Outbound, OutboundSettings};
use gatehouse_secrets::{KdfQueue, Secrets, SecretsSettings, Status};
use gatehouse_store::testing::TestDatabase;
use gatehouse_store::{DeliveryFilter, Store, StoreError};
use gatehouse_webhooks::{Ingested, Webhooks, WebhooksParts, WebhooksSettings};
use http::HeaderMap;
use secrecy::SecretString;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

const PASSWORD: &str = "correct horse battery";
/// 32 bytes, as Standard Webhooks requires.
const SIGNING: &str = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";
/// The start time of every run in Unix milliseconds.
const START_MS: i64 = 1_795_000_000_000;
/// Timeout for one pass of the worker.
const PATIENCE: Duration = Duration::from_mins(1);

/// A receiver with scripted responses that records what it receives.
#[derive(Clone)]
pub struct Receiver {
    url: String,
    status: Arc<Mutex<u16>>,
    came: Arc<Mutex<Vec<String>>>,
}

impl Receiver {
    pub async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let receiver = Self {
            url: format!("http://{}/", listener.local_addr().unwrap()),
            status: Arc::new(Mutex::new(200)),
            came: Arc::default(),
        };
        let app = Router::new()
            .route("/", post(take))
            .with_state(receiver.clone());
        TaskTracker::new().spawn(async move { axum::serve(listener, app).await });
        receiver
    }

    pub fn answer(&self, status: u16) {
        *self.status.lock().unwrap() = status;
    }

    pub fn times(&self, mark: &str) -> usize {
        let came = self.came.lock().unwrap();
        came.iter().filter(|one| *one == mark).count()
    }

    /// Returns the position at which a mark was first received.
    pub fn first(&self, mark: &str) -> Option<usize> {
        self.came.lock().unwrap().iter().position(|one| one == mark)
    }
}

async fn take(State(receiver): State<Receiver>, body: String) -> StatusCode {
    let status = *receiver.status.lock().unwrap();
    let mark = serde_json::from_str(&body).map_or(body, |body: Value| {
        body.get("text").and_then(Value::as_str).unwrap().to_owned()
    });
    receiver.came.lock().unwrap().push(mark);
    StatusCode::from_u16(status).unwrap()
}

#[derive(Clone)]
struct Parts {
    store: Store,
    secrets: Secrets,
    channels: Channels,
    webhooks: Webhooks,
}

/// A complete node, which can crash.
pub struct Node {
    /// Kept, because dropping it removes the directory.
    _database: Arc<TestDatabase>,
    runtime: Option<Runtime>,
    parts: Parts,
    clock: Arc<ManualClock>,
    stop: CancellationToken,
    tasks: TaskTracker,
}

async fn open(database: &TestDatabase, clock: Arc<dyn Clock>) -> Parts {
    let store = database.open().await;
    let random: Arc<dyn Random> = Arc::new(SystemRandom);
    let settings = SecretsSettings {
        vault_enabled: true,
        vault_enabled_fixed: false,
        plaintext_while_sealed: true,
        keep_plaintext_provider_keys: true,
        data_dir: database.directory().to_owned(),
    };
    let queue = KdfQueue::new(2);
    let secrets = Secrets::open(
        store.clone(),
        queue,
        clock.clone(),
        random.clone(),
        settings,
    );
    let secrets = secrets.await.unwrap();
    let outbound = Outbound::new(OutboundSettings {
        allow_private: true,
    });
    let outbound = outbound.unwrap();
    let channels = Channels::open(ChannelsParts {
        store: store.clone(),
        secrets: secrets.clone(),
        outbound: outbound.clone(),
        clock: clock.clone(),
        random: random.clone(),
    });
    let models = Models::with_tuning(
        ModelsParts {
            secrets: secrets.clone(),
            outbound,
            clock: clock.clone(),
            random: random.clone(),
        },
        ModelsSettings::default(),
        Tuning {
            local: None,
            ..Tuning::default()
        },
    );
    let agents = AgentsParts {
        store: store.clone(),
        models,
        clock: clock.clone(),
        random: random.clone(),
        tracer: gatehouse_domain::trace::Tracer::default(),
    };
    let agents = Agents::open(agents, AgentsSettings::default());
    let parts = WebhooksParts {
        store: store.clone(),
        secrets: secrets.clone(),
        agents: agents.await.unwrap(),
        channels: channels.clone(),
        clock,
        random,
        tracer: gatehouse_domain::trace::Tracer::default(),
    };
    let settings = WebhooksSettings {
        section: gatehouse_config::Webhooks {
            global_rate_limit_per_minute: 1_000_000,
            retention_days: 36_500,
            max_attempts: 5,
            ..gatehouse_config::Webhooks::default()
        },
        ..WebhooksSettings::default()
    };
    let webhooks = Webhooks::open(parts, settings).await.unwrap();
    Parts {
        store,
        secrets,
        channels,
        webhooks,
    }
}

impl Node {
    /// Starts a node whose wall clock is `now_ms` after the start time.
    pub async fn open(database: TestDatabase, now_ms: i64) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(START_MS + now_ms)));
        let as_clock: Arc<dyn Clock> = clock.clone();
        let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
        let (stopped, tracker) = (stop.clone(), tasks.clone());
        let database = Arc::new(database);
        let opened = Arc::clone(&database);
        let opened = runtime.spawn(async move {
            let parts = open(&opened, as_clock).await;
            parts.webhooks.background(stopped, &tracker);
            parts
        });
        Self {
            parts: opened.await.unwrap(),
            _database: database,
            runtime: Some(runtime),
            clock,
            stop,
            tasks,
        }
    }

    /// Runs a call on the node's runtime, to which its connections belong.
    async fn on<T, F>(&self, call: impl FnOnce(Parts) -> F) -> T
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        let runtime = self.runtime.as_ref().unwrap();
        runtime.spawn(call(self.parts.clone())).await.unwrap()
    }

    /// Creates the vault and accounts that send to the receiver, one of them with a secret.
    pub async fn prepare(&self, receiver: &Receiver) {
        let url = receiver.url.clone();
        self.on(|parts| async move {
            let password = SecretString::from(PASSWORD);
            let made = parts.secrets.initialize(&Actor::cli(), password).await;
            drop(made.unwrap());
            for (id, fields) in [
                ("open", json!({ "url": url })),
                ("signed", json!({ "url": url, "secret": SIGNING })),
            ] {
                let account = NewAccount {
                    kind: "http".to_owned(),
                    label: id.to_owned(),
                    fields: fields.as_object().cloned().unwrap(),
                    id: Some(id.to_owned()),
                    enabled: true,
                };
                let made = parts.channels.create(&Actor::cli(), true, account).await;
                made.unwrap();
            }
        })
        .await;
    }

    /// Creates a webhook. Returns its public ID.
    pub async fn create_webhook(&self, place: usize, target: Option<&str>) -> String {
        let mut members = json!({
            "name": format!("hook {place}"), "auth_mode": "none", "deliver_only": true,
            "prompt_template": "{mark}", "session_mode": "named_session",
            "session_key": format!("session {place}"), "rate_limit_per_minute": 1_000_000,
        });
        if let Some(target) = target {
            members["deliver_to"] = target.into();
        }
        self.on(|parts| async move {
            let input = input::from_value(members).unwrap();
            let made = parts.webhooks.create(&Actor::cli(), input).await;
            made.unwrap().webhook.public_id
        })
        .await
    }

    /// Posts a delivery. Returns its ID if it was accepted.
    pub async fn accept(&self, webhook: &str, mark: &str) -> Option<String> {
        let (webhook, body) = (webhook.to_owned(), json!({ "mark": mark }).to_string());
        let key = mark.to_owned();
        self.on(|parts| async move {
            let ip = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
            let actor = Actor {
                name: "anonymous".to_owned(),
                client_ip: Some(ip),
                client: ClientKey::of(ip),
            };
            let mut headers = HeaderMap::new();
            headers.insert("x-delivery-id", key.parse().unwrap());
            // A node refuses the delivery if it has not been notified of a new or changed webhook yet.
            let intake = parts
                .webhooks
                .begin_ingest(&webhook, &actor, &headers)
                .await;
            let url = format!("https://gate.example/api/webhooks/ingest/{webhook}");
            match intake
                .ok()?
                .accept(&headers, &url, &Bytes::from(body))
                .await
            {
                Ok(Ingested::Accepted(id)) => Some(id.as_str().to_owned()),
                Ok(other) => panic!("{other:?}"),
                Err(_) => None,
            }
        })
        .await
    }

    /// Waits until the worker has completed a pass.
    pub async fn look(&self) {
        self.on(|parts| async move {
            let looked = tokio::time::timeout(PATIENCE, parts.webhooks.worker_turn());
            assert!(looked.await.is_ok(), "the worker does not look");
        })
        .await;
    }

    pub fn advance(&self, duration: Duration) {
        self.clock.advance(duration);
        self.parts.webhooks.wake();
    }

    pub fn jump(&self, milliseconds: i64) {
        let now = self.clock.now().as_millis();
        self.clock
            .set_wall(Timestamp::from_millis(now + milliseconds));
        self.parts.webhooks.wake();
    }

    pub async fn seal(&self) {
        self.on(|parts| async move {
            parts.secrets.seal(&Actor::cli()).await.unwrap();
        })
        .await;
    }

    pub async fn unseal(&self) {
        self.on(|parts| async move {
            if parts.secrets.status() == Status::Sealed {
                let password = SecretString::from(PASSWORD);
                let actor = Actor::cli();
                let unsealed = parts.secrets.unseal_with_password(&actor, &password);
                unsealed.await.unwrap();
            }
        })
        .await;
    }

    async fn internal_id(parts: &Parts, public_id: &str) -> Option<String> {
        parts.webhooks.reload().await.unwrap();
        let rows = parts
            .store
            .read(|conn| Box::pin(async move { conn.list_webhooks().await }));
        let rows: Result<_, StoreError> = rows.await;
        let mut rows = rows.unwrap().into_iter();
        let found = rows.find(|row| row.public_id == public_id);
        found.map(|row| row.id.as_str().to_owned())
    }

    pub async fn enable(&self, webhook: &str, enabled: bool) {
        let webhook = webhook.to_owned();
        self.on(move |parts| async move {
            let id = Self::internal_id(&parts, &webhook).await.unwrap();
            let input = input::from_value(json!({ "enabled": enabled })).unwrap();
            let changed = parts.webhooks.update(&Actor::cli(), &id, input).await;
            changed.unwrap();
        })
        .await;
    }

    /// Replays a delivery. Returns the new ID, or `None` if the original no longer exists.
    pub async fn replay(&self, id: &str) -> Option<String> {
        let id = id.to_owned();
        self.on(move |parts| async move {
            parts.webhooks.reload().await.unwrap();
            let again = parts.webhooks.replay(&id).await.ok()?;
            Some(again.id.as_str().to_owned())
        })
        .await
    }

    pub async fn delete(&self, webhook: &str) {
        let webhook = webhook.to_owned();
        self.on(move |parts| async move {
            let id = Self::internal_id(&parts, &webhook).await.unwrap();
            parts.webhooks.delete(&Actor::cli(), &id).await.unwrap();
        })
        .await;
    }

    /// Removes the remaining rows of deleted webhooks.
    pub async fn purge(&self) {
        self.on(|parts| async move { parts.webhooks.purge().await.unwrap() })
            .await;
    }

    /// Returns whether no delivery waits or runs.
    pub async fn is_idle(&self) -> bool {
        self.on(|parts| async move {
            let depth = parts.webhooks.queue_depth().await.unwrap();
            let leases = parts
                .store
                .read(|conn| Box::pin(async move { conn.list_leases().await }));
            let leases: Result<_, StoreError> = leases.await;
            depth == 0 && leases.unwrap().is_empty()
        })
        .await
    }

    async fn all_rows(&self) -> Vec<gatehouse_store::DeliveryRow> {
        self.on(|parts| async move {
            let rows = parts.store.read(|conn| {
                Box::pin(async move {
                    let (mut rows, mut filter) = (Vec::new(), DeliveryFilter::default());
                    loop {
                        let page = conn.list_deliveries(&filter, 5000).await?;
                        rows.extend(page.rows);
                        filter.before = page.next;
                        if filter.before.is_none() {
                            return Ok::<_, StoreError>(rows);
                        }
                    }
                })
            });
            let rows: Result<Vec<_>, StoreError> = rows.await;
            rows.unwrap()
        })
        .await
    }

    pub async fn rows(&self) -> HashMap<String, (DeliveryStatus, i64)> {
        let row = |row: gatehouse_store::DeliveryRow| {
            (row.id.as_str().to_owned(), (row.status, row.attempts))
        };
        self.all_rows().await.into_iter().map(row).collect()
    }

    /// Returns the open deliveries, for failure messages.
    pub async fn open_rows(&self) -> Vec<String> {
        let rows = self.all_rows().await.into_iter();
        let open = rows.filter(|row| row.finished_at.is_none());
        open.map(|row| format!("{row:?}")).collect()
    }

    pub async fn inbox(&self) -> Vec<String> {
        self.on(|parts| async move {
            let (mut texts, mut cursor) = (Vec::new(), None);
            loop {
                let page = parts
                    .channels
                    .list_inbox(&InboxFilter::default(), 100, cursor.as_deref())
                    .await;
                let page = page.unwrap();
                texts.extend(page.messages.into_iter().map(|message| message.text));
                cursor = page.next_cursor;
                if cursor.is_none() {
                    return texts;
                }
            }
        })
        .await
    }

    /// Aborts every task at its current await point.
    pub async fn crash(mut self) {
        let runtime = self.runtime.take().unwrap();
        let ended = tokio::task::spawn_blocking(move || runtime.shutdown_timeout(PATIENCE));
        ended.await.unwrap();
    }

    /// Shuts down like a server.
    pub async fn stop(self) {
        self.stop.cancel();
        self.tasks.close();
        let tasks = self.tasks.clone();
        self.on(|parts| async move {
            tasks.wait().await;
            parts.store.close().await;
        })
        .await;
        self.crash().await;
    }
}

impl Drop for Node {
    /// Shuts the runtime down in the background. Dropping it inside an async context would panic and hide the
    /// reason for a failure.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
