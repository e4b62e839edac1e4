//! Voice messages and pictures of the bot: attachments of messages without a text
//! (<https://docs.discord.com/developers/reference#uploading-files>).

use super::{Discord, Shared, refuse};
use axum::Json;
use axum::extract::{FromRequest, Multipart, Request};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

/// Discord accepts no larger files from bots.
const MAX_BYTES: usize = 10 << 20;

pub(super) async fn receive(shared: Shared, channel: String, request: Request) -> Response {
    let mut form = Multipart::from_request(request, &()).await.unwrap();
    let (mut payload, mut name, mut kind, mut data) =
        (Value::Null, String::new(), String::new(), Vec::new());
    while let Some(field) = form.next_field().await.unwrap() {
        match field.name().unwrap() {
            "payload_json" => {
                assert_eq!(field.content_type(), Some("application/json"));
                payload = serde_json::from_str(&field.text().await.unwrap()).unwrap();
            }
            "files[0]" => {
                field.file_name().unwrap().clone_into(&mut name);
                field.content_type().unwrap().clone_into(&mut kind);
                data = field.bytes().await.unwrap().to_vec();
            }
            other => panic!("{other}"),
        }
    }
    let nonce = payload["nonce"].as_str().unwrap();
    assert!((1..=25).contains(&nonce.len()), "{nonce}");
    let expected = json!({ "attachments": [{ "id": 0, "filename": name }],
        "allowed_mentions": { "parse": [] }, "nonce": nonce, "enforce_nonce": true });
    let mut gateway = shared.gateway.lock().unwrap();
    if gateway.is_mute || payload != expected {
        return refuse(403);
    }
    if data.len() > MAX_BYTES {
        return refuse(413);
    }
    match kind.as_str() {
        "audio/ogg" => {
            assert!(name == "answer.ogg" && data.starts_with(b"OggS"), "{name}");
            gateway.voices.push((channel, data));
        }
        "image/png" => gateway.pictures.push((channel, name, data)),
        other => panic!("{other}"),
    }
    drop(gateway);
    shared.changed.send_replace(());
    Json(json!({ "id": "1" })).into_response()
}

impl Discord {
    /// Removes the bot's permission to attach files.
    pub fn mute(&self) {
        self.shared.gateway.lock().unwrap().is_mute = true;
    }

    /// Waits for the bot's voice message with this number, from 1. Returns its channel and the recording.
    pub async fn wait_for_voice(&self, number: usize) -> (String, Vec<u8>) {
        self.until(|gateway| gateway.voices.get(number - 1).cloned())
            .await
    }

    /// Waits for the bot's picture with this number, from 1. Returns its channel, its name and its content.
    pub async fn wait_for_picture(&self, number: usize) -> (String, String, Vec<u8>) {
        self.until(|gateway| gateway.pictures.get(number - 1).cloned())
            .await
    }

    pub fn voices(&self) -> usize {
        self.shared.gateway.lock().unwrap().voices.len()
    }
}
