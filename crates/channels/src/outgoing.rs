//! An outgoing message.

use crate::media::Picture;
use data_encoding::HEXLOWER;
use gatehouse_domain::Timestamp;
use gatehouse_domain::id::{DeliveryId, WebhookId};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// The key in `extra` of an [`Outgoing`] for the ID of the received message that is answered, as the receiver returned
/// it. If the vendor has replies, the first part of the text is sent as a reply to that message.
pub const REPLY_TO: &str = "reply_to";

/// A message and its target.
#[derive(Clone, Copy, Debug)]
pub struct Outgoing<'a> {
    /// `type` or `type:account_id`.
    pub target: &'a str,
    /// The rendered text. May be empty if there are pictures.
    pub text: &'a str,
    /// Whether the text is JSON that is sent unchanged, without `extra`. Only for targets of [`takes_json`].
    ///
    /// [`takes_json`]: crate::takes_json
    pub is_json: bool,
    /// Additional values that the channel type accepts, such as `chat_id`. Never an address.
    pub extra: &'a BTreeMap<String, String>,
    /// The sender, such as a webhook's name.
    pub source: &'a str,
    /// When the reported event happened. Equal for each attempt to send the message.
    pub at: Timestamp,
    /// The delivery that the message reports, if any.
    pub delivery: Option<OfDelivery<'a>>,
    /// The pictures. They are sent after the text and are equal for each attempt. A picture that cannot be sent does
    /// not fail the message.
    pub pictures: &'a [Picture],
    /// Links that the channel shows as buttons, if it can. The text must contain the same information for people
    /// without buttons.
    pub links: &'a [MessageLink<'a>],
}

/// A link that a button opens. Only Gatehouse creates links, never a template or an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageLink<'a> {
    pub label: &'a str,
    pub url: &'a str,
}

/// A delivery of a webhook.
#[derive(Clone, Copy, Debug)]
pub struct OfDelivery<'a> {
    pub webhook_id: &'a WebhookId,
    pub delivery_id: &'a DeliveryId,
}

impl Outgoing<'_> {
    /// Returns the ID of the message. It is equal for each attempt, and differs from the ID of every other message.
    /// Without a delivery, only the account, text, extra values, source and time distinguish messages.
    pub(crate) fn id(&self, account_id: &str) -> String {
        let whole = serde_json::json!([
            account_id,
            self.text,
            self.extra,
            self.source,
            self.at.as_millis(),
            self.delivery.map(|of| of.delivery_id.as_str()),
        ]);
        let digest = Sha256::digest(whole.to_string());
        HEXLOWER.encode(digest.get(..16).unwrap_or_default())
    }

    /// Returns the ID like [`Self::id`]. `key` distinguishes messages without a delivery that have the same text and
    /// time.
    pub(crate) fn keyed_id(&self, account_id: &str, key: &str) -> String {
        let whole = serde_json::json!([self.id(account_id), key]);
        let digest = Sha256::digest(whole.to_string());
        HEXLOWER.encode(digest.get(..16).unwrap_or_default())
    }

    /// Returns a value from `extra` as a single line, for a header, an ID or a path segment. Removes control
    /// characters. Returns `None` if the result is empty.
    pub(crate) fn extra(&self, name: &str) -> Option<String> {
        self.extra
            .get(name)
            .map(|value| one_line(value))
            .filter(|value| !value.is_empty())
    }
}

/// Removes control characters, line separators and surrounding space.
pub(crate) fn one_line(text: &str) -> String {
    let kept = text
        .chars()
        .filter(|c| !c.is_control() && !matches!(c, '\u{2028}' | '\u{2029}'));
    kept.collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_difference_makes_another_message() {
        let (none, some) = (
            BTreeMap::new(),
            BTreeMap::from([("to".to_owned(), "x".to_owned())]),
        );
        let message = Outgoing {
            target: "log",
            text: "text",
            is_json: false,
            extra: &none,
            source: "source",
            at: Timestamp::from_millis(1),
            delivery: None,
            pictures: &[],
            links: &[],
        };
        let id = message.id("a");
        assert_eq!(id.len(), 32);
        assert_eq!(id, message.id("a"));
        assert_ne!(id, message.id("b"));
        assert_ne!(
            id,
            Outgoing {
                text: "texts",
                ..message
            }
            .id("a")
        );
        assert_ne!(
            id,
            Outgoing {
                extra: &some,
                ..message
            }
            .id("a")
        );
        assert_ne!(
            id,
            Outgoing {
                source: "s",
                ..message
            }
            .id("a")
        );
        let (webhook_id, one) = (WebhookId::from_text("hook"), DeliveryId::from_text("one"));
        let two = DeliveryId::from_text("two");
        let of = |delivery_id| {
            let delivery = Some(OfDelivery {
                webhook_id: &webhook_id,
                delivery_id,
            });
            Outgoing {
                delivery,
                ..message
            }
            .id("a")
        };
        assert_eq!(of(&one), of(&one));
        assert_ne!(of(&one), of(&two));
        assert_ne!(of(&one), id);
        let at = Timestamp::from_millis(2);
        assert_ne!(id, Outgoing { at, ..message }.id("a"));
        let keyed = message.keyed_id("a", "k");
        assert_eq!(keyed.len(), 32);
        assert_eq!(keyed, message.keyed_id("a", "k"));
        let others = [id, message.keyed_id("a", "l"), message.keyed_id("b", "k")];
        assert!(!others.contains(&keyed));
    }

    #[test]
    fn a_header_like_value_is_one_line() {
        assert_eq!(one_line(" a\r\nBcc: b\0\u{85}\u{2028}c\t"), "aBcc: bc");
        assert_eq!(one_line("\r\n"), "");
    }
}
