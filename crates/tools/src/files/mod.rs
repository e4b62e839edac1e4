//! Reads files that people attach to messages or that tools return. Detects the type, and creates the form for models.
//! Uses no network.
//!
//! The type depends only on the content. Decoding runs on its own thread and within limits, because a small file can
//! describe an image or a document of any size.

mod kind;
mod office;
mod picture;

use crate::off_thread::{Overrun, Slots};
use crate::pdf::PdfReader;
use crate::text;
use bytes::Bytes;
use gatehouse_agents::NewAttachment;
use gatehouse_domain::{ErrorCode, Problem};
use kind::{Kind, kind_of};
use office::Office;
pub(crate) use office::OfficeError;
use picture::Picture;
use std::sync::Arc;
use std::time::Duration;

/// The time limit for decoding and encoding an image, including the wait for other images.
const PICTURE_TIME: Duration = Duration::from_secs(30);
/// The number of images that are decoded concurrently. Each one can temporarily take up to 256 MiB.
const SLOTS: usize = 1;
const STACK_BYTES: usize = 4 << 20;
/// The time limit for reading an office document, including the wait for other documents.
const OFFICE_TIME: Duration = Duration::from_secs(30);
/// The maximum text of a file that is kept for models, in characters.
const MAX_TEXT_CHARACTERS: usize = 200_000;

const NO_TEXT: &str = "(The document contains no text.)";

/// Returns whether the data begins like an image, including formats that are not read.
pub(crate) fn is_image(data: &[u8]) -> bool {
    kind::image_of(data).is_some()
}

/// Returns whether data begins like a ZIP archive, as office documents do.
pub(crate) fn is_archive(data: &[u8]) -> bool {
    kind::is_zip(data)
}

/// Why a file cannot be attached. The text is for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    #[error("The file is empty.")]
    Empty,
    #[error(
        "{0} images are not supported. Convert the image to JPEG, PNG or WebP and attach it again."
    )]
    Format(&'static str),
    #[error("Animated images are not supported. Attach a still JPEG, PNG or WebP image.")]
    Animated,
    #[error(
        "The image has more than {} million pixels. Attach a smaller one.",
        picture::MAX_PIXELS / 1_000_000
    )]
    TooManyPixels,
    #[error("The image is damaged, so it cannot be attached.")]
    Damaged,
    #[error("Reading the file took too long. Try again later, or attach a smaller one.")]
    TooSlow,
}

impl From<FileError> for Problem {
    fn from(error: FileError) -> Self {
        let code = match error {
            FileError::Format(_) | FileError::Animated => ErrorCode::UnsupportedMediaType,
            FileError::TooManyPixels => ErrorCode::PayloadTooLarge,
            FileError::Empty | FileError::Damaged => ErrorCode::InvalidRequest,
            FileError::TooSlow => return Self::rate_limited(10_000),
        };
        Self::new(code, error.to_string())
    }
}

/// Reads attached files.
#[derive(Debug)]
pub(crate) struct FileReader {
    pictures: Slots,
    office: Slots,
    pdf: Arc<PdfReader>,
}

impl FileReader {
    pub(crate) fn new(pdf: Arc<PdfReader>) -> Self {
        Self {
            pictures: Slots::new("attached_image", SLOTS, STACK_BYTES),
            office: Slots::new("attached_office", SLOTS, STACK_BYTES),
            pdf,
        }
    }

    pub(crate) async fn read(&self, name: String, data: Bytes) -> Result<NewAttachment, FileError> {
        let mut file = NewAttachment {
            name,
            media_type: "application/octet-stream",
            pixels: None,
            text: None,
            picture: None,
            data: data.clone(),
        };
        match kind_of(&data) {
            Kind::Empty => return Err(FileError::Empty),
            Kind::OtherImage(format) => return Err(FileError::Format(format)),
            Kind::Image(format) => {
                file.media_type = format.to_mime_type();
                let picture = self.picture(data, format).await?;
                file.pixels = Some(picture.pixels);
                file.picture = Some(picture.jpeg);
            }
            Kind::Pdf => {
                file.media_type = "application/pdf";
                let read = self.pdf.read(data.into()).await;
                let text = read.map_or_else(|error| format!("[{error}]"), |article| article.text);
                file.text = Some(shortened(&text));
            }
            Kind::Text(text) => {
                file.media_type = "text/plain";
                file.text = Some(shortened(&text::readable(&text)));
            }
            Kind::Zip => match self.office(data).await? {
                Some(office) => {
                    file.media_type = office.media_type;
                    let text = office.text.unwrap_or_else(|error| format!("[{error}]"));
                    let text = text::readable(&text);
                    let is_empty = text.is_empty();
                    file.text = Some(if is_empty {
                        NO_TEXT.to_owned()
                    } else {
                        shortened(&text)
                    });
                }
                None => file.media_type = "application/zip",
            },
            Kind::Other => {}
        }
        Ok(file)
    }

    /// Returns the whole text of an office document. Returns `None` if the archive is not one, or
    /// cannot be read.
    pub(crate) async fn document(
        &self,
        data: Bytes,
    ) -> Result<Option<Result<String, OfficeError>>, FileError> {
        let read = self.office(data).await?;
        Ok(read.map(|office| office.text.map(|text| text::readable(&text))))
    }

    /// Reads an office document. Returns `None` if the archive is not one, or cannot be read.
    async fn office(&self, data: Bytes) -> Result<Option<Office>, FileError> {
        let read = self
            .office
            .run(OFFICE_TIME, move || office::read(&data))
            .await;
        match read {
            Ok(office) => Ok(office),
            Err(Overrun::TooLong) => Err(FileError::TooSlow),
            Err(Overrun::Broken) => Ok(None),
        }
    }

    async fn picture(&self, data: Bytes, format: image::ImageFormat) -> Result<Picture, FileError> {
        let read = move || picture::read(&data, format);
        let read = self.pictures.run(PICTURE_TIME, read).await;
        read.unwrap_or_else(|overrun| {
            Err(match overrun {
                Overrun::TooLong => FileError::TooSlow,
                Overrun::Broken => FileError::Damaged,
            })
        })
    }
}

fn shortened(text: &str) -> String {
    match text::cut(text, MAX_TEXT_CHARACTERS) {
        (whole, false) => whole.to_owned(),
        (beginning, true) => format!(
            "{beginning}\n[… shortened: the text has {} bytes in all]",
            text.len()
        ),
    }
}

#[cfg(test)]
mod tests;
