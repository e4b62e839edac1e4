//! Converts the files of a conversation for a model: pictures for models that read images, the text of documents, and a
//! description of each file. All content is data between marks that a file cannot forge. The marks contain the file's
//! ID, which is generated after its content.

use crate::attached_file::{Attachment, attachments_of};
use crate::handle::Inner;
use crate::tokens::{shortened, tokens_of, tokens_of_pictures};
use gatehouse_domain::id::AttachmentId;
use gatehouse_models::Picture;
use gatehouse_store::{ChatMessageRow, StoreError};
use std::collections::{HashMap, VecDeque};
use std::fmt::Write as _;
use std::sync::Arc;

/// The maximum number of pictures in a request. The newest are used.
const MAX_PICTURES: usize = 10;
/// The maximum number of bytes of file text that are read for a turn. The newest are used.
const MAX_TEXT_BYTES: usize = 2 << 20;
/// If tool output must be cut below this length, the pictures of the running turn are omitted too.
const LEAST_CAP: usize = 16_000;

/// The files of a conversation.
#[derive(Debug, Default)]
pub(crate) struct Files {
    /// Whether the model reads images.
    pub(crate) sees: bool,
    contents: HashMap<AttachmentId, Content>,
    /// The pictures of a request, oldest first.
    pictures: VecDeque<AttachmentId>,
}

#[derive(Debug)]
enum Content {
    Text(String),
    Picture(Picture),
    /// A picture or a text beyond the limit of a turn.
    TooMuch,
    /// A file of a different kind.
    Unreadable,
}

/// The form in which a message's files are sent to the model.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    /// The text, empty without files.
    pub(crate) text: String,
    pub(crate) pictures: Vec<Picture>,
}

impl Inner {
    /// Reads the contents of the files of these messages.
    pub(crate) async fn read_files(&self, rows: &[ChatMessageRow]) -> Result<Files, StoreError> {
        let mut files = Files::default();
        let mut text_bytes = 0;
        for row in rows.iter().rev() {
            for file in attachments_of(row).into_iter().rev() {
                let (session, id) = (row.session_id.clone(), file.id.clone());
                let read = self.store.read(move |conn| {
                    Box::pin(async move {
                        let found = conn.find_session_attachment_content(&session, &id);
                        found.await
                    })
                });
                let found: Option<gatehouse_store::AttachmentContent> = read.await?;
                let Some(found) = found else {
                    continue;
                };
                let content = match (found.image, found.text) {
                    (Some(_), _) if files.pictures.len() == MAX_PICTURES => Content::TooMuch,
                    (Some(image), _) => {
                        files.pictures.push_front(file.id.clone());
                        Content::Picture(Picture(Arc::from(image)))
                    }
                    (None, Some(text)) if text_bytes + text.len() > MAX_TEXT_BYTES => {
                        Content::TooMuch
                    }
                    (None, Some(text)) => {
                        text_bytes += text.len();
                        Content::Text(text)
                    }
                    (None, None) => Content::Unreadable,
                };
                files.contents.insert(file.id, content);
            }
        }
        Ok(files)
    }
}

impl Files {
    /// Adds a picture that a tool returned. If there are too many, drops the oldest.
    pub(crate) fn add_picture(&mut self, id: AttachmentId, image: Vec<u8>) {
        if self.pictures.len() >= MAX_PICTURES
            && let Some(oldest) = self.pictures.pop_front()
        {
            self.contents.insert(oldest, Content::TooMuch);
        }
        self.pictures.push_back(id.clone());
        self.contents
            .insert(id, Content::Picture(Picture(Arc::from(image))));
    }

    /// Returns the form in which a message's files are sent to the model. `cap` limits each text, in characters.
    pub(crate) fn shown(&self, row: &ChatMessageRow, cap: usize, is_current: bool) -> Shown {
        let mut shown = Shown::default();
        for file in attachments_of(row) {
            let described = described(&file);
            let content = match self.contents.get(&file.id) {
                None => "[The file is no longer stored.]".to_owned(),
                Some(Content::Text(text)) => shortened(text, cap),
                Some(Content::Unreadable) => {
                    "[The content of files of this kind cannot be read.]".to_owned()
                }
                Some(Content::Picture(_) | Content::TooMuch) if !self.sees && is_picture(&file) => {
                    "[You cannot see the picture: this model is not known to support images. If the picture matters, \
                     say so.]"
                        .to_owned()
                }
                Some(Content::Picture(picture))
                    if cap == usize::MAX || is_current && cap >= LEAST_CAP =>
                {
                    shown.pictures.push(picture.clone());
                    format!("[Picture {} of this message.]", shown.pictures.len())
                }
                Some(Content::Picture(_) | Content::TooMuch) => {
                    "[Left out, because the conversation is too long.]".to_owned()
                }
            };
            let id = &file.id;
            let _ = write!(
                shown.text,
                "<file id=\"{id}\">\n{described}\n{content}\n</file id=\"{id}\">\n\n"
            );
        }
        shown
    }

    /// Returns the estimated tokens of the files of a message.
    pub(crate) fn tokens(&self, row: &ChatMessageRow, cap: usize, is_current: bool) -> u64 {
        if row.attachments.is_none() {
            return 0;
        }
        let shown = self.shown(row, cap, is_current);
        tokens_of(&shown.text) + tokens_of_pictures(&shown.pictures)
    }

    /// Returns the files of a message for a text to be summarized. Of pictures, only the names are
    /// included.
    pub(crate) fn summarized(&self, row: &ChatMessageRow, characters: usize) -> String {
        let mut text = String::new();
        for file in attachments_of(row) {
            let _ = write!(text, " [file, {}", described(&file).replace('\n', ", "));
            match self.contents.get(&file.id) {
                Some(Content::Text(content)) => {
                    let _ = write!(text, ": {}]", shortened(content, characters));
                }
                _ if is_picture(&file) => text.push_str(": a picture that is not shown here]"),
                _ => text.push(']'),
            }
        }
        text
    }
}

fn is_picture(file: &Attachment) -> bool {
    file.width.is_some()
}

fn described(file: &Attachment) -> String {
    let size = match (file.width, file.height) {
        (Some(width), Some(height)) => format!("{width} × {height} pixels"),
        _ => format!("{} bytes", file.size),
    };
    format!("name: {}\ntype: {}, {size}", file.name, file.media_type)
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;
