//! Voice messages and pictures of the bot, as uploaded media and their events. The event of a voice message is marked
//! as a recording (<https://github.com/matrix-org/matrix-spec-proposals/pull/3245>).

use super::{Home, Matrix, Shared, is_bot, refuse};
use axum::Json;
use axum::body::Bytes;
use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use std::collections::HashMap;

pub(super) async fn upload(
    State(shared): State<Shared>,
    Query(query): Query<HashMap<String, String>>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    assert!(is_bot(&headers));
    let kind = headers["content-type"].to_str().unwrap();
    let upload = (kind, query["filename"].as_str());
    let known = [("audio/ogg", "answer.ogg"), ("image/png", "picture-1.png")];
    assert!(known.contains(&upload), "{upload:?}");
    let mut home = shared.home.lock().unwrap();
    if home.is_mute {
        return refuse(413, "M_TOO_LARGE");
    }
    home.media.push(body.to_vec());
    let url = format!("mxc://a.example/media-{}", home.media.len() - 1);
    Json(json!({ "content_uri": url })).into_response()
}

impl Home {
    fn media_of(&self, content: &Value) -> &Vec<u8> {
        let url = content["url"].as_str().unwrap();
        let number = url.strip_prefix("mxc://a.example/media-").unwrap();
        &self.media[number.parse::<usize>().unwrap()]
    }

    pub(super) fn check_voice(&self, content: &Value) {
        let info = &content["info"];
        assert_eq!(info["size"], self.media_of(content).len());
        assert_eq!(info["mimetype"], "audio/ogg");
        assert!(info["duration"].as_u64().unwrap() > 0, "{content}");
        let details = &content["org.matrix.msc1767.audio"];
        assert_eq!(details["duration"], info["duration"]);
        assert_eq!(content["org.matrix.msc3245.voice"], json!({}));
        assert_eq!(content["m.mentions"], json!({}));
        assert_eq!(content["body"], "answer.ogg");
    }
}

impl Home {
    /// An `m.image` (<https://spec.matrix.org/latest/client-server-api/#mimage>).
    pub(super) fn check_picture(&self, content: &Value) {
        let info = &content["info"];
        assert_eq!(info["size"], self.media_of(content).len());
        assert_eq!(info["mimetype"], "image/png");
        assert!(info["w"].is_u64() && info["h"].is_u64(), "{content}");
        assert_eq!(content["m.mentions"], json!({}));
    }
}

impl Matrix {
    /// Waits for the bot's picture with this number, from 1. Returns its room, its event and its content.
    pub async fn wait_for_picture(&self, number: usize) -> (String, Value, Vec<u8>) {
        self.until(|home| {
            let (room, content) = home.pictures.get(number - 1)?;
            Some((
                room.clone(),
                content.clone(),
                home.media_of(content).clone(),
            ))
        })
        .await
    }

    /// Makes all uploads fail.
    pub fn mute(&self) {
        self.shared.home.lock().unwrap().is_mute = true;
    }

    /// Waits for the bot's voice message with this number, from 1. Returns its room and the recording.
    pub async fn wait_for_voice(&self, number: usize) -> (String, Vec<u8>) {
        self.until(|home| {
            let (room, content) = home.voices.get(number - 1)?;
            Some((room.clone(), home.media_of(content).clone()))
        })
        .await
    }

    pub fn voices(&self) -> usize {
        self.shared.home.lock().unwrap().voices.len()
    }
}
