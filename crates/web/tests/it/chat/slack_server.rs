//! A fake of Slack's Web API and Socket Mode (<https://docs.slack.dev/apis/events-api/using-socket-mode>) that refuses
//! invalid requests as Slack does. It sends an envelope on each connection until it is acknowledged.

mod blocks;
mod uploads;

use super::sockets::{Client, listen};
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;

pub const BOT_TOKEN: &str = "xoxb-1-secret";
pub const APP_TOKEN: &str = "xapp-1-secret";
pub const BOT: &str = "UBOT";

#[derive(Default)]
struct Workspace {
    socket_url: String,
    /// The tickets of connections that were not used yet.
    tickets: BTreeSet<String>,
    opened: usize,
    /// How many connections the bot has closed.
    closed: usize,
    /// The kinds and contents of envelopes.
    events: Vec<(&'static str, Value)>,
    acknowledged: BTreeSet<String>,
    /// How many acknowledgements are lost, each with its connection.
    lost: usize,
    /// The number of connections of other programs.
    others: usize,
    /// A change of this number asks current connections to end.
    goodbye: usize,
    sent: Vec<Value>,
    /// The messages as they are currently shown.
    shown: Vec<Shown>,
    /// Messages that were visible to only one person.
    notes: Vec<String>,
    /// Names, subtypes and contents of uploaded files.
    files: Vec<(String, Option<&'static str>, Vec<u8>)>,
    /// Whether the app lacks the scopes `files:read` and `files:write`.
    has_no_files: bool,
    /// What the bot uploads.
    uploads: Vec<uploads::Upload>,
    /// The recordings that the bot uploaded, each with its channel and thread.
    voices: Vec<(Value, Vec<u8>)>,
    /// The pictures that the bot uploaded, each with its channel, thread and title.
    pictures: Vec<(Value, String, Vec<u8>)>,
    /// Whether texts of sections lose their digits.
    is_garbled: bool,
}

/// A message of the bot.
struct Shown {
    channel: String,
    ts: String,
    blocks: Vec<Value>,
}

#[derive(Clone)]
struct Shared {
    workspace: Arc<Mutex<Workspace>>,
    changed: Arc<watch::Sender<()>>,
}

pub struct Slack {
    shared: Shared,
    url: String,
}

impl Slack {
    pub async fn start() -> Self {
        let shared = Shared {
            workspace: Arc::default(),
            changed: Arc::new(watch::Sender::new(())),
        };
        let of_sockets = shared.clone();
        let socket_url = listen(move |client| serve(of_sockets.clone(), client)).await;
        shared.workspace.lock().unwrap().socket_url = socket_url;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let app = Router::new()
            .route("/api/{method}", post(call))
            .route("/files/{id}", get(download))
            .route("/upload/{id}", post(uploads::receive))
            .with_state(shared.clone());
        #[expect(clippy::disallowed_methods, reason = "ends with the test's runtime")]
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { shared, url }
    }

    pub fn fields(&self) -> Value {
        json!({ "bot_token": BOT_TOKEN, "app_token": APP_TOKEN, "base_url": self.url, "inbound": true,
            "voice_answers": true })
    }

    /// Adds an event. Returns the ID of its envelope.
    pub fn event(&self, event: Value) -> String {
        let mut payload = json!({ "type": "event_callback" });
        payload["event"] = event;
        self.push("events_api", payload)
    }

    fn push(&self, kind: &'static str, payload: Value) -> String {
        let mut workspace = self.shared.workspace.lock().unwrap();
        workspace.events.push((kind, payload));
        let id = envelope_id(workspace.events.len() - 1);
        drop(workspace);
        self.shared.changed.send_replace(());
        id
    }

    fn next_ts(&self) -> String {
        format!(
            "17000000{:02}.000100",
            self.shared.workspace.lock().unwrap().events.len()
        )
    }

    /// Makes a person write to the bot directly.
    pub fn write(&self, person: &str, text: &str) -> String {
        self.event(
            json!({ "type": "message", "channel": format!("D{person}"), "channel_type": "im",
            "user": person, "text": text, "ts": self.next_ts() }),
        )
    }

    /// Makes a person send a file directly, with a text.
    pub fn upload(
        &self,
        person: &str,
        text: &str,
        (name, subtype): (&str, Option<&'static str>),
        data: Vec<u8>,
    ) {
        self.upload_all(person, text, vec![(name, subtype, data)]);
    }

    /// Makes a person send files directly, with a text.
    pub fn upload_all(
        &self,
        person: &str,
        text: &str,
        files: Vec<(&str, Option<&'static str>, Vec<u8>)>,
    ) {
        let mut workspace = self.shared.workspace.lock().unwrap();
        let files: Vec<Value> = files
            .into_iter()
            .map(|(name, subtype, data)| {
                workspace.files.push((name.to_owned(), subtype, data));
                let id = format!("F{}", workspace.files.len() - 1);
                json!({ "id": id, "name": name, "subtype": subtype })
            })
            .collect();
        drop(workspace);
        self.event(json!({ "type": "message", "subtype": "file_share", "channel": format!("D{person}"),
            "channel_type": "im", "user": person, "text": text, "ts": self.next_ts(), "files": files }));
    }

    /// Removes the app's scopes for files.
    pub fn take_files_scope(&self) {
        self.shared.workspace.lock().unwrap().has_no_files = true;
    }

    /// Makes a person mention the bot in a channel. Returns the time stamp of the message and the envelope's ID.
    pub fn mention(&self, person: &str, channel: &str) -> (String, String) {
        let ts = self.next_ts();
        let id = self.event(
            json!({ "type": "app_mention", "channel": channel, "user": person,
            "text": format!("<@{BOT}> hello"), "ts": ts }),
        );
        (ts, id)
    }

    /// Other programs connect with the same app.
    pub fn set_others(&self, count: usize) {
        self.shared.workspace.lock().unwrap().others = count;
    }

    /// Loses the next acknowledgement, together with its connection.
    pub fn lose_one(&self) {
        self.shared.workspace.lock().unwrap().lost += 1;
    }

    /// Announces that the connection ends.
    pub fn refresh(&self) {
        self.shared.workspace.lock().unwrap().goodbye += 1;
        self.shared.changed.send_replace(());
    }

    pub fn opened(&self) -> usize {
        self.shared.workspace.lock().unwrap().opened
    }

    pub fn sent(&self) -> Vec<Value> {
        self.shared.workspace.lock().unwrap().sent.clone()
    }

    async fn until<T>(&self, found: impl Fn(&Workspace) -> Option<T>) -> T {
        let mut changed = self.shared.changed.subscribe();
        let wait = async {
            loop {
                if let Some(found) = found(&self.shared.workspace.lock().unwrap()) {
                    return found;
                }
                changed.changed().await.unwrap();
            }
        };
        let waited = tokio::time::timeout(Duration::from_secs(30), wait).await;
        waited.expect("within 30 seconds")
    }

    /// Waits for the bot's message with this number, from 1.
    pub async fn wait_for(&self, number: usize) -> Value {
        self.until(|workspace| workspace.sent.get(number - 1).cloned())
            .await
    }

    /// Waits until the bot has acknowledged an envelope.
    pub async fn confirmed(&self, id: &str) {
        self.until(|workspace| workspace.acknowledged.contains(id).then_some(()))
            .await;
    }

    /// Waits until the bot has closed this many connections.
    pub async fn closed(&self, number: usize) {
        self.until(|workspace| (workspace.closed >= number).then_some(()))
            .await;
    }

    /// Waits for the connection with this number, from 1.
    pub async fn connected(&self, number: usize) {
        self.until(|workspace| (workspace.opened >= number).then_some(()))
            .await;
    }
}

fn envelope_id(number: usize) -> String {
    format!("envelope-{number}")
}

fn answer(body: Value) -> Response {
    Json(body).into_response()
}

fn refuse(error: &str) -> Response {
    answer(json!({ "ok": false, "error": error }))
}

/// Returns whether `chat.postMessage` accepts these arguments.
fn is_valid_message(message: &Value) -> bool {
    let known = [
        "channel",
        "text",
        "thread_ts",
        "unfurl_links",
        "unfurl_media",
        "blocks",
    ];
    for preview in ["unfurl_links", "unfurl_media"] {
        assert_eq!(message[preview], false, "{message}");
    }
    let mut keys = message.as_object().unwrap().keys();
    keys.all(|key| known.contains(&key.as_str())) && message["text"] != ""
}

async fn call(
    State(shared): State<Shared>,
    Path(method): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let token = match method.as_str() {
        "apps.connections.open" => APP_TOKEN,
        _ => BOT_TOKEN,
    };
    let given = headers.get("authorization").map(|it| it.to_str().unwrap());
    if given != Some(&format!("Bearer {token}")) {
        return refuse("invalid_auth");
    }
    let mut workspace = shared.workspace.lock().unwrap();
    let response = match method.as_str() {
        "auth.test" => answer(json!({ "ok": true, "user_id": BOT, "bot_id": "B1" })),
        "apps.connections.open" => {
            let ticket = format!(
                "/link/?ticket={}",
                workspace.opened + workspace.tickets.len()
            );
            workspace.tickets.insert(ticket.clone());
            answer(json!({ "ok": true, "url": format!("{}{ticket}", workspace.socket_url) }))
        }
        "users.info" => {
            let person = String::from_utf8(body.to_vec()).unwrap();
            let person = person.strip_prefix("user=").unwrap();
            answer(
                json!({ "ok": true, "user": { "name": person, "real_name": format!("Person {person}") } }),
            )
        }
        "chat.postMessage" => {
            let message: Value = serde_json::from_slice(&body).unwrap();
            if !is_valid_message(&message) {
                return refuse("invalid_arguments");
            }
            workspace.post(message)
        }
        "chat.update" => workspace.update(&serde_json::from_slice(&body).unwrap()),
        "chat.postEphemeral" => workspace.note(&serde_json::from_slice(&body).unwrap()),
        "files.info" | "files.getUploadURLExternal" if workspace.has_no_files => {
            refuse("missing_scope")
        }
        "files.getUploadURLExternal" => workspace.offer(&body, headers["host"].to_str().unwrap()),
        "files.completeUploadExternal" => workspace.share(&body),
        "files.info" => {
            let id = String::from_utf8(body.to_vec()).unwrap();
            let id = id.strip_prefix("file=F").unwrap();
            let host = headers["host"].to_str().unwrap();
            match workspace.files.get(id.parse::<usize>().unwrap()) {
                Some((name, _, data)) => answer(
                    json!({ "ok": true, "file": { "id": format!("F{id}"), "name": name,
                    "size": data.len(), "url_private_download": format!("http://{host}/files/{id}") } }),
                ),
                None => refuse("file_not_found"),
            }
        }
        "conversations.info" => {
            let channel = String::from_utf8(body.to_vec()).unwrap();
            let channel = channel.strip_prefix("channel=").unwrap();
            match channel.strip_prefix('D') {
                Some(person) => answer(
                    json!({ "ok": true, "channel": { "id": channel, "is_im": true, "user": person } }),
                ),
                None => refuse("channel_not_found"),
            }
        }
        _ => refuse("unknown_method"),
    };
    drop(workspace);
    shared.changed.send_replace(());
    response
}

async fn download(
    State(shared): State<Shared>,
    Path(id): Path<usize>,
    headers: HeaderMap,
) -> Response {
    assert_eq!(
        headers["authorization"],
        format!("Bearer {BOT_TOKEN}").as_str()
    );
    shared.workspace.lock().unwrap().files[id]
        .2
        .clone()
        .into_response()
}

async fn serve(shared: Shared, mut client: Client) {
    let (goodbye, count) = {
        let mut workspace = shared.workspace.lock().unwrap();
        if !workspace.tickets.remove(&client.target) {
            return;
        }
        workspace.opened += 1;
        (workspace.goodbye, workspace.others + 1)
    };
    let mut changed = shared.changed.subscribe();
    client
        .send(json!({ "type": "hello", "num_connections": count }))
        .await;
    shared.changed.send_replace(());
    let mut next = 0;
    loop {
        let (events, is_over) = {
            let workspace = shared.workspace.lock().unwrap();
            let events: Vec<_> = workspace
                .events
                .iter()
                .cloned()
                .enumerate()
                .skip(next)
                .collect();
            (events, workspace.goodbye > goodbye)
        };
        for (number, (kind, payload)) in events {
            next = number + 1;
            let id = envelope_id(number);
            if shared.workspace.lock().unwrap().acknowledged.contains(&id) {
                continue;
            }
            client
                .send(json!({ "type": kind, "envelope_id": id,
                "accepts_response_payload": kind == "interactive", "payload": payload }))
                .await;
        }
        if is_over {
            client
                .send(json!({ "type": "disconnect", "reason": "refresh_requested" }))
                .await;
            return;
        }
        tokio::select! {
            _ = changed.changed() => {}
            read = client.read() => {
                let Some(read) = read else {
                    shared.workspace.lock().unwrap().closed += usize::from(client.has_closed);
                    shared.changed.send_replace(());
                    return;
                };
                let id = read["envelope_id"].as_str().unwrap().to_owned();
                let mut workspace = shared.workspace.lock().unwrap();
                if workspace.lost > 0 {
                    workspace.lost -= 1;
                    return;
                }
                workspace.acknowledged.insert(id);
                drop(workspace);
                shared.changed.send_replace(());
            }
        }
    }
}
