//! Content that a bot sends besides text: recordings and pictures.

use bytes::Bytes;
use std::time::Duration;

/// The number of characters of a message's ID in the ID of its pictures. Discord accepts 25 characters in total.
const MESSAGE_ID_CHARS: usize = 20;

/// A file for a conversation, in the form that vendors receive.
#[derive(Clone, Debug)]
pub(crate) struct Media {
    pub(crate) kind: MediaKind,
    /// The file name. It contains no text from other people.
    pub(crate) name: String,
    pub(crate) content_type: &'static str,
    pub(crate) data: Bytes,
    /// The ID, at most 25 characters, equal for each attempt. Discord and Matrix ignore a repeated ID.
    pub(crate) id: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MediaKind {
    Voice {
        duration: Duration,
    },
    Picture {
        /// Width and height.
        pixels: Option<(u64, u64)>,
    },
}

/// A picture to send after the text of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// The extension of its file name, and its media type.
    format: (&'static str, &'static str),
    pixels: Option<(u64, u64)>,
    data: Bytes,
}

impl Picture {
    /// Determines the format from the content. Returns `None` unless it is PNG, JPEG, WebP or GIF. `pixels` are width
    /// and height.
    pub fn of(data: Bytes, pixels: Option<(u64, u64)>) -> Option<Self> {
        Some(Self {
            format: format_of(&data)?,
            pixels,
            data,
        })
    }

    /// Returns a placeholder for a picture that cannot be sent because it is no longer stored. The placeholder keeps
    /// the numbers of the message's other pictures unchanged.
    pub fn missing() -> Self {
        Self {
            format: ("png", "image/png"),
            pixels: None,
            data: Bytes::new(),
        }
    }

    pub(crate) fn is_missing(&self) -> bool {
        self.data.is_empty()
    }

    /// Returns the size in bytes.
    pub(crate) fn size(&self) -> usize {
        self.data.len()
    }

    /// Returns the picture in the form that vendors receive. `number` counts the pictures of the message from 1.
    /// `message_id` identifies the message.
    pub(crate) fn media(&self, number: usize, message_id: &str) -> Media {
        let (extension, content_type) = self.format;
        let id = message_id.get(..MESSAGE_ID_CHARS).unwrap_or(message_id);
        Media {
            kind: MediaKind::Picture {
                pixels: self.pixels,
            },
            name: format!("picture-{number}.{extension}"),
            content_type,
            data: self.data.clone(),
            id: format!("{id}p{}", number % 1000),
        }
    }
}

fn format_of(data: &[u8]) -> Option<(&'static str, &'static str)> {
    let is_webp = || data.starts_with(b"RIFF") && data.get(8..12) == Some(b"WEBP");
    if data.starts_with(b"\x89PNG\r\n\x1a\n") {
        Some(("png", "image/png"))
    } else if data.starts_with(b"\xff\xd8\xff") {
        Some(("jpg", "image/jpeg"))
    } else if data.starts_with(b"GIF87a") || data.starts_with(b"GIF89a") {
        Some(("gif", "image/gif"))
    } else if is_webp() {
        Some(("webp", "image/webp"))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(data: &'static [u8]) -> Option<Picture> {
        Picture::of(Bytes::from_static(data), None)
    }

    #[test]
    fn only_pictures_are_pictures_and_their_content_decides_the_type() {
        for (data, name, content_type) in [
            (&b"\x89PNG\r\n\x1a\n"[..], "picture-2.png", "image/png"),
            (&b"\xff\xd8\xff\xe0"[..], "picture-2.jpg", "image/jpeg"),
            (&b"GIF89a"[..], "picture-2.gif", "image/gif"),
            (&b"GIF87a"[..], "picture-2.gif", "image/gif"),
            (&b"RIFF\0\0\0\0WEBPVP8 "[..], "picture-2.webp", "image/webp"),
        ] {
            let media = picture(data).unwrap().media(2, "m");
            assert_eq!((&*media.name, media.content_type), (name, content_type));
        }
        for data in [
            &b""[..],
            b"<svg xmlns=\"http://www.w3.org/2000/svg\"/>",
            b"<html>",
            b"RIFF\0\0\0\0WAVE",
            b"%PDF-1.7",
            b" \x89PNG\r\n\x1a\n",
        ] {
            assert_eq!(picture(data), None, "{data:?}");
        }
    }

    #[test]
    fn the_id_of_a_picture_is_short_and_different_for_each() {
        let picture = picture(b"GIF89a").unwrap();
        let message = "0123456789abcdef0123456789abcdef";
        let ids = [1, 2, 999].map(|number| picture.media(number, message).id);
        assert_eq!(ids[0], "0123456789abcdef0123p1");
        assert!(ids.iter().all(|id| id.len() <= 25));
        assert_ne!(ids[0], ids[1]);
    }
}
