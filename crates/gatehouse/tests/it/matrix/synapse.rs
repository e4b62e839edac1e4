//! Synapse with a temporary database, and its users.

use crate::profiles::client;
use gatehouse_doubles::prepared;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tempfile::TempDir;
use tokio::net::TcpListener;

/// Longer than any step takes here.
const LONG: Duration = Duration::from_mins(2);
/// The interval between polls.
const STEP: Duration = Duration::from_millis(200);

/// A homeserver, which is killed on drop.
pub struct Synapse {
    process: Child,
    pub url: String,
    folder: TempDir,
}

impl Drop for Synapse {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

impl Synapse {
    /// Starts the server. Returns `None` if the test command could not prepare it.
    pub async fn start() -> Option<Self> {
        let python = prepared("GATEHOUSE_TEST_SYNAPSE", "Synapse")?;
        let folder = tempfile::tempdir().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let put = async |name: &str, text: String| {
            let path = folder.path().join(name);
            tokio::fs::write(&path, text).await.unwrap();
            path
        };
        put(
            "signing.key",
            format!("ed25519 a_test {}\n", "A".repeat(43)),
        )
        .await;
        let log = json!({ "version": 1, "disable_existing_loggers": false,
            "root": { "level": "WARNING" } });
        put("log.yaml", log.to_string()).await;
        let settings = settings(&|name: &str| folder.path().join(name), address.port());
        let settings = put("homeserver.yaml", settings.to_string()).await;
        let output = std::fs::File::create(folder.path().join("output")).unwrap();
        let mut command = Command::new(python);
        command
            .args(["-m", "synapse.app.homeserver", "--config-path"])
            .arg(settings)
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(output.try_clone().unwrap())
            .stderr(output);
        let mut server = Self {
            process: command.spawn().unwrap(),
            url: format!("http://{address}"),
            folder,
        };
        server.wait().await;
        Some(server)
    }

    /// Waits until it answers.
    async fn wait(&mut self) {
        let url = format!("{}/_matrix/client/versions", self.url);
        let answers = async {
            while client().get(&url).send().await.is_err() {
                if self.process.try_wait().unwrap().is_some() {
                    return false;
                }
                tokio::time::sleep(STEP).await;
            }
            true
        };
        let has_started = tokio::time::timeout(LONG, answers).await;
        if has_started != Ok(true) {
            let output = tokio::fs::read_to_string(self.folder.path().join("output")).await;
            panic!("Synapse did not start: {}", output.unwrap_or_default());
        }
    }

    /// Registers a user.
    pub async fn register(&self, name: &str) -> User {
        let body = json!({ "username": name, "password": "correct horse battery staple",
            "auth": { "type": "m.login.dummy" } });
        let url = format!("{}/_matrix/client/v3/register", self.url);
        let answer = client().post(url).json(&body).send().await.unwrap();
        let answer: Value = answer.json().await.unwrap();
        let text = |field: &str| answer[field].as_str().unwrap().to_owned();
        User {
            id: text("user_id"),
            token: text("access_token"),
            base: self.url.clone(),
            sent: AtomicU32::new(0),
        }
    }
}

/// Returns the settings as JSON, which is valid YAML. Messages are limited as on other servers, but for a shorter time.
fn settings(path: &dyn Fn(&str) -> PathBuf, port: u16) -> Value {
    let often = json!({ "per_second": 100, "burst_count": 100 });
    json!({
        "server_name": "localhost",
        "report_stats": false,
        "suppress_key_server_warning": true,
        "trusted_key_servers": [],
        "database": { "name": "sqlite3", "args": { "database": path("homeserver.db") } },
        "listeners": [{
            "port": port,
            "bind_addresses": ["127.0.0.1"],
            "type": "http",
            "resources": [{ "names": ["client"] }],
        }],
        "media_store_path": path("media"),
        "signing_key_path": path("signing.key"),
        "log_config": path("log.yaml"),
        "macaroon_secret_key": "test",
        "form_secret": "test",
        "enable_registration": true,
        "enable_registration_without_verification": true,
        "rc_message": { "per_second": 2, "burst_count": 3 },
        "rc_registration": often,
        "rc_invites": { "per_room": often, "per_user": often, "per_issuer": often },
        "rc_joins": { "local": often, "remote": often },
    })
}

/// A user of the server.
pub struct User {
    pub id: String,
    pub token: String,
    base: String,
    sent: AtomicU32,
}

impl User {
    /// Calls a method below `/_matrix`. Waits if the server asks for it.
    async fn call(&self, method: Method, path: &str, body: Option<&Value>) -> Value {
        let url = format!("{}/_matrix/{path}", self.base);
        loop {
            let request = client().request(method.clone(), &url);
            let request = request.bearer_auth(&self.token);
            let request = match body {
                Some(body) => request.json(body),
                None => request,
            };
            let answer = request.send().await.unwrap();
            let status = answer.status();
            let answer: Value = answer.json().await.unwrap();
            if status == StatusCode::TOO_MANY_REQUESTS {
                let wait = answer["retry_after_ms"].as_u64().unwrap();
                tokio::time::sleep(Duration::from_millis(wait)).await;
                continue;
            }
            assert!(status.is_success(), "{path}: {answer}");
            return answer;
        }
    }

