//! `slack`: Socket Mode (<https://docs.slack.dev/apis/events-api/using-socket-mode>). Slack sends events
//! over a WebSocket and repeats events that are not acknowledged.

mod buttons;
mod events;
mod files;
mod listen;
mod web_api;

use super::buttons::Buttons;
use super::link::Link;
use super::{Inbox, MAX_MEDIA, PlaceKeys, Receiver, Receiving, Source, VoiceFormat};
use crate::error::Failure;
use crate::media::Media;
use crate::receive::{ReceiveError, Received};
use crate::vendor::Limits;
use crate::vendor_apis::slack::BASE_URL;
use buttons::SlackButtons;
use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::json;
use std::collections::VecDeque;
use std::time::Duration;

const NOUN: &str = "Slack";
/// The time limit for waiting for an event.
const WAIT: Duration = Duration::from_secs(30);
const LIMITS: Limits = Limits {
    timeout: Duration::from_secs(10),
    bytes: 256 * 1024,
};
/// The maximum number of people's names in memory.
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
    /// The envelopes whose messages and presses were returned but not confirmed.
    unconfirmed: Vec<String>,
    /// Whether a ping is unanswered.
    is_quiet: bool,
    /// The number of consecutive connections that were not the app's only connection.
    crowded: u32,
    /// Whether Slack counted several connections while an old connection of this receiver was ending. `crowded` does
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
/// The interval at which the clock is read during that time.
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

impl Receiver for SlackReceiver {
    fn start(&self) -> Box<dyn Receiving> {
        Box::new(Listening::default())
    }

    fn inbox<'a>(&self, source: &'a Source<'a>) -> Option<Inbox<'a>> {
        // Slack sends each event of an app to one of its connections, independent of the event's workspace
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
