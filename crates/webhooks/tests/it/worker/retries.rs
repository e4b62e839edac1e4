//! Channels that temporarily cannot accept a message.

use super::harness::{Harness, START, at, everywhere, settings};
use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use axum::serve::Listener;
use gatehouse_channels::NewAccount;
use gatehouse_domain::{Actor, DeliveryStatus};
use gatehouse_doubles::openai::{busy, refuse, say};
use gatehouse_webhooks::WebhooksSettings;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};

/// A receiver with scripted responses.
#[derive(Clone, Debug)]
pub struct Receiver {
    pub url: String,
    next: Arc<Mutex<(u16, Option<&'static str>)>>,
    body: Arc<Mutex<String>>,
    got: Arc<Mutex<Vec<String>>>,
    ids: Arc<Mutex<Vec<String>>>,
    hangs_up: Arc<AtomicBool>,
}

impl Receiver {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let receiver = Self {
            url: format!("http://{}/hook", listener.local_addr().unwrap()),
            next: Arc::new(Mutex::new((200, None))),
            body: Arc::default(),
            got: Arc::default(),
            ids: Arc::default(),
            hangs_up: Arc::default(),
        };
        let app = Router::new()
            .route("/hook", post(take))
            .with_state(receiver.clone());
        let hangs_up = Arc::clone(&receiver.hangs_up);
        let listener = ClosingListener { listener, hangs_up };
        tokio_util::task::TaskTracker::new().spawn(async move {
            axum::serve(listener, app).await.unwrap();
        });
        receiver
    }

    pub fn hang_up(&self, hangs_up: bool) {
        self.hangs_up.store(hangs_up, Ordering::SeqCst);
    }

    pub fn answers(&self, status: u16, retry_after: Option<&'static str>) {
        *self.next.lock().unwrap() = (status, retry_after);
    }

    /// Sets the body of later responses.
    pub fn says(&self, body: &str) {
        body.clone_into(&mut self.body.lock().unwrap());
    }

    pub fn count(&self) -> usize {
        self.got.lock().unwrap().len()
    }

    /// Returns the `webhook-id` of each received message.
    pub fn ids(&self) -> Vec<String> {
        self.ids.lock().unwrap().clone()
    }

    /// Returns the texts of the received messages.
    pub fn texts(&self) -> Vec<String> {
        let got = self.got.lock().unwrap();
        let text = |body: &String| {
            let body: Value = serde_json::from_str(body).unwrap();
            body["text"].as_str().unwrap().to_owned()
        };
        got.iter().map(text).collect()
    }

    /// Creates an account of the type `http` that sends to this receiver.
    pub async fn account(&self, harness: &Harness, more: Value) -> String {
        let mut fields = json!({ "url": self.url });
        fields
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().cloned().unwrap_or_default());
        let account = NewAccount {
            kind: "http".to_owned(),
            label: "Receiver".to_owned(),
            fields: fields.as_object().cloned().unwrap(),
            id: Some("there".to_owned()),
            enabled: true,
        };
        harness
            .channels
            .create(&Actor::cli(), true, account)
            .await
            .unwrap();
        "http:there".to_owned()
    }
}

/// A listener that can close each new connection immediately.
struct ClosingListener {
    listener: TcpListener,
    hangs_up: Arc<AtomicBool>,
}

impl Listener for ClosingListener {
    type Io = TcpStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (TcpStream, SocketAddr) {
        loop {
            let connection = self.listener.accept().await.unwrap();
            if !self.hangs_up.load(Ordering::SeqCst) {
                return connection;
            }
        }
    }

