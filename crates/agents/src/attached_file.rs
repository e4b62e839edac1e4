//! A file of a session, as callers see it.

use bytes::Bytes;
use gatehouse_domain::id::AttachmentId;
use gatehouse_store::{ChatMessageRow, SessionAttachmentRow};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A file of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Attachment {
    /// To pass in `attachments` to `chat.send`.
    pub id: AttachmentId,
    /// The file name without directories and invisible characters.
    pub name: String,
    /// The media type, detected from the content.
    #[serde(rename = "type")]
    pub media_type: String,
    /// Size in bytes.
    pub size: u64,
    /// Width of an image in pixels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<u64>,
    /// Height of an image in pixels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<u64>,
}

/// A file to store.
#[derive(Clone, Debug)]
pub struct NewAttachment {
    /// The name that the caller gave it.
    pub name: String,
    pub media_type: &'static str,
    /// Width and height of an image in pixels.
    pub pixels: Option<(u32, u32)>,
    /// The text of a document, for models.
    pub text: Option<String>,
    /// An image as JPEG, for models that read images.
    pub picture: Option<Vec<u8>>,
    pub data: Bytes,
}

impl From<SessionAttachmentRow> for Attachment {
    fn from(row: SessionAttachmentRow) -> Self {
        let number = |number: i64| u64::try_from(number).unwrap_or_default();
        Self {
            id: row.id,
            name: row.name,
            media_type: row.mime_type,
            size: number(row.size),
            width: row.width.map(number),
            height: row.height.map(number),
        }
    }
}

/// Returns the files of a stored message. An unreadable list is ignored.
pub(crate) fn attachments_of(row: &ChatMessageRow) -> Vec<Attachment> {
    let stored = row.attachments.as_deref();
    stored
        .and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_default()
}
