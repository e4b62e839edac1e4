//! The messages of the bot as Discord shows them, with their components
//! (<https://docs.discord.com/developers/components/reference>).

use super::{Discord, Gateway, Shared, TOKEN, is_bot, refuse, uploads};
use crate::chat::button_vendors::{ButtonVendor, Seen};
use crate::chat::has_only;
use axum::Json;
use axum::extract::{FromRequest, Path, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

const SUPPRESS_EMBEDS: u64 = 1 << 2;
const EPHEMERAL: u64 = 1 << 6;

fn is_button(button: &Value, seen: &mut BTreeSet<String>) -> bool {
    let length = |name: &str| button[name].as_str().unwrap().chars().count();
    button["type"] == 2
        && has_only(button, &["type", "style", "label", "custom_id"])
        && (1..=4).contains(&button["style"].as_u64().unwrap())
        && (1..=80).contains(&length("label"))
        && (1..=100).contains(&length("custom_id"))
        && seen.insert(button["custom_id"].as_str().unwrap().to_owned())
}

fn are_components(components: &Value) -> bool {
    let Some(rows) = components.as_array() else {
        return components.is_null();
    };
    let mut seen = BTreeSet::new();
    rows.len() <= 5
        && rows.iter().all(|row| {
            let buttons = row["components"].as_array().unwrap();
            row["type"] == 1
                && has_only(row, &["type", "components"])
                && (1..=5).contains(&buttons.len())
                && buttons.iter().all(|it| is_button(it, &mut seen))
        })
}

/// Returns whether a reply names its message by ID. An unknown ID must have no effect.
fn is_reference(reference: &Value) -> bool {
    let id = reference["message_id"].as_str().unwrap_or_default();
    let is_id = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit());
    reference.is_null()
        || (is_id
            && has_only(reference, &["message_id", "fail_if_not_exists"])
            && reference["fail_if_not_exists"] == false)
}

/// Returns whether a body of a message is accepted.
fn is_message(body: &Value) -> bool {
    let length = body["content"].as_str().map(|it| it.chars().count());
    let known = [
        "content",
        "components",
        "allowed_mentions",
        "flags",
        "nonce",
        "enforce_nonce",
        "message_reference",
    ];
    let flags = body["flags"].as_u64().unwrap_or_default();
    has_only(body, &known)
        && length.is_none_or(|it| (1..=2000).contains(&it))
        && are_components(&body["components"])
        && (flags == 0 || flags == SUPPRESS_EMBEDS)
        && is_reference(&body["message_reference"])
}

/// Discord removes the white space around a text.
fn stored(gateway: &Gateway, body: &Value) -> String {
    let mut text = body["content"].as_str().unwrap().trim().to_owned();
    if gateway.is_garbled && body["components"].is_array() {
        text.retain(|c| !c.is_ascii_digit());
    }
    text
}

fn message_id(number: usize) -> String {
    (9000 + number).to_string()
}

pub(super) async fn send(
    State(shared): State<Shared>,
    Path(channel): Path<String>,
    request: Request,
) -> Response {
    assert!(is_bot(request.headers()));
    let kind = request.headers()["content-type"].to_str().unwrap();
    if kind.starts_with("multipart/form-data") {
        return uploads::receive(shared, channel, request).await;
    }
    let Json(body) = Json::<Value>::from_request(request, &()).await.unwrap();
    let nonce = body["nonce"].as_str().unwrap();
    if !is_message(&body)
        || body["content"].is_null()
        || nonce.len() > 25
        || body["allowed_mentions"]["parse"] != json!([])
    {
        return refuse(400);
    }
    let mut gateway = shared.gateway.lock().unwrap();
    // A repeated nonce does not send the message again.
    let mut known = gateway.sent.iter();
    let known = known.position(|(_, sent)| sent["nonce"] == body["nonce"]);
    let at = known.unwrap_or(gateway.sent.len());
    if known.is_none() {
        let content = stored(&gateway, &body);
        let shown = json!({ "id": message_id(at), "channel_id": channel, "content": content,
            "components": body["components"] });
        gateway.shown.push(shown);
        gateway.sent.push((channel, body));
    } else {
        gateway.repeated += 1;
    }
    let answer = gateway.shown[at].clone();
    drop(gateway);
    shared.changed.send_replace(());
    Json(answer).into_response()
}

pub(super) async fn edit(
    State(shared): State<Shared>,
    Path((channel, message)): Path<(String, String)>,
    headers: HeaderMap,
    Json(body): Json<Value>,
) -> Response {
    assert!(is_bot(&headers));
    if !is_message(&body) || body.get("nonce").is_some() {
        return refuse(400);
    }
    let mut gateway = shared.gateway.lock().unwrap();
    let is_it =
        |it: &&mut Value| it["id"] == message.as_str() && it["channel_id"] == channel.as_str();
    let Some(shown) = gateway.shown.iter_mut().find(is_it) else {
        return refuse(404);
    };
    for name in ["content", "components"] {
        if let Some(value) = body.get(name) {
            shown[name] = value.clone();
        }
    }
    let answer = shown.clone();
    drop(gateway);
    shared.changed.send_replace(());
    Json(answer).into_response()
}

