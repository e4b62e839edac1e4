//! Voice messages of the bot: attachments of messages without a text
//! (<https://docs.discord.com/developers/reference#uploading-files>).

use super::{Discord, Shared, refuse};
use axum::Json;
use axum::extract::{FromRequest, Multipart, Request};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

pub(super) async fn receive(shared: Shared, channel: String, request: Request) -> Response {
    let mut form = Multipart::from_request(request, &()).await.unwrap();
    let (mut payload, mut audio) = (Value::Null, Vec::new());
    while let Some(field) = form.next_field().await.unwrap() {
        match field.name().unwrap() {
            "payload_json" => {
                assert_eq!(field.content_type(), Some("application/json"));
                payload = serde_json::from_str(&field.text().await.unwrap()).unwrap();
            }
            "files[0]" => {
                assert_eq!(field.file_name(), Some("answer.ogg"));
                audio = field.bytes().await.unwrap().to_vec();
            }
            other => panic!("{other}"),
        }
    }
    let expected = json!({ "attachments": [{ "id": 0, "filename": "answer.ogg" }],
        "allowed_mentions": { "parse": [] } });
    let mut gateway = shared.gateway.lock().unwrap();
    if gateway.is_mute || payload != expected || !audio.starts_with(b"OggS") {
        return refuse(403);
    }
    gateway.voices.push((channel, audio));
    drop(gateway);
    shared.changed.send_replace(());
    Json(json!({ "id": "1" })).into_response()
}

impl Discord {
    /// The bot may not attach files from now on.
    pub fn mute(&self) {
        self.shared.gateway.lock().unwrap().is_mute = true;
    }

    /// Waits for the bot's voice message with this number, from 1. Returns its channel and the recording.
    pub async fn wait_for_voice(&self, number: usize) -> (String, Vec<u8>) {
        self.until(|gateway| gateway.voices.get(number - 1).cloned())
            .await
    }

    pub fn voices(&self) -> usize {
        self.shared.gateway.lock().unwrap().voices.len()
    }
}
