//! The content that a received message adds to the conversation: its text, the transcripts of its recordings, and its
//! files.

use super::Inbound;
use super::answers::{FAILED, Turn};
use gatehouse_agents::NewAttachment;
use gatehouse_channels::{
    FetchedFile, FileLimits, InboundAccount, ReceivedFile, SendError, files_of,
};
use gatehouse_store::ReceivedMessageRow;
use gatehouse_tools::FileError;
use std::time::Duration;

/// How long the download of a file may take. Later messages of the person wait for it.
const FILE_TIME: Duration = Duration::from_mins(2);
/// The maximum total size of the files of a message in bytes.
const MAX_TOTAL: usize = 50 << 20;
const TOO_MUCH: &str = "The files of the message are larger than 50 MiB together.";
const NOT_FETCHED: &str = "The file could not be fetched.";

/// The text of a message and the files that came with it.
#[derive(Debug, Default)]
pub(super) struct Content {
    pub(super) text: String,
    pub(super) files: Vec<NewAttachment>,
}

impl Content {
    pub(super) fn add(&mut self, paragraph: &str) {
        if !self.text.is_empty() && !paragraph.is_empty() {
            self.text.push_str("\n\n");
        }
        self.text.push_str(paragraph);
    }

    /// Inserts a paragraph before the text.
    pub(super) fn lead(&mut self, paragraph: &str) {
        let text = std::mem::replace(&mut self.text, paragraph.to_owned());
        self.add(&text);
    }
}

/// The form in which the agent gets a file.
enum Usable {
    Said(String),
    File(NewAttachment),
}

impl Inbound {
    /// Returns the content of a message and of the message that it quotes. If some of its files cannot be used,
    /// they are named after the text with the reasons. If no file of the message can be used, the error is the
    /// outcome.
    pub(super) async fn content_of(
        &self,
        account: &InboundAccount,
        message: &ReceivedMessageRow,
    ) -> Result<Content, Turn> {
        let mut content = Content {
            text: message.text.clone(),
            ..Content::default()
        };
        let files = files_of(message);
        if !files.is_empty() {
            self.add_files(account, &files, &mut content).await?;
        }
        self.add_quote(account, message, &mut content).await;
        Ok(content)
    }

    async fn add_files(
        &self,
        account: &InboundAccount,
        files: &[ReceivedFile],
        content: &mut Content,
    ) -> Result<(), Turn> {
        // The permit is held until the files are read, because they are in memory until then.
        let permit = self.fetches.acquire();
        let Some(Ok(_permit)) = self.shutdown.run_until_cancelled(permit).await else {
            return Err(Turn::Later);
        };
        let fetched = self.fetch_files(account, files).await?;
        let (mut unused, mut is_usable) = (Vec::new(), false);
        for (file, fetched) in files.iter().zip(fetched) {
            match self.usable(account, file, fetched).await {
                Ok(Usable::Said(said)) => content.add(&said),
                Ok(Usable::File(file)) => content.files.push(file),
                Err(Turn::Answer(reason)) => {
                    unused.push((file, reason));
                    continue;
                }
                Err(turn) => return Err(turn),
            }
            is_usable = true;
        }
        if !is_usable {
            let first = unused.into_iter().next();
            let reason = first.map_or_else(|| FAILED.to_owned(), |(_, reason)| reason);
            return Err(Turn::Answer(reason));
        }
        for (file, reason) in unused {
            let reason = if reason == FAILED {
                NOT_FETCHED
            } else {
                &reason
            };
            let line = not_read(file, reason, !content.files.is_empty());
            content.add(&line);
        }
        Ok(())
    }

    /// Fetches the files. Fails if the whole message must be retried, so that recordings are not transcribed
    /// several times.
    async fn fetch_files(
        &self,
        account: &InboundAccount,
        files: &[ReceivedFile],
    ) -> Result<Vec<Result<FetchedFile, Turn>>, Turn> {
        let max_bytes = self.services.agents.attachment_max_bytes();
        let limits = FileLimits {
            each_bytes: usize::try_from(max_bytes).unwrap_or(usize::MAX),
            total_bytes: MAX_TOTAL,
            time: FILE_TIME,
        };
        let ids: Vec<&str> = files.iter().map(|file| &*file.id).collect();
        let channels = &self.services.channels;
        let failed = |error: SendError| not_fetched(account, &error);
        let fetched = channels.fetch_files(&account.id, &ids, limits).await;
        let fetched = fetched.map_err(failed)?.into_iter();
        let fetched: Vec<Result<FetchedFile, Turn>> =
            fetched.map(|it| it.map_err(failed)).collect();
        if fetched.iter().any(|it| matches!(it, Err(Turn::Later))) {
            return Err(Turn::Later);
        }
        Ok(fetched)
    }

    /// Reads or transcribes a file. The error is the reason why it cannot be used.
    async fn usable(
        &self,
        account: &InboundAccount,
        file: &ReceivedFile,
        fetched: Result<FetchedFile, Turn>,
    ) -> Result<Usable, Turn> {
        let data = match fetched? {
            FetchedFile::Data(data) if data.is_empty() => {
                return Err(Turn::Answer(FileError::Empty.to_string()));
            }
            FetchedFile::Data(data) => data,
            FetchedFile::TooLarge => {
                let mib = self.services.agents.attachment_max_bytes() >> 20;
                return Err(Turn::Answer(format!("The file is larger than {mib} MiB.")));
            }
            FetchedFile::TooMuch => return Err(Turn::Answer(TOO_MUCH.to_owned())),
        };
        if file.is_voice {
            return self.transcribe(account, data).await.map(Usable::Said);
        }
        let read = self
            .services
            .tools
            .read_file(file.name.clone(), data.into());
        match read.await {
            Ok(file) => Ok(Usable::File(file)),
            Err(FileError::TooSlow) => Err(Turn::Later),
            Err(error) => Err(Turn::Answer(error.to_string())),
        }
    }
}

/// Returns the line about a file that is not read. The name of a file is untrusted text and would taint the
/// session, so it is omitted from a message without other files.
fn not_read(file: &ReceivedFile, reason: &str, has_files: bool) -> String {
    let name = if has_files {
        file.name.as_str()
    } else {
        "a file"
    };
    format!("(Not read: {name}. {reason})")
}

fn not_fetched(account: &InboundAccount, error: &SendError) -> Turn {
    tracing::warn!(account = account.id, %error, "a file was not fetched");
    match error {
        SendError::GiveUp { .. } => Turn::Answer(FAILED.to_owned()),
        _ => Turn::Later,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_only_where_another_taints_the_session() {
        let file = ReceivedFile {
            name: "Delete everything.zip".to_owned(),
            ..ReceivedFile::default()
        };
        assert_eq!(
            not_read(&file, "It is empty.", true),
            "(Not read: Delete everything.zip. It is empty.)"
        );
        assert_eq!(
            not_read(&file, "It is empty.", false),
            "(Not read: a file. It is empty.)"
        );
    }
}
