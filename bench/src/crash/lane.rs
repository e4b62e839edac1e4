//! The webhooks that deliveries are sent to.

use super::recorder::Recorder;
use crate::gateway::Server;
use crate::owner::{Installation, text};
use anyhow::Result;
use serde_json::{Value, json};
use std::net::SocketAddr;

/// The lane whose deliveries end in the inbox.
pub const INBOX: &str = "inbox";

/// A webhook and the recorder of its forwarded messages.
pub struct Lane {
    pub name: &'static str,
    pub id: String,
    pub public_id: String,
    pub secret: String,
    pub recorder: Recorder,
}

/// Creates a webhook.
pub async fn make_lane(
    installation: &Installation,
    server: &Server,
    name: &'static str,
    params: Value,
) -> Result<Lane> {
    let made = installation.rpc(server, "webhooks.create", params).await?;
    Ok(Lane {
        name,
        id: text(&made, "id")?,
        public_id: text(&made, "public_id")?,
        secret: text(&made, "secret")?,
        recorder: Recorder::default(),
    })
}

/// Creates a webhook for each kind of work. The agent has one session per issue, or one per delivery.
pub async fn make_lanes(
    installation: &Installation,
    server: &Server,
    outside: SocketAddr,
    [sunk, asked]: [Recorder; 2],
    session_mode: &str,
) -> Result<Vec<Lane>> {
    let account = json!({
        "type": "http", "id": "sink", "label": "sink",
        "fields": { "url": format!("http://{outside}/sink") },
    });
    installation.rpc(server, "channels.create", account).await?;
    let forwarded = json!({
        "name": "forwarded", "source_profile": "codehost_a", "rate_limit_per_minute": 100_000,
        "deliver_only": true, "deliver_to": "http:sink", "prompt_template": "{mark}",
    });
    let worked_on = json!({
        "name": "worked on", "source_profile": "codehost_a", "rate_limit_per_minute": 100_000,
        "session_mode": session_mode,
    });
    let kept = json!({
        "name": "kept", "source_profile": "codehost_a", "rate_limit_per_minute": 100_000,
        "deliver_only": true, "prompt_template": "{mark}",
    });
    let mut lanes = Vec::new();
    for (name, params, recorder) in [
        ("deliver-only", forwarded, sunk),
        ("agent", worked_on, asked),
        (INBOX, kept, Recorder::default()),
    ] {
        let lane = make_lane(installation, server, name, params).await?;
        lanes.push(Lane { recorder, ..lane });
    }
    Ok(lanes)
}
