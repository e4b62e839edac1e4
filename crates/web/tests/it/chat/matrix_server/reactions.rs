//! The events of the bot, with reactions and edits
//! (<https://spec.matrix.org/latest/client-server-api/#event-annotations-and-reactions>).

use super::{BOT, Entry, Home, Matrix, Shared, TOKEN, is_bot, refuse, too_many};
use crate::chat::button_vendors::{ButtonVendor, Seen};
use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fmt::Write as _;

/// An event about which the server answers with an error.
pub const BROKEN: &str = "$broken";
/// The maximum number of reactions per answer.
const PAGE: usize = 2;

pub struct BotEvent {
    id: String,
    room: String,
    kind: String,
    content: Value,
    is_redacted: bool,
}

impl BotEvent {
    fn json(&self) -> Value {
        json!({ "type": self.kind, "event_id": self.id, "sender": BOT, "origin_server_ts": 1,
            "room_id": self.room, "content": self.content })
    }

    /// Returns the target of this event's relation of this type.
    fn relation(&self, kind: &str) -> Option<&str> {
        let relation = &self.content["m.relates_to"];
        (relation["rel_type"] == kind).then(|| relation["event_id"].as_str().unwrap())
    }
}

impl Home {
    fn is_joined(&self, room: &str) -> bool {
        self.members.get(room).is_some_and(|it| it.contains(BOT))
    }

    /// Checks an event. The error is the code of the refusal.
    fn check(&self, kind: &str, content: &Value) -> Result<(), (u16, &'static str)> {
        let relation = &content["m.relates_to"];
        let target = relation["event_id"].as_str();
        let known = self.events.iter().find(|it| Some(&*it.id) == target);
        match (kind, relation["rel_type"].as_str()) {
            ("m.reaction", Some("m.annotation")) => {
                assert!(relation["key"].is_string(), "{content}");
                let Some(known) = known else {
                    return Err((404, "M_NOT_FOUND"));
                };
                // Reactions and edits cannot be annotated.
                assert!(known.content["m.relates_to"]["rel_type"].is_null());
                let is_same = |it: &BotEvent| {
                    !it.is_redacted && it.kind == kind && it.content["m.relates_to"] == *relation
                };
                if self.events.iter().any(is_same) {
                    return Err((400, "M_DUPLICATE_ANNOTATION"));
                }
            }
            ("m.room.message", Some("m.replace")) => {
                assert_eq!(content["m.new_content"]["msgtype"], content["msgtype"]);
                assert!(known.is_some_and(|it| it.kind == kind), "{content}");
            }
            ("m.room.message", None) => {
                let replied = &relation["m.in_reply_to"];
                assert!(
                    replied.is_null() || replied["event_id"].as_str().unwrap().starts_with('$')
                );
            }
            _ => return Err((400, "M_UNKNOWN")),
        }
        if kind == "m.room.message" {
            let kind = content["msgtype"].as_str().unwrap();
            match kind {
                "m.audio" => self.check_voice(content),
                "m.image" => self.check_picture(content),
                other => assert!(matches!(other, "m.text" | "m.notice"), "{content}"),
            }
            assert!(content["body"].is_string(), "{content}");
        }
        if content.to_string().len() > 65_000 {
            return Err((413, "M_TOO_LARGE"));
        }
        Ok(())
    }
}

pub(super) async fn send(
    State(shared): State<Shared>,
    Path((room, kind, transaction)): Path<(String, String, String)>,
    headers: HeaderMap,
    Json(body): Json<Value>,
) -> Response {
    assert!(is_bot(&headers));
    let mut home = shared.home.lock().unwrap();
    if !home.is_joined(&room) {
        return refuse(403, "M_FORBIDDEN");
    }
    if let Some(id) = home.transactions.get(&transaction).cloned() {
        home.repeated += 1;
        drop(home);
        shared.changed.send_replace(());
        return Json(json!({ "event_id": id })).into_response();
    }
    if let Some(left) = home.limited.checked_sub(1) {
        home.limited = left;
        drop(home);
        shared.changed.send_replace(());
        return too_many();
    }
    if let Err((status, code)) = home.check(&kind, &body) {
        return refuse(status, code);
    }
    let id = format!("$bot{}", home.events.len());
    let mut content = body.clone();
    if home.is_garbled && content.get("gatehouse.question").is_some() {
        let kept = content["body"].as_str().unwrap().chars();
        let kept: String = kept.filter(|c| !c.is_ascii_digit()).collect();
        content["body"] = kept.into();
    }
    home.events.push(BotEvent {
        id: id.clone(),
        room: room.clone(),
        kind: kind.clone(),
        content,
        is_redacted: false,
    });
    home.transactions.insert(transaction, id.clone());
    let is_edit = body["m.relates_to"]["rel_type"] == "m.replace";
    if kind == "m.room.message" && body["msgtype"] == "m.text" && !is_edit {
        home.sent.push((room, body));
    } else if body["msgtype"] == "m.audio" {
        home.voices.push((room, body));
    } else if body["msgtype"] == "m.image" {
        home.pictures.push((room, body));
    }
    drop(home);
    shared.changed.send_replace(());
    Json(json!({ "event_id": id })).into_response()
}

