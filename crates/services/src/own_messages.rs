//! Messages of the gateway itself to a channel.

use crate::Services;
use gatehouse_channels::{Channels, MessageLink, Outgoing, SendError};
use gatehouse_domain::Timestamp;
use std::collections::BTreeMap;
use std::time::Duration;

/// The sender's name in the gateway's own messages.
pub(crate) const SOURCE: &str = "Gatehouse";

/// A message to a channel.
pub(crate) struct OwnMessage<'a> {
    /// `type` or `type:account`.
    pub(crate) target: &'a str,
    /// The subject of a mail, and the title on ntfy. Other channels do not show it.
    pub(crate) title: Option<&'a str>,
    /// The text, escaped for the channel.
    pub(crate) text: &'a str,
    pub(crate) at: Timestamp,
    /// Links that the channel shows as buttons, if it can.
    pub(crate) links: &'a [MessageLink<'a>],
}

impl Services {
    /// Sends a message once. Returns the delay before the next attempt, which is the vendor's or `retry_after`.
    /// Returns `None` if the channel accepted the message or never will.
    pub(crate) async fn try_own_message(
        &self,
        message: OwnMessage<'_>,
        retry_after: Duration,
    ) -> Option<Duration> {
        let OwnMessage {
            target,
            title,
            text,
            at,
            links,
        } = message;
        let titled = title.zip(Channels::title_key(target));
        let extra: BTreeMap<_, _> = titled
            .map(|(title, key)| (key.to_owned(), title.to_owned()))
            .into_iter()
            .collect();
        let message = Outgoing {
            target,
            text,
            is_json: false,
            extra: &extra,
            source: SOURCE,
            at,
            delivery: None,
            pictures: &[],
            links,
        };
        let error = self.channels.send(message).await.err()?;
        tracing::warn!(target, %error, "a message to a channel was not sent");
        match error {
            SendError::Retry { after, .. } => Some(after.unwrap_or(retry_after)),
            SendError::Unreachable { .. } | SendError::Sealed => Some(retry_after),
            SendError::Disabled { .. } | SendError::GiveUp { .. } => None,
        }
    }
}
