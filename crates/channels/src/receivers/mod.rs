//! Receives messages, one file per channel type. A receiver implements its vendor's wire format and decides which
//! messages are meant for the bot. It decides nothing about people.

pub(crate) mod telegram;

use crate::error::Failure;
use crate::handle::Inner;
use crate::receive::{ReceiveError, Received};
use crate::target::OpenAccount;
use futures_util::future::BoxFuture;
use secrecy::ExposeSecret;
use serde_json::Value;
use std::collections::VecDeque;

/// How many messages are remembered to find out whether an edit changed a text.
const REMEMBERED: usize = 256;

/// What a receiver keeps between its requests, for one account.
#[derive(Debug, Default)]
pub struct ReceiverState {
    /// The bot's own ID and name at the vendor, once they are known.
    pub(crate) bot: Option<Bot>,
    /// The texts of the last messages.
    texts: VecDeque<(MessageKey, String)>,
}

/// The vendor's IDs of a conversation and of a message in it.
type MessageKey = (i64, i64);

/// The bot at the vendor.
#[derive(Clone, Debug)]
pub(crate) struct Bot {
    pub(crate) id: i64,
    pub(crate) username: String,
}

impl ReceiverState {
    /// Remembers a text. Returns the earlier text of the same message.
    pub(crate) fn remember(&mut self, key: MessageKey, text: &str) -> Option<String> {
        if let Some((_, known)) = self.texts.iter_mut().find(|(known, _)| *known == key) {
            return Some(std::mem::replace(known, text.to_owned()));
        }
        if self.texts.len() >= REMEMBERED {
            self.texts.pop_front();
        }
        self.texts.push_back((key, text.to_owned()));
        None
    }
}

/// The account that a receiver works for.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) inner: &'a Inner,
    pub(crate) account: &'a OpenAccount,
}

impl Source<'_> {
    /// Returns a field of the account that is not secret.
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        self.account.fields.get(name).and_then(Value::as_str)
    }

    /// Returns a secret that the account requires.
    pub(crate) fn need_secret(&self, name: &'static str) -> Result<&str, Failure> {
        let secret = self.account.secrets.get(name);
        secret
            .map(ExposeSecret::expose_secret)
            .ok_or_else(|| Failure::incomplete(name, "the channel has none"))
    }
}

/// Receives the messages of a channel type.
pub(crate) trait Receiver: Send + Sync {
    /// Waits for messages, at most about half a minute. `next` is the first update that is wanted.
    fn receive<'a>(
        &'a self,
        source: Source<'a>,
        state: &'a mut ReceiverState,
        next: Option<i64>,
    ) -> BoxFuture<'a, Result<Received, ReceiveError>>;

    /// Fetches a file of a message; `None` if it is larger than `max_bytes`.
    fn fetch_file<'a>(
        &'a self,
        source: Source<'a>,
        file_id: &'a str,
        max_bytes: usize,
    ) -> BoxFuture<'a, Result<Option<Vec<u8>>, Failure>>;

    /// Shows in a conversation that an answer is being written.
    fn show_typing<'a>(
        &'a self,
        source: Source<'a>,
        chat: &'a str,
        thread: Option<&'a str>,
    ) -> BoxFuture<'a, Result<(), Failure>>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_is_compared_with_the_text_before_it() {
        let mut state = ReceiverState::default();
        assert_eq!(state.remember((1, 1), "a"), None);
        assert_eq!(state.remember((1, 1), "b").as_deref(), Some("a"));
        assert_eq!(state.remember((1, 1), "b").as_deref(), Some("b"));
        for id in 0..300 {
            state.remember((2, id), "c");
        }
        assert_eq!(state.texts.len(), REMEMBERED);
        assert_eq!(state.remember((1, 1), "b"), None);
    }
}
