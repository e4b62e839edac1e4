//! A fake of Discord's API and gateway (<https://docs.discord.com/developers/events/gateway>) that refuses invalid
//! requests as Discord does. A session keeps its events, so a bot that resumes from an earlier number gets them again.

mod messages;
mod uploads;

use super::sockets::{Client, listen};
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, patch, post};
use axum::{Json, Router};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::sync::watch;

pub const TOKEN: &str = "MTA.bot.secret";
pub const BOT: &str = "900";
const SESSION: &str = "session-1";
/// Messages in servers, direct messages, and the text of messages.
const INTENTS: u64 = 37_376;
/// The number of `READY`. The events of the session follow it.
const FIRST: usize = 1;

#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fault of its own")]
struct Gateway {
    socket_url: String,
    /// Events with their names.
    events: Vec<(&'static str, Value)>,
    identified: usize,
    resumed: usize,
    beats: usize,
    /// Whether the next connection gets no acknowledgements of its heartbeats.
    is_silent: bool,
    /// Whether the bot lacks the intent for the text of messages.
    is_intent_off: bool,
    has_typed: bool,
    sent: Vec<(String, Value)>,
    /// How many requests repeated a nonce.
    repeated: usize,
    /// The messages as they are currently shown.
    shown: Vec<Value>,
    /// The times of button presses that are not answered yet, by the tokens of their interactions.
    presses: Vec<(String, Instant)>,
    /// What was shown to one person only.
    notes: Vec<String>,
    /// The contents of attachments.
    files: Vec<Vec<u8>>,
    /// Messages with buttons lose their digits.
    is_garbled: bool,
    /// The voice messages of the bot with their channels.
    voices: Vec<(String, Vec<u8>)>,
    /// The pictures of the bot: channels, names and contents.
    pictures: Vec<(String, String, Vec<u8>)>,
    /// The bot may not attach files.
    is_mute: bool,
    /// The number of the latest order and its message, which the gateway sends to current connections.
    order: (usize, Option<Order>),
    /// The session ended, so it cannot be resumed.
    is_over: bool,
    /// How many attempts to resume it were refused.
    refused: usize,
}

/// The messages that the gateway sends to a connection
/// (<https://docs.discord.com/developers/topics/opcodes-and-status-codes#gateway>).
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Op 7.
    Reconnect,
    /// Op 9, and whether the session can be resumed.
    Invalid(bool),
}

impl Order {
    fn message(self) -> Value {
        match self {
            Self::Reconnect => json!({ "op": 7, "d": null }),
            Self::Invalid(is_resumable) => json!({ "op": 9, "d": is_resumable }),
        }
    }
}

#[derive(Clone)]
struct Shared {
    gateway: Arc<Mutex<Gateway>>,
    changed: Arc<watch::Sender<()>>,
}

pub struct Discord {
    shared: Shared,
    url: String,
}

impl Discord {
    pub async fn start() -> Self {
        let shared = Shared {
            gateway: Arc::default(),
            changed: Arc::new(watch::Sender::new(())),
        };
        let of_sockets = shared.clone();
        let socket_url = listen(move |client| serve(of_sockets.clone(), client)).await;
        shared.gateway.lock().unwrap().socket_url = socket_url;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let app = Router::new()
            .route("/api/v10/gateway/bot", get(gateway_bot))
            .route("/attachments/{id}", get(download))
            .route("/api/v10/channels/{id}/typing", post(typing))
            .route("/api/v10/channels/{id}", get(messages::channel))
            .route("/api/v10/channels/{id}/messages", post(messages::send))
            .route(
                "/api/v10/channels/{id}/messages/{message}",
                patch(messages::edit),
            )
            .route(
                "/api/v10/interactions/{id}/{token}/callback",
                post(messages::callback),
            )
            .with_state(shared.clone());
        #[expect(clippy::disallowed_methods, reason = "ends with the test's runtime")]
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { shared, url }
    }

    pub fn fields(&self, token: &str) -> Value {
        json!({ "bot_token": token, "base_url": self.url, "inbound": true, "voice_answers": true })
    }

    /// Sends the bot a message about its session.
    pub fn order(&self, order: Order) {
        let mut gateway = self.shared.gateway.lock().unwrap();
        gateway.order = (gateway.order.0 + 1, Some(order));
        gateway.is_over |= order == Order::Invalid(false);
        drop(gateway);
        self.shared.changed.send_replace(());
    }

    /// Ends the session without a message to the bot.
    pub fn forget_session(&self) {
        self.shared.gateway.lock().unwrap().is_over = true;
    }

    /// Returns how many attempts to resume were refused.
    pub fn refused(&self) -> usize {
        self.shared.gateway.lock().unwrap().refused
    }