    /// Creates a room and invites users. Returns its ID.
    pub async fn create(&self, invited: &[&Self], mut room: Value) -> String {
        let invited: Vec<_> = invited.iter().map(|user| &user.id).collect();
        room["invite"] = json!(invited);
        room["preset"] = json!("trusted_private_chat");
        let created = self.call(Method::POST, "client/v3/createRoom", Some(&room));
        created.await["room_id"].as_str().unwrap().to_owned()
    }

    pub async fn join(&self, room: &str) {
        let path = format!("client/v3/rooms/{room}/join");
        self.call(Method::POST, &path, Some(&json!({}))).await;
    }

    /// Sends an event. Returns its ID.
    pub async fn send(&self, room: &str, kind: &str, content: &Value) -> String {
        let number = self.sent.fetch_add(1, Ordering::Relaxed);
        let path = format!("client/v3/rooms/{room}/send/{kind}/{number}");
        let sent = self.call(Method::PUT, &path, Some(content)).await;
        sent["event_id"].as_str().unwrap().to_owned()
    }

    /// Sends a text with the other fields of its content. Returns the ID of the event.
    pub async fn say(&self, room: &str, text: &str, mut content: Value) -> String {
        content["msgtype"] = json!("m.text");
        content["body"] = json!(text);
        self.send(room, "m.room.message", &content).await
    }

    /// Uploads a file. Returns its address.
    pub async fn upload(&self, kind: &str, data: &[u8]) -> String {
        let url = format!("{}/_matrix/media/v3/upload", self.base);
        let request = client().post(url).bearer_auth(&self.token);
        let request = request.header("content-type", kind).body(data.to_vec());
        let answer = request.send().await.unwrap();
        let answer: Value = answer.json().await.unwrap();
        answer["content_uri"].as_str().unwrap().to_owned()
    }

    /// Returns the newest events of a room by a user, oldest first.
    pub async fn events_by(&self, room: &str, user: &Self) -> Vec<Value> {
        let path = format!("client/v3/rooms/{room}/messages?dir=b&limit=100");
        let mut page = self.call(Method::GET, &path, None).await;
        let mut events = page["chunk"].take().as_array().unwrap().clone();
        events.reverse();
        events.retain(|event| event["sender"] == *user.id);
        events
    }

    /// Waits for an event of a user in a room.
    pub async fn until(
        &self,
        (room, user): (&str, &Self),
        is_it: impl Fn(&Value) -> bool,
    ) -> Value {
        let found = async {
            loop {
                let events = self.events_by(room, user).await;
                if let Some(event) = events.into_iter().find(&is_it) {
                    return event;
                }
                tokio::time::sleep(STEP).await;
            }
        };
        let Ok(event) = tokio::time::timeout(LONG, found).await else {
            panic!("no such event: {:?}", self.events_by(room, user).await);
        };
        event
    }

    /// Waits for a message of a user whose text contains a word.
    pub async fn hears(&self, (room, user): (&str, &Self), word: &str) -> Value {
        let has_word = |event: &Value| {
            let body = event["content"]["body"].as_str();
            event["type"] == "m.room.message" && body.is_some_and(|body| body.contains(word))
        };
        self.until((room, user), has_word).await
    }
}