    fn local_addr(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

async fn take(
    State(receiver): State<Receiver>,
    request: HeaderMap,
    body: String,
) -> (StatusCode, HeaderMap, String) {
    receiver.got.lock().unwrap().push(body);
    let id = request["webhook-id"].to_str().unwrap().to_owned();
    receiver.ids.lock().unwrap().push(id);
    let (status, retry_after) = *receiver.next.lock().unwrap();
    let mut headers = HeaderMap::new();
    if let Some(seconds) = retry_after {
        headers.insert("retry-after", seconds.parse().unwrap());
    }
    let said = receiver.body.lock().unwrap().clone();
    (StatusCode::from_u16(status).unwrap(), headers, said)
}

#[tokio::test]
async fn a_busy_channel_is_retried_after_longer_waits_and_then_no_more() {
    everywhere(|database, model| async move {
        let wanted = WebhooksSettings {
            section: gatehouse_config::Webhooks {
                max_attempts: 3,
                ..gatehouse_config::Webhooks::default()
            },
            ..settings()
        };
        let harness = Harness::open_with(&database, &model, wanted).await;
        let receiver = Receiver::start().await;
        receiver.answers(503, None);
        let target = receiver.account(&harness, json!({})).await;
        let more = json!({ "deliver_only": true, "deliver_to": target });
        let webhook = harness.webhook("a", more).await;
        harness.work();
        harness.arrive(&webhook, &[(1, "a"), (2, "a")]).await;
        for (attempt, least_ms) in [(1, 10_000), (2, 40_000)] {
            let queued = harness.until(1, DeliveryStatus::Queued).await;
            assert_eq!(queued.attempts, attempt);
            assert!(queued.error.is_some());
            let wait = queued.next_attempt_at.unwrap().as_millis() - harness.clock_ms();
            assert!(
                (least_ms..=least_ms * 6 / 5).contains(&wait),
                "{attempt}: {wait}"
            );
            assert_eq!(
                harness.row(2).await.attempts,
                0,
                "it waits for its predecessor"
            );
            harness.advance(Duration::from_millis(u64::try_from(wait).unwrap()));
        }
        let failed = harness.until(1, DeliveryStatus::Failed).await;
        assert_eq!(failed.attempts, 3);
        assert!(failed.error.unwrap().contains("tried 3 times"));
        harness.until(2, DeliveryStatus::Processing).await;
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn it_is_not_tried_before_its_time_and_then_goes_through() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        let receiver = Receiver::start().await;
        receiver.answers(429, Some("300"));
        let target = receiver.account(&harness, json!({})).await;
        let more = json!({ "deliver_only": true, "deliver_to": target });
        let webhook = harness.webhook("a", more).await;
        harness.work();
        harness.arrive(&webhook, &[(1, "a")]).await;
        let queued = harness.until(1, DeliveryStatus::Queued).await;
        let wait = queued.next_attempt_at.unwrap();
        assert!(
            wait >= at(START + 300_000),
            "the vendor's wish counts: {wait}"
        );
        let tried = receiver.count();
        receiver.answers(200, None);
        harness.advance(Duration::from_secs(299));
        // Another delivery completes, which proves that the worker has made a pass.
        let inbox = harness.webhook("b", json!({ "deliver_only": true })).await;
        harness.arrive(&inbox, &[(2, "b")]).await;
        harness.until(2, DeliveryStatus::Completed).await;
        assert_eq!(receiver.count(), tried);
        harness.advance(Duration::from_mins(2));
        let done = harness.until(1, DeliveryStatus::Completed).await;
        assert_eq!((done.attempts, done.error), (2, None));
        assert_eq!(receiver.count(), tried + 1);
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_channel_that_refuses_permanently_is_not_retried() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        let receiver = Receiver::start().await;
        receiver.answers(400, None);
        let target = receiver.account(&harness, json!({})).await;
        let more = json!({ "deliver_only": true, "deliver_to": target });
        let webhook = harness.webhook("a", more).await;
        harness.work();
        harness.arrive(&webhook, &[(1, "a")]).await;
        let failed = harness.until(1, DeliveryStatus::Failed).await;
        assert_eq!((failed.attempts, receiver.count()), (1, 1));
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn an_agents_error_is_retried_only_if_the_owner_wants_that() {
    everywhere(|database, model| async move {
        let wanted = WebhooksSettings {
            section: gatehouse_config::Webhooks {
                retry_agent_errors: true,
                max_attempts: 2,
                ..gatehouse_config::Webhooks::default()
            },
            ..settings()
        };
        let harness = Harness::open_with(&database, &model, wanted).await;
        model.answer(|_| refuse("no"));
        let webhook = harness.webhook("a", json!({})).await;
        harness.work();
        harness.arrive(&webhook, &[(1, "a")]).await;
        let queued = harness.until(1, DeliveryStatus::Queued).await;
        assert_eq!(queued.attempts, 1);
        assert!(queued.session_id.is_some());
        harness.advance(Duration::from_secs(12));
        let failed = harness.until(1, DeliveryStatus::Failed).await;
        assert_eq!(failed.attempts, 2);
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_delivery_waits_as_long_as_the_model_provider_asks_and_uses_no_attempt() {
    everywhere(|database, model| async move {
        let wanted = WebhooksSettings {
            section: gatehouse_config::Webhooks {
                max_attempts: 1,
                ..gatehouse_config::Webhooks::default()
            },
            ..settings()
        };
        let harness = Harness::open_with(&database, &model, wanted).await;
        model.answer(|_| busy("600"));
        let webhook = harness.webhook("a", json!({})).await;
        harness.work();
        harness.arrive(&webhook, &[(1, "a")]).await;
        model.until(1).await;
        let before = harness.clock_ms();
        harness.until(1, DeliveryStatus::Queued).await;
        let queued = harness.row(1).await;
        assert_eq!(queued.attempts, 0);
        assert!(queued.error.unwrap().contains("limits the rate"));
        let wait = queued.next_attempt_at.unwrap().as_millis() - before;
        assert!((600_000..=720_000).contains(&wait), "{wait}");
        assert_eq!(model.seen().len(), 1);
        // Corrections after a jump of the clock must not shorten the wait.
        for _ in 0..4 {
            harness.advance(Duration::from_secs(16));
            harness.worker_has_looked().await;
        }
        assert_eq!(harness.row(1).await.next_attempt_at, queued.next_attempt_at);
        assert_eq!(model.seen().len(), 1);
        model.answer(|_| say("done"));
        harness.advance(Duration::from_secs(721));
        let done = harness.until(1, DeliveryStatus::Completed).await;
        assert_eq!(done.attempts, 1);
        // If a provider always requests more time, the delivery ends after a day.
        model.answer(|_| busy("86400"));
        harness.arrive(&webhook, &[(2, "a")]).await;
        harness.until(2, DeliveryStatus::Queued).await;
        harness.advance(Duration::from_hours(30));
        let failed = harness.until(2, DeliveryStatus::Failed).await;
        assert_eq!(failed.attempts, 1);
        harness.stop().await;
    })
    .await;
}