    pub fn set_silent(&self) {
        self.shared.gateway.lock().unwrap().is_silent = true;
    }

    pub fn set_intent_off(&self) {
        self.shared.gateway.lock().unwrap().is_intent_off = true;
    }

    /// Makes a person write in the channel of their direct messages, unless `more` has another
    /// channel.
    pub fn write(&self, person: &str, text: &str, more: Value) {
        self.message("MESSAGE_CREATE", person, text, more);
    }

    /// Makes a person change a message, or Discord add data to it.
    pub fn update(&self, person: &str, text: &str, more: Value) {
        self.message("MESSAGE_UPDATE", person, text, more);
    }

    fn message(&self, event: &'static str, person: &str, text: &str, more: Value) {
        let mut gateway = self.shared.gateway.lock().unwrap();
        let id = (5000 + gateway.events.len()).to_string();
        let mut message = json!({ "id": id, "channel_id": format!("1{person}"), "type": 0, "content": text,
            "author": { "id": person, "username": format!("person{person}"), "global_name": null },
            "mentions": [] });
        let Value::Object(more) = more else {
            panic!("the fields of a message");
        };
        message.as_object_mut().unwrap().extend(more);
        gateway.events.push((event, message));
        drop(gateway);
        self.shared.changed.send_replace(());
    }

    /// Stores an attachment. Returns its field of a message.
    pub fn attachment(&self, name: &str, data: Vec<u8>) -> Value {
        let mut gateway = self.shared.gateway.lock().unwrap();
        gateway.files.push(data);
        let url = format!(
            "{}/attachments/{}?ex=1&hm=2",
            self.url,
            gateway.files.len() - 1
        );
        json!({ "id": "1", "filename": name, "size": 1, "url": url, "proxy_url": url })
    }

    /// Returns how often a session began and how often it was resumed.
    pub fn sessions(&self) -> (usize, usize) {
        let gateway = self.shared.gateway.lock().unwrap();
        (gateway.identified, gateway.resumed)
    }

    pub fn has_typed(&self) -> bool {
        self.shared.gateway.lock().unwrap().has_typed
    }

    pub fn sent(&self) -> Vec<(String, Value)> {
        self.shared.gateway.lock().unwrap().sent.clone()
    }

    async fn until<T>(&self, found: impl Fn(&Gateway) -> Option<T>) -> T {
        let mut changed = self.shared.changed.subscribe();
        let wait = async {
            loop {
                if let Some(found) = found(&self.shared.gateway.lock().unwrap()) {
                    return found;
                }
                changed.changed().await.unwrap();
            }
        };
        let waited = tokio::time::timeout(Duration::from_secs(30), wait).await;
        waited.expect("within 30 seconds")
    }

    /// Waits for the bot's message with this number, from 1. Returns its channel and text.
    pub async fn wait_for(&self, number: usize) -> (String, String) {
        self.until(|gateway| {
            let (channel, body) = gateway.sent.get(number - 1)?;
            Some((
                channel.clone(),
                body["content"].as_str().unwrap().to_owned(),
            ))
        })
        .await
    }

    /// Waits until this many requests have repeated a nonce.
    pub async fn repeated(&self, count: usize) {
        self.until(|gateway| (gateway.repeated >= count).then_some(()))
            .await;
    }

    /// Waits until sessions began and were resumed this many times.
    pub async fn connected(&self, identified: usize, resumed: usize) {
        self.until(|gateway| {
            let is = gateway.identified >= identified && gateway.resumed >= resumed;
            is.then_some(())
        })
        .await;
    }

    /// Waits for another heartbeat.
    pub async fn beaten(&self) {
        let before = self.shared.gateway.lock().unwrap().beats;
        self.until(|gateway| (gateway.beats > before).then_some(()))
            .await;
    }
}

fn is_bot(headers: &HeaderMap) -> bool {
    let agent = headers["user-agent"].to_str().unwrap();
    assert!(agent.starts_with("DiscordBot ("), "{agent}");
    headers["authorization"] == format!("Bot {TOKEN}").as_str()
}

fn refuse(status: u16) -> Response {
    let body = json!({ "message": "refused", "code": 0 });
    (StatusCode::from_u16(status).unwrap(), Json(body)).into_response()
}

async fn gateway_bot(State(shared): State<Shared>, headers: HeaderMap) -> Response {
    if !is_bot(&headers) {
        return refuse(401);
    }
    let limit = json!({ "total": 1000, "remaining": 999, "reset_after": 1, "max_concurrency": 1 });
    let url = shared.gateway.lock().unwrap().socket_url.clone();
    Json(json!({ "url": url, "shards": 1, "session_start_limit": limit })).into_response()
}

