//! A fake Matrix homeserver (<https://spec.matrix.org/latest/client-server-api/>) that refuses invalid requests as a
//! homeserver does. It keeps all events, so a bot that sends an earlier token gets them again.

mod encryption;
mod joins;
mod reactions;
mod uploads;

pub use reactions::BROKEN;

use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post, put};
use axum::{Json, Router};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;

pub const TOKEN: &str = "syt_bot_secret";
pub const BOT: &str = "@bot:a.example";

/// What a later `sync` reports.
enum Entry {
    /// The JSON of an event of a room.
    Event { room: String, json: String },
    Invitation {
        room: String,
        by: String,
        is_direct: bool,
    },
}

#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a state of its own")]
struct Home {
    log: Vec<Entry>,
    members: HashMap<String, BTreeSet<String>>,
    invited: BTreeSet<String>,
    encrypted: BTreeSet<String>,
    /// The number of next requests to join that are refused.
    refused_joins: usize,
    /// The number of next requests to join that get a rate limit error.
    limited_joins: usize,
    /// The number of next events of the bot that get a rate limit error.
    limited: usize,
    /// The members of a room as of the next check.
    later: Option<(String, Vec<String>)>,
    /// The events that the bot sent, with their rooms, by transaction.
    sent: Vec<(String, Value)>,
    /// The events of transactions.
    transactions: BTreeMap<String, String>,
    /// How many requests repeated a transaction.
    repeated: usize,
    /// The events of the bot.
    events: Vec<reactions::BotEvent>,
    /// Questions lose their digits.
    is_garbled: bool,
    /// The entries that the bot has processed.
    confirmed: usize,
    has_typed: bool,
    /// The contents of media, by their IDs.
    media: Vec<Vec<u8>>,
    /// The voice messages of the bot with their rooms.
    voices: Vec<(String, Value)>,
    /// The pictures of the bot with their rooms.
    pictures: Vec<(String, Value)>,
    /// Nothing can be uploaded.
    is_mute: bool,
    /// Whether the server has only the media address from before version 1.11 of the specification.
    is_old: bool,
    /// The number of requests for the bot's user ID.
    asked: usize,
}

#[derive(Clone)]
struct Shared {
    home: Arc<Mutex<Home>>,
    changed: Arc<watch::Sender<()>>,
}

pub struct Matrix {
    shared: Shared,
    url: String,
}

