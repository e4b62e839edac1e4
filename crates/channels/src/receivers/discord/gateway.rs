//! The connection to the gateway: sessions, heartbeats and reconnecting
//! (<https://docs.discord.com/developers/events/gateway#connection-lifecycle>).

use super::super::Source;
use super::super::link::Link;
use super::buttons::press_of;
use super::events::{Message, Payload, Ready, message_of, read};
use super::{NOUN, base, call, not_discord, refused_token};
use crate::error::Failure;
use crate::receive::{ReceiveError, Received, ReceivedMessage};
use crate::receivers::buttons::Press;
use gatehouse_outbound::SocketEvent;
use reqwest::Method;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::Instant;
use url::Url;

/// How long receiving waits for a message.
const WAIT: Duration = Duration::from_secs(30);
/// Messages in servers, direct messages, and their text
/// (<https://docs.discord.com/developers/events/gateway#gateway-intents>).
const INTENTS: u32 = (1 << 9) | (1 << 12) | (1 << 15);

/// The state needed to resume.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Session {
    id: String,
    /// The number of the last event.
    seq: u64,
    resume_url: String,
    bot_id: String,
    /// The account's address when the session began. An account whose address has changed must not connect to
    /// `resume_url`.
    #[serde(default)]
    base: String,
}

/// Sends heartbeats to the gateway and checks that they are answered.
#[derive(Debug)]
struct Heartbeat {
    interval: Duration,
    next: Instant,
    is_acknowledged: bool,
}

#[derive(Debug)]
struct Connection {
    link: Link,
    heartbeat: Heartbeat,
}

#[derive(Debug, Default)]
pub(super) struct Listening {
    connection: Option<Connection>,
    session: Option<Session>,
    /// The account's address.
    base: String,
    /// Whether the stored position was read.
    is_started: bool,
    /// Whether the last connection to the session's address failed.
    is_resume_url_bad: bool,
}

/// The effect of a payload.
enum Next {
    Wait,
    /// A session began.
    Begun,
    Message(Box<ReceivedMessage>),
    Press(Box<Press>),
    /// The connection must be replaced.
    Reconnect,
    /// The session cannot be resumed.
    Identify,
}

impl Listening {
    pub(super) fn close(&mut self) {
        self.connection = None;
    }