async fn download(
    State(shared): State<Shared>,
    Path(id): Path<usize>,
    headers: HeaderMap,
) -> Response {
    assert!(
        !headers.contains_key("authorization"),
        "the address is signed"
    );
    shared.gateway.lock().unwrap().files[id]
        .clone()
        .into_response()
}

async fn typing(State(shared): State<Shared>, headers: HeaderMap) -> Response {
    assert!(is_bot(&headers));
    shared.gateway.lock().unwrap().has_typed = true;
    StatusCode::NO_CONTENT.into_response()
}

/// Returns the intents that the bot requests, or the code of the refusal.
fn opened(gateway: &mut Gateway, first: &Value) -> Result<usize, u16> {
    let data = &first["d"];
    if data["token"] != TOKEN {
        return Err(4004);
    }
    match first["op"].as_u64() {
        Some(2) if data["intents"] != INTENTS => Err(4013),
        Some(2) if gateway.is_intent_off => Err(4014),
        Some(2) => {
            for name in ["os", "browser", "device"] {
                assert!(data["properties"][name].is_string());
            }
            gateway.identified += 1;
            gateway.is_over = false;
            // A new session starts with the events after its beginning.
            Ok(gateway.events.len())
        }
        Some(6) => {
            assert_eq!(data["session_id"], SESSION);
            gateway.resumed += 1;
            let seq = usize::try_from(data["seq"].as_u64().unwrap()).unwrap();
            Ok(seq - FIRST)
        }
        _ => Err(4003),
    }
}

/// Returns whether the session that the client resumes is over.
fn is_refused(gateway: &mut Gateway, first: &Value) -> bool {
    let is_refused = first["op"] == 6 && gateway.is_over;
    gateway.refused += usize::from(is_refused);
    is_refused
}

/// Returns the first message that is not a heartbeat, or `None` at the end of the connection.
async fn first_but_heartbeats(client: &mut Client) -> Option<Value> {
    loop {
        let read = client.read().await?;
        if read["op"] != 1 {
            return Some(read);
        }
    }
}

async fn serve(shared: Shared, mut client: Client) {
    assert!(client.target.contains("v=10") && client.target.contains("encoding=json"));
    client
        .send(json!({ "op": 10, "d": { "heartbeat_interval": 100 }, "s": null, "t": null }))
        .await;
    let Some(first) = first_but_heartbeats(&mut client).await else {
        return;
    };
    if is_refused(&mut shared.gateway.lock().unwrap(), &first) {
        client.send(json!({ "op": 9, "d": false })).await;
        return client.wait_for_end().await;
    }
    let (begun, is_silent, orders) = {
        let mut gateway = shared.gateway.lock().unwrap();
        let begun = opened(&mut gateway, &first);
        (
            begun,
            std::mem::take(&mut gateway.is_silent),
            gateway.order.0,
        )
    };
    let mut next = match begun {
        Ok(next) => next,
        Err(code) => return client.close(code).await,
    };
    if first["op"] == 2 {
        let url = shared.gateway.lock().unwrap().socket_url.clone();
        client
            .send(json!({ "op": 0, "t": "READY", "s": next + FIRST, "d": {
            "v": 10, "session_id": SESSION, "resume_gateway_url": url,
            "user": { "id": BOT, "username": "bot", "bot": true }, "guilds": [],
        } }))
            .await;
    }
    let mut changed = shared.changed.subscribe();
    shared.changed.send_replace(());
    let mut is_resuming = first["op"] == 6;
    loop {
        let events: Vec<_> = shared
            .gateway
            .lock()
            .unwrap()
            .events
            .iter()
            .skip(next)
            .cloned()
            .collect();
        for (name, event) in events {
            next += 1;
            client
                .send(json!({ "op": 0, "t": name, "s": next + FIRST, "d": event }))
                .await;
        }
        if std::mem::take(&mut is_resuming) {
            client
                .send(json!({ "op": 0, "t": "RESUMED", "s": next + FIRST, "d": {} }))
                .await;
        }
        let order = shared.gateway.lock().unwrap().order;
        if let (number, Some(order)) = order
            && number > orders
        {
            client.send(order.message()).await;
            return client.wait_for_end().await;
        }
        tokio::select! {
            _ = changed.changed() => {}
            read = client.read() => {
                let Some(read) = read else { return };
                assert_eq!(read["op"], 1, "{read}");
                if !is_silent {
                    client.send(json!({ "op": 11, "d": null })).await;
                }
                shared.gateway.lock().unwrap().beats += 1;
                shared.changed.send_replace(());
            }
        }
    }
}