/// Returns a channel: direct messages with a person, or a channel of a server.
pub(super) async fn channel(Path(id): Path<String>, headers: HeaderMap) -> Response {
    assert!(is_bot(&headers));
    match id.strip_prefix('1') {
        Some(person) => Json(json!({ "id": id, "type": 1, "recipients": [{ "id": person }] })),
        None => Json(json!({ "id": id, "type": 0, "guild_id": "1" })),
    }
    .into_response()
}

pub(super) async fn callback(
    State(shared): State<Shared>,
    Path((id, token)): Path<(String, String)>,
    Json(body): Json<Value>,
) -> Response {
    assert_eq!(token, format!("token-{id}"));
    let mut gateway = shared.gateway.lock().unwrap();
    let mut presses = gateway.presses.iter();
    let Some(at) = presses.position(|(known, _)| *known == token) else {
        return refuse(400);
    };
    let (_, since) = gateway.presses.remove(at);
    if since.elapsed() > Duration::from_secs(3) {
        // Unknown interaction.
        return refuse(404);
    }
    match body["type"].as_u64() {
        Some(6) => assert!(has_only(&body, &["type"])),
        Some(4) => {
            assert_eq!(body["data"]["flags"], EPHEMERAL);
            let note = body["data"]["content"].as_str().unwrap();
            gateway.notes.push(note.to_owned());
        }
        _ => return refuse(400),
    }
    drop(gateway);
    shared.changed.send_replace(());
    StatusCode::NO_CONTENT.into_response()
}

impl ButtonVendor for Discord {
    const KIND: &'static str = "discord";
    const PERSON: &'static str = "42";
    const OTHER: &'static str = "43";

    async fn begin() -> Self {
        Self::start().await
    }

    fn account(&self) -> Value {
        self.fields(TOKEN)
    }

    fn chat(person: &str) -> (&'static str, String) {
        ("channel_id", format!("1{person}"))
    }

    async fn ready(&self) {
        self.connected(1, 0).await;
    }

    fn greet(&self, person: &str) {
        // The text is long with its escapes.
        let author = json!({ "id": person, "username": "p", "global_name": "_".repeat(32) });
        self.write(person, "hello?", json!({ "author": author }));
    }

    fn say(&self, person: &str, text: &str) {
        self.write(person, text, json!({}));
    }

    fn count(&self) -> usize {
        self.sent().len()
    }

    async fn text(&self, number: usize) -> String {
        self.seen(number, |_| true).await.text
    }

    async fn seen(&self, number: usize, is_it: impl Fn(&Seen) -> bool) -> Seen {
        self.until(|gateway| {
            let shown = gateway.shown.get(number - 1)?;
            let rows = shown["components"].as_array().into_iter().flatten();
            let buttons = rows.flat_map(|row| row["components"].as_array().unwrap());
            let button = |it: &Value| {
                let label = it["label"].as_str().unwrap().to_owned();
                (label, it["custom_id"].as_str().unwrap().to_owned())
            };
            let content = shown["content"].as_str().unwrap();
            let seen = Seen {
                // A code block is shown without its fences.
                text: content.replace("```\n", "").replace("\n```", ""),
                buttons: buttons.map(button).collect(),
            };
            is_it(&seen).then_some(seen)
        })
        .await
    }

    fn press_data(&self, person: &str, (chat, number): (&str, usize), data: &str) {
        let mut gateway = self.shared.gateway.lock().unwrap();
        let id = (7000 + gateway.events.len()).to_string();
        let token = format!("token-{id}");
        gateway.presses.push((token.clone(), Instant::now()));
        let interaction = json!({
            "id": id, "application_id": "1", "token": token, "type": 3, "version": 1, "context": 1,
            "channel_id": format!("1{chat}"), "user": { "id": person, "username": "p" },
            "message": { "id": message_id(number - 1), "type": 0 },
            "data": { "custom_id": data, "component_type": 2 },
        });
        gateway.events.push(("INTERACTION_CREATE", interaction));
        drop(gateway);
        self.shared.changed.send_replace(());
    }

    async fn press_answer(&self, count: usize) -> Vec<String> {
        self.until(|gateway| (gateway.notes.len() >= count).then(|| gateway.notes.clone()))
            .await
    }

    fn garble(&self) {
        self.shared.gateway.lock().unwrap().is_garbled = true;
    }
}
