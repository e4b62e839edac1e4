//! The connection to the gateway: sessions, heartbeats and reconnecting
//! (<https://docs.discord.com/developers/events/gateway#connection-lifecycle>).

mod connect;
mod frames;

use super::super::Source;
use super::super::link::Link;
use super::base;
use crate::error::Failure;
use crate::receive::{ReceiveError, Received, ReceivedMessage};
use crate::receivers::buttons::Press;
use connect::of_close_code;
use gatehouse_outbound::SocketEvent;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::time::Duration;
use tokio::time::Instant;

/// How long receiving waits for a message.
const WAIT: Duration = Duration::from_secs(30);
/// Messages in servers, direct messages, and their text
/// (<https://docs.discord.com/developers/events/gateway#gateway-intents>).
const INTENTS: u32 = (1 << 9) | (1 << 12) | (1 << 15);

/// The data that is needed to resume a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Session {
    id: String,
    /// The number of the last event.
    seq: u64,
    resume_url: String,
    bot_id: String,
    /// The account's address when the session began. If the address has changed since then, the account must not
    /// connect to `resume_url`.
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
                    // Discord requires: "Wait a random amount of time—between 1 and 5 seconds".
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

    /// Waits for one payload. Returns when a heartbeat is due or `until` is reached.
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
                // The heartbeat was not answered, so the connection is dead, although it is still
                // open.
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
}

#[cfg(test)]
mod tests;
