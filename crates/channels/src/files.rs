//! The files of received messages, and voice messages as answers.

use crate::error::{Failure, SendError};
use crate::handle::Channels;
use crate::media::{Media, MediaKind};
use crate::receive::{ReceivedFile, ReceivedMessage};
use gatehouse_store::ReceivedMessageRow;
use std::time::Duration;

/// Limits for fetching the files of one message.
#[derive(Clone, Copy, Debug)]
pub struct FileLimits {
    /// The largest file, in bytes.
    pub each_bytes: usize,
    /// All files together, in bytes.
    pub total_bytes: usize,
    /// Timeout per file.
    pub time: Duration,
}

impl FileLimits {
    /// Returns the maximum size of the next file after `used` bytes of earlier files.
    pub(crate) fn next(self, used: usize) -> usize {
        self.each_bytes.min(self.total_bytes.saturating_sub(used))
    }

    /// Returns the outcome for a file that is not kept because it is larger than `at_most`.
    pub(crate) const fn refused(self, at_most: usize) -> FetchedFile {
        if at_most < self.each_bytes {
            FetchedFile::TooMuch
        } else {
            FetchedFile::TooLarge
        }
    }
}

/// The result for a requested file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FetchedFile {
    Data(Vec<u8>),
    /// The file is larger than the limit.
    TooLarge,
    /// The file and the preceding files together exceed the limit for a message.
    TooMuch,
}

/// A recording for a conversation, in the format that [`crate::InboundAccount`] names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VoiceMessage {
    pub audio: Vec<u8>,
    pub duration: Duration,
}

/// Returns the files of a stored message, in their order.
pub fn files_of(row: &ReceivedMessageRow) -> Vec<ReceivedFile> {
    let Some(id) = row.file_id.clone() else {
        return Vec::new();
    };
    let more = row.more_files.as_deref().map(serde_json::from_str);
    let more = more.unwrap_or(Ok(Vec::new())).unwrap_or_else(|error| {
        tracing::error!(%error, "the stored files of a message cannot be read");
        Vec::new()
    });
    let first = ReceivedFile {
        id,
        name: row.file_name.clone().unwrap_or_default(),
        is_voice: row.is_voice,
    };
    [vec![first], more].concat()
}

/// Puts the files of a message into the columns of its row.
pub(crate) fn store_files(row: &mut ReceivedMessageRow, message: &ReceivedMessage) {
    // PostgreSQL cannot store NUL characters.
    let storable = |text: &str| text.replace('\0', "\u{fffd}");
    let files = message.files.iter().map(|file| ReceivedFile {
        id: storable(&file.id),
        name: storable(&file.name),
        is_voice: file.is_voice,
    });
    let mut files = files.collect::<Vec<_>>().into_iter();
    let Some(first) = files.next() else {
        return;
    };
    row.file_id = Some(first.id);
    row.file_name = Some(first.name);
    row.is_voice = first.is_voice;
    let more: Vec<ReceivedFile> = files.collect();
    row.more_files = (!more.is_empty())
        .then(|| serde_json::to_string(&more).ok())
        .flatten();
}

impl Channels {
    /// Fetches the files of a message by their IDs. Each file has its own outcome, in the same order. After a temporary
    /// failure, the remaining files are not fetched, and the failure is the last outcome.
    pub async fn fetch_files(
        &self,
        account_id: &str,
        file_ids: &[&str],
        limits: FileLimits,
    ) -> Result<Vec<Result<FetchedFile, SendError>>, SendError> {
        let (opened, receiver) = self.0.open_receiver(account_id).await?;
        let source = self.0.source(&opened);
        let fetched = receiver.fetch_files(source, file_ids, limits).await?;
        let outcomes = fetched.into_iter().map(|it| it.map_err(SendError::from));
        Ok(outcomes.collect())
    }

    /// Sends a voice message to a conversation.
    pub async fn send_voice(
        &self,
        account_id: &str,
        chat: &str,
        thread: Option<&str>,
        voice: VoiceMessage,
    ) -> Result<(), SendError> {
        let (opened, receiver) = self.0.open_receiver(account_id).await?;
        let Some(format) = receiver.voice() else {
            let why = "This channel has no voice messages.";
            return Err(Failure::refused(why).into());
        };
        if voice.audio.len() > format.max_bytes {
            let why = "The voice message is larger than the channel accepts.";
            return Err(Failure::refused(why).into());
        }
        let (name, content_type) = format.file;
        let id = u64::from_be_bytes(self.0.random.bytes());
        let media = Media {
            kind: MediaKind::Voice {
                duration: voice.duration,
            },
            name: name.to_owned(),
            content_type,
            data: voice.audio.into(),
            id: format!("voice-{id:016x}"),
        };
        let source = self.0.source(&opened);
        Ok(receiver.send_media(source, chat, thread, &media).await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatehouse_domain::Timestamp;

    fn row() -> ReceivedMessageRow {
        ReceivedMessageRow {
            account_id: "a".to_owned(),
            message_id: "1".to_owned(),
            person: "p".to_owned(),
            chat: "c".to_owned(),
            thread: None,
            is_group: false,
            is_own: true,
            text: String::new(),
            file_id: None,
            file_name: None,
            is_voice: false,
            more_files: None,
            quote: None,
            answer: None,
            received_at: Timestamp::from_millis(0),
        }
    }

    fn file(id: &str, is_voice: bool) -> ReceivedFile {
        ReceivedFile {
            id: id.to_owned(),
            name: format!("{id}.png"),
            is_voice,
        }
    }

    #[test]
    fn the_files_of_a_message_are_read_as_they_were_stored() {
        let all = [file("a", false), file("b", true), file("c", false)];
        for count in 0..=all.len() {
            let message = ReceivedMessage {
                files: all[..count].to_vec(),
                ..ReceivedMessage::default()
            };
            let mut row = row();
            store_files(&mut row, &message);
            assert_eq!(row.more_files.is_some(), count > 1);
            assert_eq!(files_of(&row), all[..count]);
        }
        let message = ReceivedMessage {
            files: vec![file("a\0", false), file("b\0", false)],
            ..ReceivedMessage::default()
        };
        let mut row = row();
        store_files(&mut row, &message);
        assert!(!format!("{row:?}").contains("\\0"));
        row.more_files = Some("no JSON".to_owned());
        assert_eq!(files_of(&row).len(), 1, "the first file remains");
    }

    #[test]
    fn a_file_may_use_what_the_files_before_it_left() {
        let limits = FileLimits {
            each_bytes: 10,
            total_bytes: 25,
            time: Duration::from_secs(1),
        };
        assert_eq!(
            [0, 15, 16, 25, 99].map(|used| limits.next(used)),
            [10, 10, 9, 0, 0]
        );
        assert_eq!(limits.refused(10), FetchedFile::TooLarge);
        assert_eq!(limits.refused(9), FetchedFile::TooMuch);
    }
}