impl Matrix {
    pub async fn start() -> Self {
        let shared = Shared {
            home: Arc::default(),
            changed: Arc::new(watch::Sender::new(())),
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let rooms = "/_matrix/client/v3/rooms/{room}";
        let app = Router::new()
            .route("/_matrix/client/v3/account/whoami", get(whoami))
            .route("/_matrix/client/v3/sync", get(sync))
            .route(
                "/_matrix/client/v1/media/download/{server}/{id}",
                get(media),
            )
            .route("/_matrix/media/v3/download/{server}/{id}", get(old_media))
            .route("/_matrix/media/v3/upload", post(uploads::upload))
            .route(&format!("{rooms}/joined_members"), get(joined_members))
            .route(&format!("{rooms}/messages"), get(messages))
            .route(&format!("{rooms}/join"), post(joins::join))
            .route(&format!("{rooms}/typing/{{user}}"), put(typing))
            .route(
                &format!("{rooms}/send/{{kind}}/{{transaction}}"),
                put(reactions::send),
            )
            .route(&format!("{rooms}/event/{{event}}"), get(reactions::event))
            .route(
                &format!("{rooms}/redact/{{event}}/{{transaction}}"),
                put(reactions::redact),
            )
            .route(
                "/_matrix/client/v1/rooms/{room}/relations/{event}/m.annotation/m.reaction",
                get(reactions::related),
            )
            .with_state(shared.clone());
        #[expect(clippy::disallowed_methods, reason = "ends with the test's runtime")]
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { shared, url }
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    fn add(&self, entry: Entry) -> usize {
        let mut home = self.shared.home.lock().unwrap();
        home.log.push(entry);
        let number = home.log.len();
        drop(home);
        self.shared.changed.send_replace(());
        number
    }

    pub fn set_members(&self, room: &str, members: &[&str]) {
        let members = members.iter().map(|user| (*user).to_owned()).collect();
        self.shared
            .home
            .lock()
            .unwrap()
            .members
            .insert(room.to_owned(), members);
    }

    /// Changes the members after the bot has read them once.
    pub fn set_members_later(&self, room: &str, members: &[&str]) {
        let members = members.iter().map(|user| (*user).to_owned()).collect();
        self.shared.home.lock().unwrap().later = Some((room.to_owned(), members));
    }

    /// Invites the bot to a new room. Returns the number of the entry.
    pub fn invite(&self, room: &str, by: &str, is_direct: bool) -> usize {
        self.set_members(room, &[by]);
        self.shared
            .home
            .lock()
            .unwrap()
            .invited
            .insert(room.to_owned());
        let (room, by) = (room.to_owned(), by.to_owned());
        self.add(Entry::Invitation {
            room,
            by,
            is_direct,
        })
    }

    /// Adds a message of a person to a room. Returns the number of the entry.
    pub fn say(&self, room: &str, person: &str, text: &str) -> usize {
        let content = json!({ "msgtype": "m.text", "body": text });
        self.event(room, person, "m.room.message", &content)
    }

    pub fn event(&self, room: &str, person: &str, kind: &str, content: &Value) -> usize {
        let number = self.shared.home.lock().unwrap().log.len();
        let event = json!({ "type": kind, "event_id": format!("$event{number}"), "sender": person,
            "origin_server_ts": 1, "content": content });
        self.raw(room, event.to_string())
    }

    /// Stores media. Returns its `mxc://` address.
    pub fn upload(&self, data: Vec<u8>) -> String {
        let mut home = self.shared.home.lock().unwrap();
        home.media.push(data);
        format!("mxc://a.example/media-{}", home.media.len() - 1)
    }

    /// Removes the new media address. The older address remains.
    pub fn set_old(&self) {
        self.shared.home.lock().unwrap().is_old = true;
    }

    /// Adds an event in any form.
    pub fn raw(&self, room: &str, json: String) -> usize {
        self.add(Entry::Event {
            room: room.to_owned(),
            json,
        })
    }

    /// Returns the messages that the bot sent, with their rooms.
    pub fn sent(&self) -> Vec<(String, Value)> {
        self.shared.home.lock().unwrap().sent.clone()
    }

    pub fn has_typed(&self) -> bool {
        self.shared.home.lock().unwrap().has_typed
    }

    /// Returns how often the bot asked for its user ID.
    pub fn asked(&self) -> usize {
        self.shared.home.lock().unwrap().asked
    }

    pub fn has_joined(&self, room: &str) -> bool {
        self.shared.home.lock().unwrap().members[room].contains(BOT)
    }

    async fn until<T>(&self, found: impl Fn(&Home) -> Option<T>) -> T {
        let mut changed = self.shared.changed.subscribe();
        let wait = async {
            loop {
                if let Some(found) = found(&self.shared.home.lock().unwrap()) {
                    return found;
                }
                changed.changed().await.unwrap();
            }
        };
        let waited = tokio::time::timeout(Duration::from_secs(30), wait).await;
        waited.expect("within 30 seconds")
    }

    /// Waits for the bot's message with this number, from 1. Returns its room and text.
    pub async fn wait_for(&self, number: usize) -> (String, String) {
        self.until(|home| {
            let (room, body) = home.sent.get(number - 1)?;
            Some((room.clone(), body["body"].as_str().unwrap().to_owned()))
        })
        .await
    }

    /// Waits until the bot has processed an entry.
    pub async fn confirmed(&self, number: usize) {
        self.until(|home| (home.confirmed >= number).then_some(()))
            .await;
    }
}

fn refuse(status: u16, code: &str) -> Response {
    let body = json!({ "errcode": code, "error": "refused" });
    (StatusCode::from_u16(status).unwrap(), Json(body)).into_response()
}

/// Refuses a request of a bot that makes too many.
fn too_many() -> Response {
    let body = json!({ "errcode": "M_LIMIT_EXCEEDED", "error": "Too Many Requests",
        "retry_after_ms": 1 });
    (StatusCode::TOO_MANY_REQUESTS, Json(body)).into_response()
}

async fn media(
    State(shared): State<Shared>,
    Path(path): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    if !is_bot(&headers) || shared.home.lock().unwrap().is_old {
        return refuse(404, "M_UNRECOGNIZED");
    }
    stored(&shared, &path)
}

async fn old_media(State(shared): State<Shared>, Path(path): Path<(String, String)>) -> Response {
    if !shared.home.lock().unwrap().is_old {
        return refuse(404, "M_NOT_FOUND");
    }
    stored(&shared, &path)
}

fn stored(shared: &Shared, (server, id): &(String, String)) -> Response {
    assert_eq!(server, "a.example");
    let number = id.strip_prefix("media-").unwrap().parse::<usize>().unwrap();
    shared.home.lock().unwrap().media[number]
        .clone()
        .into_response()
}

fn is_bot(headers: &HeaderMap) -> bool {
    let given = headers.get("authorization").and_then(|it| it.to_str().ok());
    given == Some(&format!("Bearer {TOKEN}"))
}

async fn whoami(State(shared): State<Shared>, headers: HeaderMap) -> Response {
    if !is_bot(&headers) {
        return refuse(401, "M_UNKNOWN_TOKEN");
    }
    shared.home.lock().unwrap().asked += 1;
    Json(json!({ "user_id": BOT })).into_response()
}

async fn joined_members(
    State(shared): State<Shared>,
    Path(room): Path<String>,
    headers: HeaderMap,
) -> Response {
    assert!(is_bot(&headers));
    let mut home = shared.home.lock().unwrap();
    let members = home.members.get(&room).cloned().unwrap_or_default();
    if home.later.as_ref().is_some_and(|(later, _)| *later == room) {
        let (room, members) = home.later.take().unwrap();
        home.members.insert(room, members.into_iter().collect());
    }
    if !members.contains(BOT) {
        return refuse(403, "M_FORBIDDEN");
    }
    let of = |user: &String| {
        (
            user.clone(),
            json!({ "display_name": format!("Person {user}") }),
        )
    };
    let joined: BTreeMap<_, _> = members.iter().map(of).collect();
    Json(json!({ "joined": joined })).into_response()
}

/// Returns the events of a room before a token, newest first.
async fn messages(
    State(shared): State<Shared>,
    Path(room): Path<String>,
    Query(query): Query<HashMap<String, String>>,
    headers: HeaderMap,
) -> Response {
    assert!(is_bot(&headers));
    assert_eq!(query["dir"], "b");
    let filter: Value = serde_json::from_str(&query["filter"]).unwrap();
    let types = json!(["m.room.message", "m.room.encrypted", "m.reaction"]);
    assert_eq!(filter, json!({ "types": types }));
    let token = |name: &str| query[name].strip_prefix('s').unwrap().parse::<usize>();
    let (from, to) = (token("from").unwrap(), token("to").unwrap());
    let limit: usize = query["limit"].parse().unwrap();
    let home = shared.home.lock().unwrap();
    if !home.members.get(&room).is_some_and(|it| it.contains(BOT)) {
        return refuse(403, "M_FORBIDDEN");
    }
    let entries = home.log.iter().enumerate().take(from).skip(to).rev();
    let events = entries.filter_map(|(number, entry)| match entry {
        Entry::Event { room: of, json } if *of == room => Some((number, json)),
        _ => None,
    });
    let events: Vec<_> = events.take(limit).collect();
    let end = events.last().map_or(to, |(number, _)| *number);
    let chunk: Vec<Value> = events
        .iter()
        .map(|(_, json)| serde_json::from_str(json).unwrap())
        .collect();
    let start = &query["from"];
    Json(json!({ "start": start, "end": format!("s{end}"), "chunk": chunk })).into_response()
}

async fn typing(
    State(shared): State<Shared>,
    Path((room, user)): Path<(String, String)>,
    headers: HeaderMap,
    Json(body): Json<Value>,
) -> Response {
    assert!(is_bot(&headers));
    assert_eq!((user.as_str(), &body["typing"]), (BOT, &json!(true)));
    assert!(body["timeout"].is_u64());
    let mut home = shared.home.lock().unwrap();
    if !home.members[&room].contains(BOT) {
        return refuse(403, "M_FORBIDDEN");
    }
    home.has_typed = true;
    Json(json!({})).into_response()
}

async fn sync(
    State(shared): State<Shared>,
    Query(query): Query<HashMap<String, String>>,
    headers: HeaderMap,
) -> Response {
    if !is_bot(&headers) {
        return refuse(401, "M_UNKNOWN_TOKEN");
    }
    let filter: Value = serde_json::from_str(&query["filter"]).unwrap();
    let types = &filter["room"]["timeline"]["types"];
    let known = json!(["m.room.message", "m.room.encrypted", "m.reaction"]);
    assert_eq!(types, &known);
    let since = match query.get("since").map(|since| since.strip_prefix('s')) {
        None => None,
        Some(Some(number)) => Some(number.parse::<usize>().unwrap()),
        Some(None) => return refuse(400, "M_INVALID_PARAM"),
    };
    let mut changed = shared.changed.subscribe();
    if let Some(since) = since {
        let mut home = shared.home.lock().unwrap();
        home.confirmed = home.confirmed.max(since);
        drop(home);
        shared.changed.send_replace(());
    }
    loop {
        let (answer, is_empty) = {
            let home = shared.home.lock().unwrap();
            let from = since.unwrap_or(0);
            let limit = filter["room"]["timeline"]["limit"].as_u64().unwrap();
            let limit = usize::try_from(limit).unwrap();
            (answer(&home, from, limit), from >= home.log.len())
        };
        if !is_empty || since.is_none() {
            return ([("content-type", "application/json")], answer).into_response();
        }
        let timeout: u64 = query["timeout"].parse().unwrap();
        assert!([5000, 30_000].contains(&timeout), "{timeout}");
        let waited = tokio::time::timeout(Duration::from_millis(timeout), changed.changed());
        if waited.await.is_err() {
            return ([("content-type", "application/json")], answer).into_response();
        }
    }
}

/// Returns the entries since an entry. Events are copied byte by byte.
fn answer(home: &Home, from: usize, limit: usize) -> String {
    let mut joined: BTreeMap<&str, Vec<(usize, &str)>> = BTreeMap::new();
    let mut invitations: BTreeMap<&str, Value> = BTreeMap::new();
    for (number, entry) in home.log.iter().enumerate().skip(from) {
        match entry {
            Entry::Event { room, json } => {
                joined.entry(room).or_default().push((number, json));
            }
            Entry::Invitation {
                room,
                by,
                is_direct,
            } => {
                if !home.invited.contains(room) {
                    continue;
                }
                let content = json!({ "membership": "invite", "is_direct": is_direct });
                let own = json!({ "type": "m.room.member", "sender": by, "state_key": BOT, "content": content });
                let mut events = vec![own];
                if home.encrypted.contains(room) {
                    let content = json!({ "algorithm": "m.megolm.v1.aes-sha2" });
                    events.push(
                        json!({ "type": "m.room.encryption", "sender": by, "state_key": "",
                        "content": content }),
                    );
                }
                invitations.insert(room, json!({ "invite_state": { "events": events } }));
            }
        }
    }
    let of = |(room, events): (&str, Vec<(usize, &str)>)| {
        let room = Value::from(room);
        let newest = &events[events.len().saturating_sub(limit)..];
        let is_limited = newest.len() < events.len();
        let texts: Vec<_> = newest.iter().map(|(_, json)| *json).collect();
        format!(
            r#"{room}:{{"timeline":{{"events":[{}],"limited":{is_limited},"prev_batch":"s{}"}}}}"#,
            texts.join(","),
            newest[0].0
        )
    };
    let joined: Vec<_> = joined.into_iter().map(of).collect();
    let invitations = serde_json::to_string(&invitations).unwrap();
    format!(
        r#"{{"next_batch":"s{}","rooms":{{"join":{{{}}},"invite":{invitations}}}}}"#,
        home.log.len(),
        joined.join(",")
    )
}
