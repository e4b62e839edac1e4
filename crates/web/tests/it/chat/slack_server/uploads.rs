//! Files of the bot (<https://docs.slack.dev/messaging/working-with-files#upload>).

use super::{Shared, Slack, Workspace, answer, refuse};
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use url::form_urlencoded;

/// A file that the bot announced.
pub struct Upload {
    length: usize,
    data: Option<Vec<u8>>,
}

fn form(body: &[u8]) -> BTreeMap<String, String> {
    form_urlencoded::parse(body).into_owned().collect()
}

impl Workspace {
    pub(super) fn offer(&mut self, body: &[u8], host: &str) -> axum::response::Response {
        let form = form(body);
        assert_eq!(form.keys().collect::<Vec<_>>(), ["filename", "length"]);
        if form["length"] == "0" {
            return refuse("invalid_arguments");
        }
        self.uploads.push(Upload {
            length: form["length"].parse().unwrap(),
            data: None,
        });
        let number = self.uploads.len() - 1;
        answer(
            json!({ "ok": true, "upload_url": format!("http://{host}/upload/{number}"),
            "file_id": format!("FUP{number}") }),
        )
    }

    pub(super) fn share(&mut self, body: &[u8]) -> axum::response::Response {
        let form = form(body);
        let files: Value = serde_json::from_str(&form["files"]).unwrap();
        let id = files[0]["id"].as_str().unwrap();
        let number: usize = id.strip_prefix("FUP").unwrap().parse().unwrap();
        let Some(data) = self.uploads[number].data.take() else {
            return refuse("file_not_found");
        };
        let place = json!({ "channel_id": form["channel_id"], "thread_ts": form.get("thread_ts") });
        match files[0]["title"].as_str().unwrap() {
            "Voice message" => self.voices.push((place, data)),
            title => self.pictures.push((place, title.to_owned(), data)),
        }
        answer(json!({ "ok": true, "files": [{ "id": id, "title": files[0]["title"] }] }))
    }
}

pub(super) async fn receive(
    State(shared): State<Shared>,
    Path(number): Path<usize>,
    headers: HeaderMap,
    body: Bytes,
) -> StatusCode {
    assert!(
        !headers.contains_key("authorization"),
        "the address is signed"
    );
    let mut workspace = shared.workspace.lock().unwrap();
    let upload = &mut workspace.uploads[number];
    if upload.length != body.len() {
        return StatusCode::BAD_REQUEST;
    }
    upload.data = Some(body.to_vec());
    StatusCode::OK
}

impl Slack {
    /// Waits for the bot's voice message with this number, from 1. Returns its place and the recording.
    pub async fn wait_for_voice(&self, number: usize) -> (Value, Vec<u8>) {
        self.until(|workspace| workspace.voices.get(number - 1).cloned())
            .await
    }

    /// Waits for the bot's picture with this number, from 1. Returns its place, its title and its content.
    pub async fn wait_for_picture(&self, number: usize) -> (Value, String, Vec<u8>) {
        self.until(|workspace| workspace.pictures.get(number - 1).cloned())
            .await
    }

    pub fn voices(&self) -> usize {
        self.shared.workspace.lock().unwrap().voices.len()
    }
}