pub(super) async fn event(
    State(shared): State<Shared>,
    Path((room, id)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    assert!(is_bot(&headers));
    let home = shared.home.lock().unwrap();
    let mut events = home.events.iter();
    let found = events.find(|it| it.id == id && it.room == room && home.is_joined(&room));
    if let Some(event) = found {
        return escaped(&event.json());
    }
    let mut said = home.log.iter().filter_map(|entry| match entry {
        Entry::Event { room: of, json } if *of == room => serde_json::from_str::<Value>(json).ok(),
        _ => None,
    });
    match said.find(|event| event["event_id"] == id) {
        Some(event) if home.is_joined(&room) => escaped(&event),
        _ => refuse(404, "M_NOT_FOUND"),
    }
}

/// JSON in ASCII alone, as some servers write it.
fn escaped(value: &Value) -> Response {
    let mut text = String::new();
    for c in value.to_string().chars() {
        if c.is_ascii() {
            text.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            write!(text, "\\u{unit:04x}").unwrap();
        }
    }
    ([("content-type", "application/json")], text).into_response()
}

pub(super) async fn related(
    State(shared): State<Shared>,
    Path((room, id)): Path<(String, String)>,
    Query(query): Query<HashMap<String, String>>,
    headers: HeaderMap,
) -> Response {
    assert!(is_bot(&headers));
    assert_eq!(query["dir"], "f");
    let limit: usize = query["limit"].parse().unwrap();
    let home = shared.home.lock().unwrap();
    if !home.is_joined(&room) {
        return refuse(403, "M_FORBIDDEN");
    }
    if id == BROKEN {
        return refuse(500, "M_UNKNOWN");
    }
    let from = query.get("from").map_or(0, |from| from.parse().unwrap());
    let events = home.events.iter().filter(|it| {
        !it.is_redacted && it.room == room && it.relation("m.annotation") == Some(&*id)
    });
    let people = home.log.iter().filter_map(|entry| match entry {
        Entry::Event { room: of, json } if *of == room => serde_json::from_str(json).ok(),
        _ => None,
    });
    let people = people.filter(|event: &Value| {
        event["type"] == "m.reaction" && event["content"]["m.relates_to"]["event_id"] == *id
    });
    // Pages may have fewer events than the limit.
    let mut events = events.map(BotEvent::json).chain(people).skip(from);
    let chunk: Vec<Value> = events.by_ref().take(limit.min(PAGE)).collect();
    let next = events.next().map(|_| (from + PAGE).to_string());
    let mut answer = json!({ "chunk": chunk });
    if let Some(next) = next {
        answer["next_batch"] = next.into();
    }
    escaped(&answer)
}

pub(super) async fn redact(
    State(shared): State<Shared>,
    Path((room, id, _)): Path<(String, String, String)>,
    headers: HeaderMap,
    Json(body): Json<Value>,
) -> Response {
    assert!(is_bot(&headers));
    assert_eq!(body, json!({}));
    let mut home = shared.home.lock().unwrap();
    let mut events = home.events.iter_mut();
    let Some(event) = events.find(|it| it.id == id && it.room == room) else {
        return refuse(404, "M_NOT_FOUND");
    };
    event.is_redacted = true;
    drop(home);
    shared.changed.send_replace(());
    Json(json!({ "event_id": "$redaction" })).into_response()
}

impl Matrix {
    /// Waits until this many requests have repeated a transaction.
    pub async fn repeated(&self, count: usize) {
        self.until(|home| (home.repeated >= count).then_some(()))
            .await;
    }

    /// Makes the next events of the bot get a rate limit error.
    pub fn limit_events(&self, count: usize) {
        self.shared.home.lock().unwrap().limited = count;
    }

    /// Waits until that many events were refused.
    pub async fn limited(&self) {
        self.until(|home| (home.limited == 0).then_some(())).await;
    }

    /// Waits for this many notices of the bot.
    pub async fn notices(&self, count: usize) -> Vec<String> {
        self.until(|home| {
            let notices = home
                .events
                .iter()
                .filter(|it| it.content["msgtype"] == "m.notice");
            let notes: Vec<_> = notices
                .map(|it| it.content["body"].as_str().unwrap().to_owned())
                .collect();
            (notes.len() >= count).then_some(notes)
        })
        .await
    }

    /// Returns the ID of a message of the bot, by its number from 1.
    pub fn event_id(&self, number: usize) -> String {
        let home = self.shared.home.lock().unwrap();
        let mut sent = home.events.iter().filter(|it| {
            it.kind == "m.room.message"
                && it.content["msgtype"] == "m.text"
                && it.relation("m.replace").is_none()
        });
        sent.nth(number - 1).unwrap().id.clone()
    }
}

/// Returns the direct room of a person.
fn room_of(person: &str) -> String {
    let name = person.trim_start_matches('@').split(':').next().unwrap();
    format!("!direct-{name}:a")
}

impl ButtonVendor for Matrix {
    const KIND: &'static str = "matrix";
    const PERSON: &'static str = "@p:a.example";
    const OTHER: &'static str = "@other:b.example";
    /// A reaction belongs to one event of one room.
    const HAS_COPIES: bool = false;
    /// A room with another person has no buttons.
    const SEES_OTHERS: bool = false;

    async fn begin() -> Self {
        Self::start().await
    }

    fn account(&self) -> Value {
        json!({ "homeserver": self.url(), "access_token": TOKEN, "inbound": true })
    }

    fn chat(person: &str) -> (&'static str, String) {
        ("room_id", room_of(person))
    }

    fn greet(&self, person: &str) {
        self.invite(&room_of(person), person, true);
    }

    fn say(&self, person: &str, text: &str) {
        Self::say(self, &room_of(person), person, text);
    }

    fn count(&self) -> usize {
        self.sent().len()
    }

    async fn text(&self, number: usize) -> String {
        self.wait_for(number).await.1
    }

    async fn seen(&self, number: usize, is_it: impl Fn(&Seen) -> bool) -> Seen {
        self.until(|home| {
            let events = || home.events.iter().filter(|it| !it.is_redacted);
            let first = |it: &&BotEvent| {
                it.kind == "m.room.message"
                    && it.content["msgtype"] == "m.text"
                    && it.relation("m.replace").is_none()
            };
            let question = events().filter(first).nth(number - 1)?;
            let edit = events().rfind(|it| it.relation("m.replace") == Some(&*question.id));
            let content = edit.map_or(&question.content, |it| &it.content["m.new_content"]);
            let reactions =
                events().filter(|it| it.relation("m.annotation") == Some(&*question.id));
            let button = |it: &BotEvent| {
                let key = it.content["m.relates_to"]["key"].as_str().unwrap();
                (key.to_owned(), key.to_owned())
            };
            let seen = Seen {
                text: content["body"].as_str().unwrap().to_owned(),
                buttons: reactions.map(button).collect(),
            };
            is_it(&seen).then_some(seen)
        })
        .await
    }

    /// Only members of a room can react in it.
    fn press_data(&self, person: &str, (chat, number): (&str, usize), data: &str) {
        let room = room_of(chat);
        {
            let mut home = self.shared.home.lock().unwrap();
            let members = home.members.get_mut(&room).unwrap();
            members.insert(person.to_owned());
        }
        let id = self.event_id(number);
        let content =
            json!({ "m.relates_to": { "rel_type": "m.annotation", "event_id": id, "key": data } });
        self.event(&room, person, "m.reaction", &content);
    }

    async fn processed(&self) {
        let number = self.shared.home.lock().unwrap().log.len();
        self.confirmed(number).await;
    }

    fn is_alone(&self, person: &str) {
        self.set_members(&room_of(person), &[person, BOT]);
    }

    async fn press_answer(&self, count: usize) -> Vec<String> {
        self.notices(count).await
    }

    fn garble(&self) {
        self.shared.home.lock().unwrap().is_garbled = true;
    }
}
