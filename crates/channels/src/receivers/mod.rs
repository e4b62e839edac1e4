//! Receives messages, one file per channel type. A receiver implements its vendor's wire format and decides which
//! messages are meant for the bot. It makes no decisions about people.

pub(crate) mod buttons;
pub(crate) mod discord;
mod download;
pub(crate) mod email;
mod inbox;
mod link;
pub(crate) mod matrix;
mod media;
mod names;
pub(crate) mod slack;
pub(crate) mod telegram;

use self::buttons::Buttons;
use crate::error::Failure;
use crate::files::{FetchedFile, FileLimits};
use crate::handle::Inner;
use crate::media::Media;
use crate::quotes::Quote;
use crate::receive::{ReceiveError, Received, ReceivedFile};
use crate::target::OpenAccount;
use futures_util::future::BoxFuture;
pub(crate) use inbox::Inbox;
pub(crate) use media::{MAX_MEDIA, VoiceFormat};
pub(crate) use names::{display_name, file_name, with_unread};
use secrecy::ExposeSecret;
use serde_json::Value;
use std::fmt;
use std::time::Duration;

/// The maximum number of files of a message. The agent accepts the same number.
pub(crate) const MAX_FILES: usize = 10;

/// The state that a receiver keeps for one account between its requests. Dropping it closes the receiver's connection.
/// Unconfirmed messages are then received again.
#[derive(Default)]
pub struct ReceiverState(pub(crate) Option<Box<dyn Receiving>>);

impl fmt::Debug for ReceiverState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReceiverState").finish_non_exhaustive()
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

/// Receives the messages of one account.
pub(crate) trait Receiving: Send {
    /// Waits for messages. Returns after about half a minute if there are none, and always within 75 seconds.
    /// `position` is where receiving continues.
    fn receive<'a>(
        &'a mut self,
        source: Source<'a>,
        position: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Received, ReceiveError>>;

    /// Confirms the messages after they are stored. `accepted` lists the conversations whose invitations are accepted.
    fn confirm<'a>(
        &'a mut self,
        _source: Source<'a>,
        _accepted: &'a [String],
    ) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async { Ok(()) })
    }
}

/// The keys of `deliver_extra` that name a conversation, and a topic or thread in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlaceKeys {
    pub(crate) chat: &'static str,
    pub(crate) thread: Option<&'static str>,
}

/// Receives the messages of a channel type.
pub(crate) trait Receiver: Send + Sync {
    /// Starts receiving for an account.
    fn start(&self) -> Box<dyn Receiving>;

    /// Identifies the messages of an account. Returns `None` if the account lacks a value.
    fn inbox<'a>(&self, source: &'a Source<'a>) -> Option<Inbox<'a>>;

    /// Returns the keys that address an answer.
    fn place_keys(&self) -> PlaceKeys;

    /// Asks questions with buttons, if the vendor has them.
    fn buttons(&self) -> Option<&'static dyn Buttons> {
        None
    }

    /// Returns the time without messages after which the vendor may restart its numbering.
    fn forgets_after(&self) -> Option<Duration> {
        None
    }

    /// Fetches a file of a message. Returns `None` if the file is larger than `max_bytes`.
    fn fetch_file<'a>(
        &'a self,
        _source: Source<'a>,
        _file_id: &'a str,
        _max_bytes: usize,
    ) -> BoxFuture<'a, Result<Option<Vec<u8>>, Failure>> {
        Box::pin(async { Err(Failure::refused("Files of this channel cannot be fetched.")) })
    }

    /// Fetches files of one message. Each file has its own outcome, in the same order. Ends after the first temporary
    /// failure, because all files are then fetched again.
    fn fetch_files<'a>(
        &'a self,
        source: Source<'a>,
        file_ids: &'a [&'a str],
        limits: FileLimits,
    ) -> BoxFuture<'a, Result<Vec<Result<FetchedFile, Failure>>, Failure>> {
        Box::pin(async move {
            let (mut fetched, mut used) = (Vec::new(), 0_usize);
            for &id in file_ids {
                let at_most = limits.next(used);
                let fetching = self.fetch_file(source, id, at_most);
                let found = tokio::time::timeout(limits.time, fetching).await;
                let found = found.unwrap_or_else(|_| {
                    Err(Failure::unreachable("The file was not fetched in time."))
                });
                used += found
                    .as_ref()
                    .map_or(0, |data| data.as_ref().map_or(0, Vec::len));
                let is_last = found.as_ref().is_err_and(|failure| !failure.is_lasting());
                fetched.push(
                    found.map(|data| {
                        data.map_or_else(|| limits.refused(at_most), FetchedFile::Data)
                    }),
                );
                if is_last {
                    break;
                }
            }
            Ok(fetched)
        })
    }

    /// Reads a message that `person` quotes. Returns `None` if it has no text or cannot be read.
    fn fetch_quote<'a>(
        &'a self,
        _source: Source<'a>,
        (_chat, _person): (&'a str, &'a str),
        _message_id: &'a str,
    ) -> BoxFuture<'a, Result<Option<Quote>, Failure>> {
        Box::pin(async { Ok(None) })
    }

    /// Returns the format of voice messages, if answers can be voice messages.
    fn voice(&self) -> Option<VoiceFormat> {
        None
    }

    /// Returns the maximum size of a picture in bytes, if pictures are separate messages.
    fn max_picture_bytes(&self) -> Option<usize> {
        None
    }

    /// Sends a voice message or a picture to a conversation.
    fn send_media<'a>(
        &'a self,
        _source: Source<'a>,
        _chat: &'a str,
        _thread: Option<&'a str>,
        _media: &'a Media,
    ) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async {
            let why = "This channel has no voice messages or pictures.";
            Err(Failure::refused(why))
        })
    }

    /// Shows in a conversation that an answer is being written.
    fn show_typing<'a>(
        &'a self,
        _source: Source<'a>,
        _chat: &'a str,
        _thread: Option<&'a str>,
    ) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async { Ok(()) })
    }

    /// Returns whether this person is the only reader of a conversation that was private when the
    /// person wrote.
    fn is_private<'a>(
        &'a self,
        _source: Source<'a>,
        _chat: &'a str,
        _person: &'a str,
    ) -> BoxFuture<'a, Result<bool, Failure>> {
        Box::pin(async { Ok(true) })
    }
}

/// Keeps the first files of a message, and adds the names of the others to its text.
pub(crate) fn at_most_files(
    text: String,
    mut files: Vec<ReceivedFile>,
) -> (String, Vec<ReceivedFile>) {
    let others = files.split_off(files.len().min(MAX_FILES));
    let names = others.iter().map(|file| file_name(&file.name));
    (with_unread(text, names), files)
}

#[cfg(test)]
mod tests;