    pub(super) async fn listen(
        &mut self,
        source: Source<'_>,
        position: Option<&str>,
    ) -> Result<Received, ReceiveError> {
        if !std::mem::replace(&mut self.is_started, true) {
            base(&source).clone_into(&mut self.base);
            let stored = position.and_then(|text| serde_json::from_str::<Session>(text).ok());
            self.session = stored.filter(|session| session.base == self.base);
        }
        let until = Instant::now() + WAIT;
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.connect(source).await?,
        };
        loop {
            match self.step(&mut connection, until).await? {
                Next::Wait if Instant::now() < until => continue,
                Next::Wait => {
                    self.connection = Some(connection);
                    return Ok(self.received(Vec::new(), false));
                }
                Next::Begun => {
                    self.connection = Some(connection);
                    return Ok(self.received(Vec::new(), true));
                }
                Next::Message(message) => {
                    self.connection = Some(connection);
                    return Ok(self.received(vec![*message], false));
                }
                Next::Press(press) => {
                    self.connection = Some(connection);
                    return Ok(Received {
                        presses: vec![*press],
                        ..self.received(Vec::new(), false)
                    });
                }
                Next::Reconnect => connection.link.may_reopen(source)?,
                Next::Identify => {
                    if self.session.take().is_none() {
                        connection.link.may_reopen(source)?;
                    }
                    // "Wait a random amount of time—between 1 and 5 seconds".
                    let wait = 1000 + u64::from(source.inner.random.below(4000));
                    tokio::time::sleep(Duration::from_millis(wait)).await;
                }
            }
            connection = self.connect(source).await?;
        }
    }

    fn received(&self, messages: Vec<ReceivedMessage>, is_new_position: bool) -> Received {
        let session = self.session.as_ref();
        Received {
            position: session.and_then(|session| serde_json::to_string(session).ok()),
            is_new_position,
            messages,
            ..Received::default()
        }
    }

    /// Waits for one payload, or until a heartbeat is due or `until`.
    async fn step(
        &mut self,
        connection: &mut Connection,
        until: Instant,
    ) -> Result<Next, ReceiveError> {
        let due = connection.heartbeat.next;
        let read = connection.link.read();
        let Ok(event) = tokio::time::timeout_at(until.min(due), read).await else {
            if Instant::now() < due {
                return Ok(Next::Wait);
            }
            if !connection.heartbeat.is_acknowledged {
                // The connection is dead, although it is open.
                return Ok(Next::Reconnect);
            }
            connection.heartbeat.is_acknowledged = false;
            connection.heartbeat.next = Instant::now() + connection.heartbeat.interval;
            self.beat(connection).await?;
            return Ok(Next::Wait);
        };
        match event {
            Ok(SocketEvent::Text(text)) => self.take(connection, &text).await,
            Ok(SocketEvent::Alive) => Ok(Next::Wait),
            Ok(SocketEvent::Closed(code)) => of_close_code(code),
            Err(Failure::Unreachable(_)) => Ok(Next::Reconnect),
            Err(error) => Err(error.into()),
        }
    }

    async fn beat(&mut self, connection: &mut Connection) -> Result<(), Failure> {
        let seq = self.session.as_ref().map(|session| session.seq);
        connection.link.send(&json!({ "op": 1, "d": seq })).await
    }

    async fn take(
        &mut self,
        connection: &mut Connection,
        text: &str,
    ) -> Result<Next, ReceiveError> {
        let Ok(payload) = serde_json::from_str::<Payload>(text) else {
            return Ok(Next::Wait);
        };
        match payload.op {
            0 => Ok(self.dispatch(&payload)),
            1 => {
                self.beat(connection).await?;
                Ok(Next::Wait)
            }
            7 => Ok(Next::Reconnect),
            9 if payload.data::<bool>() == Some(true) => Ok(Next::Reconnect),
            9 => Ok(Next::Identify),
            11 => {
                connection.heartbeat.is_acknowledged = true;
                Ok(Next::Wait)
            }
            _ => Ok(Next::Wait),
        }
    }

    fn dispatch(&mut self, payload: &Payload) -> Next {
        if payload.event.as_deref() == Some("READY") {
            let Some(ready) = payload.data::<Ready>() else {
                return Next::Reconnect;
            };
            self.is_resume_url_bad = false;
            self.session = Some(Session {
                id: ready.session_id,
                seq: payload.seq.unwrap_or_default(),
                resume_url: ready.resume_gateway_url,
                bot_id: ready.user.id,
                base: self.base.clone(),
            });
            return Next::Begun;
        }
        let Some(session) = &mut self.session else {
            return Next::Wait;
        };
        session.seq = payload.seq.unwrap_or(session.seq);
        match payload.event.as_deref() {
            Some("RESUMED") => {
                self.is_resume_url_bad = false;
                Next::Wait
            }
            Some(event @ ("MESSAGE_CREATE" | "MESSAGE_UPDATE")) => {
                let is_edit = event == "MESSAGE_UPDATE";
                let message = payload
                    .data()
                    .filter(|it: &Message| !is_edit || it.is_edited())
                    .and_then(|it| message_of(it, &session.bot_id));
                message.map_or(Next::Wait, |message| Next::Message(Box::new(message)))
            }
            Some("INTERACTION_CREATE") => {
                let press = payload.data().and_then(press_of);
                press.map_or(Next::Wait, |press| Next::Press(Box::new(press)))
            }
            _ => Next::Wait,
        }
    }

    /// Connects, and resumes the session or begins one.
    async fn connect(&mut self, source: Source<'_>) -> Result<Connection, ReceiveError> {
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
        // The first heartbeat is after a random part of the interval.
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

/// Asks for the gateway's address, and whether another session may begin today.
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
fn of_close_code(code: Option<u16>) -> Result<Next, ReceiveError> {
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

#[cfg(test)]
mod tests;
