//! Sends a message: resolves the account, splits the text and sends the parts in order.

mod test_message;

use crate::error::{ChannelsError, Failure, SendError};
use crate::handle::{Channels, Inner};
use crate::metrics;
use crate::outgoing::Outgoing;
use crate::response::{LastResponse, SendResponse};
use crate::senders::Part;
use crate::split::split;
use crate::target::{OpenAccount, StoredAccount, TargetError};
use data_encoding::HEXLOWER;
use gatehouse_domain::trace::{self, SpanKind};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The maximum size of a text that a caller sends, in bytes.
const MAX_TEXT_BYTES: usize = 64 * 1024;

/// The result of a send, with the vendor's response.
#[derive(Debug)]
pub struct SendReport {
    pub result: Result<(), SendError>,
    /// The last response, if the channel uses HTTP and the vendor responded.
    pub response: Option<SendResponse>,
}

impl Channels {
    /// Sends a message. After [`SendError::Retry`], the caller may send the same message again. The crate's
    /// documentation describes which parts a retry sends.
    pub async fn send(&self, message: Outgoing<'_>) -> Result<(), SendError> {
        self.send_reported(message).await.result
    }

    /// Does the same as [`Self::send`]. `key` distinguishes the message from others without a delivery that have
    /// the same text and time. It is equal for each attempt to send the message.
    pub async fn send_keyed(&self, message: Outgoing<'_>, key: &str) -> Result<(), SendError> {
        self.send_as(message, Some(key)).await.result
    }

    /// Does the same as [`Self::send`], and also returns the vendor's response.
    pub async fn send_reported(&self, message: Outgoing<'_>) -> SendReport {
        self.send_as(message, None).await
    }

    async fn send_as(&self, message: Outgoing<'_>, key: Option<&str>) -> SendReport {
        let inner = &self.0;
        let account = match inner.account_for(&message).await {
            Ok(account) => account,
            Err(failure) => {
                return SendReport {
                    result: Err(failure.into()),
                    response: None,
                };
            }
        };
        let id = match key {
            Some(key) => message.keyed_id(&account.id, key),
            None => message.id(&account.id),
        };
        let response = LastResponse::default();
        let sent = inner.deliver(&account, &message, &id, &response).await;
        SendReport {
            response: response.shown(&account, sent.is_ok()),
            result: sent.map_err(SendError::from),
        }
    }

    /// Sends a text to a target. Does not retry. `source` is the sender's name. The text cannot mention people or hide
    /// a link.
    pub async fn send_text(
        &self,
        target: &str,
        text: &str,
        source: &str,
    ) -> Result<(), ChannelsError> {
        if text.trim().is_empty() || text.len() > MAX_TEXT_BYTES {
            return Err(ChannelsError::invalid("text", "expected 1 byte to 64 KiB"));
        }
        let inner = &self.0;
        let live = inner.find_target(target).await;
        let live = live.map_err(|error| match error {
            TargetError::Store(error) => error.into(),
            other => ChannelsError::invalid("target", other.reason()),
        })?;
        let sender = live.found.sender;
        let (text, extra) = (sender.markup().escape_answer(text), BTreeMap::new());
        let message = Outgoing {
            target,
            text: &text,
            is_json: false,
            extra: &extra,
            source,
            at: inner.clock.now(),
            delivery: None,
            pictures: &[],
            links: &[],
        };
        let sent = async {
            live.found.require_enabled()?;
            let account = live.open(inner).await?;
            // Each call is a new message, even if the text is the same, because the message is never retried.
            let id = HEXLOWER.encode(&inner.random.bytes::<16>());
            let response = LastResponse::default();
            inner.deliver(&account, &message, &id, &response).await
        };
        sent.await
            .map_err(|failure| failure.of_one_attempt(sender.about().kind))
    }
}

impl StoredAccount {
    fn require_enabled(&self) -> Result<(), Failure> {
        if self.row.enabled {
            return Ok(());
        }
        let id = &self.row.id;
        Err(Failure::Disabled(format!(
            "The channel `{id}` is disabled."
        )))
    }
}

impl Inner {
    /// Opens the account that the message goes to.
    async fn account_for(&self, message: &Outgoing<'_>) -> Result<Arc<OpenAccount>, Failure> {
        let live = self.find_target(message.target).await?;
        live.found.require_enabled()?;
        if message.is_json && !live.found.sender.about().takes_json {
            let why = "This channel does not accept JSON. Choose another one, or send text.";
            return Err(Failure::refused(why));
        }
        live.open(self).await
    }

    async fn deliver(
        &self,
        account: &OpenAccount,
        message: &Outgoing<'_>,
        id: &str,
        response: &LastResponse,
    ) -> Result<(), Failure> {
        let kind = account.sender.about().kind;
        let mut span = trace::child("channel.send", SpanKind::Client);
        span.set("gatehouse.channel.type", kind);
        let sent = span
            .run(self.send_parts(account, message, id, response))
            .await;
        metrics::sent(kind, &sent);
        match &sent {
            Err(failure) => span.fail(failure.kind()),
            Ok(()) if message.delivery.is_none() => self.note_accepted(&account.id),
            Ok(()) => {}
        }
        sent
    }

    /// Sends the parts that the vendor has not accepted yet, and the pictures. Afterwards, `response` contains the
    /// response to the last text that was sent.
    async fn send_parts(
        &self,
        account: &OpenAccount,
        message: &Outgoing<'_>,
        id: &str,
        response: &LastResponse,
    ) -> Result<(), Failure> {
        let parts = split(message.text, account.sender.limit());
        let is_followed = !message.pictures.is_empty() && !account.sender.attaches_pictures();
        let several = parts.len() > 1 || is_followed;
        let sent = if several {
            self.parts_sent(id).await?
        } else {
            0
        };
        if parts.is_empty() && !is_followed {
            return Err(Failure::refused("There is no text to send."));
        }
        for (number, text) in parts.iter().enumerate().skip(sent) {
            let is_last = number + 1 == parts.len();
            let part = Part {
                inner: self,
                account,
                message,
                text: text.as_ref(),
                links: if is_last { message.links } else { &[] },
                number,
                id,
                response,
            };
            response.forget();
            match account.sender.send(part).await {
                Ok(()) if several => self.note_parts(id, number + 1).await?,
                Ok(()) => {}
                Err(failure) => {
                    if several && !failure.may_be_repeated() {
                        self.forget_parts(id).await;
                    }
                    return Err(failure);
                }
            }
        }
        if is_followed {
            let first = Part {
                inner: self,
                account,
                message,
                text: "",
                links: &[],
                number: parts.len(),
                id,
                response,
            };
            self.send_pictures(first, sent).await?;
        }
        // The caller stores the result of a delivery afterward. If the process ends before that, the delivery is
        // attempted again, but the parts that were sent must not be sent again. A delivery therefore keeps the record
        // of its sent parts. A message with pictures keeps it too, because most vendors cannot recognize a repeated
        // picture.
        if several && !is_followed && message.delivery.is_none() {
            self.forget_parts(id).await;
        }
        Ok(())
    }
}
