//! Earlier messages that people quote or reply to.

use crate::error::SendError;
use crate::handle::Channels;
use crate::receive::ReceivedMessage;
use gatehouse_store::ReceivedMessageRow;
use serde::{Deserialize, Serialize};

/// The longest text of a quoted message. Most vendors allow about as much in a message.
const MAX_CHARS: usize = 4000;

/// The author of a quoted message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum QuotedAuthor {
    /// The person who quotes it.
    Person,
    /// The bot. The text may come from anywhere, because an account also sends the messages of
    /// webhooks.
    Bot,
    Other,
}

/// A quoted message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quote {
    pub by: QuotedAuthor,
    /// The author's name as it is shown; empty if unknown.
    pub name: String,
    /// The text, at most 4,000 characters.
    pub text: String,
}

impl Quote {
    /// Creates a quote. Cuts a text that is too long. Returns `None` for a message without text.
    pub(crate) fn of(by: QuotedAuthor, name: String, text: &str) -> Option<Self> {
        // PostgreSQL cannot store NUL characters.
        let text = text.trim().replace('\0', "\u{fffd}");
        let cut = text.char_indices().nth(MAX_CHARS).map(|(at, _)| at);
        let text = match cut.and_then(|at| text.get(..at)) {
            Some(cut) => format!("{cut}…"),
            None => text,
        };
        (!text.is_empty()).then_some(Self { by, name, text })
    }
}

/// The data about a quoted message when the message that quotes it arrives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReceivedQuote {
    Message(Quote),
    /// The vendor's ID of the message, which [`Channels::fetch_quote`] reads.
    Id(String),
}

/// Returns the quote of a stored message.
pub fn quote_of(row: &ReceivedMessageRow) -> Option<ReceivedQuote> {
    let read = serde_json::from_str(row.quote.as_deref()?);
    read.inspect_err(
        |error| tracing::error!(%error, "the stored quote of a message cannot be read"),
    )
    .ok()
}

/// Returns the stored form of a message's quote.
pub(crate) fn stored_quote(message: &ReceivedMessage) -> Option<String> {
    serde_json::to_string(message.quote.as_ref()?).ok()
}

impl Channels {
    /// Reads a message that `person` quotes, by its ID. Returns `None` if it has no text or cannot be read.
    pub async fn fetch_quote(
        &self,
        account_id: &str,
        (chat, person): (&str, &str),
        message_id: &str,
    ) -> Result<Option<Quote>, SendError> {
        let (opened, receiver) = self.0.open_receiver(account_id).await?;
        let source = self.0.source(&opened);
        let quote = receiver.fetch_quote(source, (chat, person), message_id);
        Ok(quote.await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_is_cut_at_its_limit() {
        let of = |text: &str| Quote::of(QuotedAuthor::Other, String::new(), text);
        assert_eq!(of(" \n"), None);
        assert_eq!(of("a\0b").unwrap().text, "a\u{fffd}b");
        let most = "ä".repeat(MAX_CHARS);
        assert_eq!(of(&most).unwrap().text, most);
        let cut = format!("{most}…");
        assert_eq!(of(&format!("{most}ä")).unwrap().text, cut);
    }

    #[test]
    fn a_quote_is_stored_with_its_message() {
        let quote = Quote::of(QuotedAuthor::Bot, "Bot".to_owned(), "hi");
        for quote in [
            quote.map(ReceivedQuote::Message),
            Some(ReceivedQuote::Id("$1".to_owned())),
        ] {
            let message = ReceivedMessage {
                quote: quote.clone(),
                ..ReceivedMessage::default()
            };
            let stored = stored_quote(&message).unwrap();
            assert_eq!(serde_json::from_str::<ReceivedQuote>(&stored).ok(), quote);
        }
        assert_eq!(stored_quote(&ReceivedMessage::default()), None);
    }
}
