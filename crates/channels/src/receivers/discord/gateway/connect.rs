//! The beginning of a connection, and the meaning of its end.

use super::{Connection, Heartbeat, INTENTS, Listening, Next};
use crate::receive::ReceiveError;
use crate::receivers::Source;
use crate::receivers::discord::events::{Payload, read};
use crate::receivers::discord::{NOUN, base, call, not_discord, refused_token};
use crate::receivers::link::Link;
use reqwest::Method;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::Instant;
use url::Url;

impl Listening {
    /// Connects, and resumes the session or begins a new one.
    pub(super) async fn connect(&mut self, source: Source<'_>) -> Result<Connection, ReceiveError> {
        let known = self.session.as_ref().filter(|_| !self.is_resume_url_bad);
        let url = match known {
            Some(session) => session.resume_url.clone(),
            None => gateway_url(source).await?,
        };
        self.is_resume_url_bad = true;
        let url = Url::parse_with_params(&url, [("v", "10"), ("encoding", "json")])
            .map_err(|_| not_discord())?;
        let mut link = Link::open(source, NOUN, base(&source), url.as_str()).await?;
        let hello = read::<Payload>(&link.read_first().await?).filter(|hello| hello.op == 10);
        let hello: Value = hello.and_then(|it| it.data()).ok_or_else(not_discord)?;
        let interval = hello.get("heartbeat_interval").and_then(Value::as_u64);
        let interval = Duration::from_millis(interval.ok_or_else(not_discord)?.max(1));
        let token = source.need_secret("bot_token")?;
        let first = match &self.session {
            Some(session) => json!({ "op": 6, "d": {
                "token": token, "session_id": session.id, "seq": session.seq,
            } }),
            None => json!({ "op": 2, "d": {
                "token": token,
                "intents": INTENTS,
                "properties": { "os": std::env::consts::OS, "browser": "gatehouse", "device": "gatehouse" },
            } }),
        };
        link.send(&first).await?;
        // The first heartbeat is sent after a random part of the interval.
        let part = f64::from(source.inner.random.below(1000)) / 1000.0;
        Ok(Connection {
            link,
            heartbeat: Heartbeat {
                interval,
                next: Instant::now() + interval.mul_f64(part),
                is_acknowledged: true,
            },
        })
    }
}

/// Requests the gateway's address. Also checks whether another session may begin today.
async fn gateway_url(source: Source<'_>) -> Result<String, ReceiveError> {
    let answer = call(source, Method::GET, &["gateway", "bot"]).await?;
    if answer.status == 401 {
        return Err(refused_token());
    }
    let body = answer.response_json();
    answer.check(NOUN, body.seconds("/retry_after"))?;
    if body.number("/session_start_limit/remaining") == Some(0) {
        return Err(ReceiveError::Later {
            after: body.milliseconds("/session_start_limit/reset_after"),
            why: "Discord's daily limit on connections of this bot is reached.".to_owned(),
        });
    }
    Ok(body.text("/url").to_owned())
}

/// Returns the reaction that a close code requires
/// (<https://docs.discord.com/developers/topics/opcodes-and-status-codes#gateway-gateway-close-event-codes>).
pub(super) fn of_close_code(code: Option<u16>) -> Result<Next, ReceiveError> {
    let why = match code {
        Some(4004) => return Err(refused_token()),
        // An invalid sequence, and a session that timed out.
        Some(4007 | 4009) => return Ok(Next::Identify),
        Some(4010 | 4011) => {
            "Discord requires this bot to connect in several parts (shards), which is not supported."
        }
        Some(4012) => "Discord no longer supports this version of its gateway. Update Gatehouse.",
        Some(4013) => "Discord rejected the requested gateway intents (4013).",
        Some(4014) => {
            "Discord refused to send the texts of messages (4014). Turn on the Message Content Intent of the bot in the developer portal."
        }
        _ => return Ok(Next::Reconnect),
    };
    let why = why.to_owned();
    Err(ReceiveError::Stopped { why })
}
