//! The connection of an account, and the messages that arrive on it.

use super::buttons::press_of;
use super::events::{Envelope, message_of};
use super::web_api::{call, not_slack, own_id};
use super::{
    CROWDED, Hello, LOOK_AGAIN_MS, Listening, NAME_LIMIT, NAMES, NOUN, STEP, UNCOUNTED_MS, WAIT,
};
use crate::error::Failure;
use crate::receive::{ReceiveError, Received};
use crate::receivers::link::Link;
use crate::receivers::{Source, display_name};
use crate::vendor_apis::slack::BASE_URL;
use gatehouse_outbound::SocketEvent;
use serde_json::json;
use tokio::time::Instant;

impl Listening {
    pub(super) async fn listen(&mut self, source: Source<'_>) -> Result<Received, ReceiveError> {
        let me = match &self.me {
            Some(me) => me.clone(),
            None => own_id(source).await?,
        };
        self.me = Some(me.clone());
        // Slack repeats the events of an earlier result if they were not confirmed.
        self.unconfirmed.clear();
        let mut link = match self.link.take() {
            Some(link) if self.must_look_again(source, &link) => {
                self.look_again(source, link).await?
            }
            Some(link) => link,
            None => self.open(source).await?,
        };
        let until = Instant::now() + WAIT;
        loop {
            let Ok(event) = tokio::time::timeout_at(until, link.read()).await else {
                if std::mem::replace(&mut self.is_quiet, true) {
                    return Err(Failure::later("Slack no longer answers.").into());
                }
                link.ping().await?;
                self.link = Some(link);
                return Ok(self.received());
            };
            self.is_quiet = false;
            let text = match event? {
                SocketEvent::Text(text) => text,
                SocketEvent::Alive => continue,
                SocketEvent::Closed(_) => {
                    link = self.replace(source, link).await?;
                    continue;
                }
            };
            // Slack may add kinds of messages. Only envelopes need an answer.
            let Ok(envelope) = serde_json::from_str::<Envelope>(&text) else {
                continue;
            };
            if envelope.kind == "disconnect" {
                if envelope.reason.as_deref() == Some("link_disabled") {
                    let why = "Socket Mode is turned off for the Slack app. Turn it on.".to_owned();
                    return Err(ReceiveError::Stopped { why });
                }
                link = self.replace(source, link).await?;
                continue;
            }
            let Some(id) = &envelope.envelope_id else {
                continue;
            };
            if let Some(press) = press_of(&envelope) {
                self.unconfirmed.push(id.clone());
                self.link = Some(link);
                return Ok(Received {
                    presses: vec![press],
                    ..self.received()
                });
            }
            let Some(mut message) = message_of(&envelope, &me) else {
                link.send(&json!({ "envelope_id": id })).await?;
                continue;
            };
            message.name = self.name_of(source, &message.person).await;
            self.unconfirmed.push(id.clone());
            self.link = Some(link);
            return Ok(Received {
                messages: vec![message],
                ..self.received()
            });
        }
    }

    /// Opens a connection and counts whether it is the only one.
    async fn open(&mut self, source: Source<'_>) -> Result<Link, ReceiveError> {
        let (link, count) = self.connect(source).await?;
        self.is_unsure = false;
        self.crowded = if count > 1 {
            self.crowded.saturating_add(1)
        } else {
            0
        };
        Ok(link)
    }

    /// Replaces a connection that Slack ends. Slack may still count the old connection, so a count above one does not
    /// prove that another program is connected. A count of one proves that no other program is.
    async fn replace(&mut self, source: Source<'_>, old: Link) -> Result<Link, ReceiveError> {
        old.may_reopen(source)?;
        let (link, count) = self.connect(source).await?;
        self.is_unsure = count > 1;
        if !self.is_unsure {
            self.crowded = 0;
        }
        old.close().await;
        Ok(link)
    }

    /// Closes the connection, and opens another one when Slack no longer counts the old one.
    async fn look_again(&mut self, source: Source<'_>, old: Link) -> Result<Link, ReceiveError> {
        let clock = &source.inner.clock;
        let until = clock.monotonic_ms().saturating_add(UNCOUNTED_MS);
        old.close().await;
        while clock.monotonic_ms() < until {
            tokio::time::sleep(STEP).await;
        }
        self.open(source).await
    }

    /// Opens a connection. Also returns the number of connections that Slack counts.
    async fn connect(&mut self, source: Source<'_>) -> Result<(Link, u32), ReceiveError> {
        self.is_quiet = false;
        let opened = call(source, "apps.connections.open", "app_token", &[]).await?;
        let base = source.field("base_url").unwrap_or(BASE_URL);
        let mut link = Link::open(source, NOUN, base, opened.text("/url")).await?;
        let hello = link.read_first().await?;
        let hello: Option<Hello> = serde_json::from_str(&hello).ok();
        let hello = hello.filter(|hello| hello.kind == "hello");
        let count = hello.ok_or_else(not_slack)?.num_connections;
        Ok((link, count))
    }

    /// Returns whether the connection must be replaced to check whether it is the only one.
    fn must_look_again(&self, source: Source<'_>, link: &Link) -> bool {
        let (first, later) = LOOK_AGAIN_MS;
        match self.crowded {
            0 if !self.is_unsure => false,
            0 | 1 => link.age_ms(source) >= first,
            _ => link.age_ms(source) >= later,
        }
    }

    fn received(&self) -> Received {
        Received {
            warning: (self.crowded > 1).then_some(CROWDED),
            ..Received::default()
        }
    }

    /// Returns the name of a person, or the ID if Slack does not return the name.
    async fn name_of(&mut self, source: Source<'_>, person: &str) -> String {
        if let Some((_, name)) = self.names.iter().find(|(id, _)| id == person) {
            return name.clone();
        }
        let user = [("user", person)];
        let asking = call(source, "users.info", "bot_token", &user);
        let found = tokio::time::timeout(NAME_LIMIT, asking).await;
        let found = found.ok().and_then(Result::ok);
        let fields = [
            "/user/profile/display_name",
            "/user/real_name",
            "/user/name",
        ];
        let names = found
            .iter()
            .flat_map(|found| fields.map(|field| found.text(field)));
        let name = names.into_iter().find(|name| !name.trim().is_empty());
        // A missing name is cached too. Otherwise, each message would request it again.
        let name = display_name(name.unwrap_or_default(), person);
        if self.names.len() >= NAMES {
            self.names.pop_front();
        }
        self.names.push_back((person.to_owned(), name.clone()));
        name
    }
}
