//! `slack`: Socket Mode (<https://docs.slack.dev/apis/events-api/using-socket-mode>). Slack sends events
//! over a WebSocket and repeats events that are not acknowledged.

mod buttons;
mod events;
mod files;
mod web_api;

use super::buttons::Buttons;
use super::link::Link;
use super::{Inbox, MAX_MEDIA, PlaceKeys, Receiver, Receiving, Source, VoiceFormat, display_name};
use crate::error::Failure;
use crate::media::Media;
use crate::receive::{ReceiveError, Received};
use crate::vendor::Limits;
use crate::vendor_apis::slack::BASE_URL;
use buttons::{SlackButtons, press_of};
use events::{Envelope, message_of};
use futures_util::future::BoxFuture;
use gatehouse_outbound::SocketEvent;
use serde::Deserialize;
use serde_json::json;
use std::collections::VecDeque;
use std::time::Duration;
use tokio::time::Instant;
use web_api::{call, not_slack, own_id};

const NOUN: &str = "Slack";
/// How long receiving waits for an event.
const WAIT: Duration = Duration::from_secs(30);
const LIMITS: Limits = Limits {
    timeout: Duration::from_secs(10),
    bytes: 256 * 1024,
};
/// How many names of people are remembered.
const NAMES: usize = 256;
/// The timeout for looking up a person's name. Slack repeats an event that is not acknowledged within three seconds.
const NAME_LIMIT: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(crate) struct SlackReceiver;

#[derive(Debug, Default)]
struct Listening {
    link: Option<Link>,
    /// The bot's user ID, once it is known.
    me: Option<String>,
    /// The names of people by their IDs.
    names: VecDeque<(String, String)>,
    /// The envelopes whose messages and presses were returned and are not confirmed.
    unconfirmed: Vec<String>,
    /// Whether a ping has no answer yet.
    is_quiet: bool,
    /// Number of connections in a row that were not the app's only connection.
    crowded: u32,
    /// Whether Slack counted several connections while an old one of this receiver was ending. `crowded` does
    /// not count such a case.
    is_unsure: bool,
}

/// Slack sends each event to one of an app's connections. It may briefly count a connection that has ended. Another
/// program is therefore reported only if Slack counts several connections twice in a row.
const CROWDED: &str = "Another program is connected to Slack with this app and receives a part of its messages. Stop \
                       it, or create another app.";
/// Delays in milliseconds before a connection is replaced to count again: after the first crowded connection, and
/// after later ones.
const LOOK_AGAIN_MS: (u64, u64) = (60_000, 300_000);
/// How long Slack may still count a closed connection, in milliseconds. A connection that opens after this time is
/// counted alone.
const UNCOUNTED_MS: u64 = 5_000;
/// How often the clock is read during that time.
const STEP: Duration = Duration::from_millis(100);

#[derive(Deserialize)]
struct Hello {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    num_connections: u32,
}

impl Receiving for Listening {
    fn receive<'a>(
        &'a mut self,
        source: Source<'a>,
        _position: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Received, ReceiveError>> {
        Box::pin(async move {
            let received = self.listen(source).await;
            if received.is_err() {
                self.link = None;
            }
            received
        })
    }

    fn confirm<'a>(
        &'a mut self,
        _source: Source<'a>,
        _accepted: &'a [String],
    ) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async move {
            let Some(link) = &mut self.link else {
                return Ok(());
            };
            for envelope in std::mem::take(&mut self.unconfirmed) {
                link.send(&json!({ "envelope_id": envelope })).await?;
            }
            Ok(())
        })
    }
}

impl Listening {
    async fn listen(&mut self, source: Source<'_>) -> Result<Received, ReceiveError> {
        let me = match &self.me {
            Some(me) => me.clone(),
            None => own_id(source).await?,
        };
        self.me = Some(me.clone());
        // Slack sends the events of an earlier result again, if they were not confirmed.
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
            // Slack adds kinds of messages. Only envelopes need an answer.
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

    /// Replaces a connection that Slack ends. Slack may still count the old one, so a count above one does not
    /// prove that there is another program. A count of one proves that there is none.
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

    /// Closes the connection and opens another when Slack no longer counts it.
    async fn look_again(&mut self, source: Source<'_>, old: Link) -> Result<Link, ReceiveError> {
        let clock = &source.inner.clock;
        let until = clock.monotonic_ms().saturating_add(UNCOUNTED_MS);
        old.close().await;
        while clock.monotonic_ms() < until {
            tokio::time::sleep(STEP).await;
        }
        self.open(source).await
    }

    /// Opens a connection. Also returns how many connections Slack counts.
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

    /// Whether the connection must be replaced to find out if it is the only one.
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

    /// The name of a person, or the ID if Slack does not return the name.
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
        // An unknown name is cached as well, so that it is not requested again for each message.
        let name = display_name(name.unwrap_or_default(), person);
        if self.names.len() >= NAMES {
            self.names.pop_front();
        }
        self.names.push_back((person.to_owned(), name.clone()));
        name
    }
}

impl Receiver for SlackReceiver {
    fn start(&self) -> Box<dyn Receiving> {
        Box::new(Listening::default())
    }

    fn inbox<'a>(&self, source: &'a Source<'a>) -> Option<Inbox<'a>> {
        // Slack sends each event of an app to one of its connections, whichever workspace the event is from
        // (<https://docs.slack.dev/apis/events-api/using-socket-mode>). Accounts of several workspaces would therefore
        // receive messages that they cannot answer.
        let token = source.need_secret("app_token").ok()?;
        let base = source.field("base_url").unwrap_or(BASE_URL);
        Some(Inbox::of_token(base, token))
    }

    fn place_keys(&self) -> PlaceKeys {
        PlaceKeys {
            chat: "channel",
            thread: Some("thread_ts"),
        }
    }

    fn buttons(&self) -> Option<&'static dyn Buttons> {
        Some(&SlackButtons)
    }

    fn fetch_file<'a>(
        &'a self,
        source: Source<'a>,
        file_id: &'a str,
        max_bytes: usize,
    ) -> BoxFuture<'a, Result<Option<Vec<u8>>, Failure>> {
        Box::pin(files::fetch(source, file_id, max_bytes))
    }

    fn voice(&self) -> Option<VoiceFormat> {
        Some(files::VOICE)
    }

    fn max_picture_bytes(&self) -> Option<usize> {
        Some(MAX_MEDIA)
    }

    fn send_media<'a>(
        &'a self,
        source: Source<'a>,
        chat: &'a str,
        thread: Option<&'a str>,
        media: &'a Media,
    ) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(files::send_media(source, chat, thread, media))
    }
}
