//! Pictures that `web_fetch` returns: a file for models that read images, and a description for all models.

use crate::files::{FileError, FileReader};
use crate::text;
use bytes::Bytes;
use gatehouse_agents::{NewAttachment, ToolError};
use percent_encoding::percent_decode_str;
use url::Url;

/// The name of a picture whose URL contains none.
const NAME: &str = "picture";

/// Reads a picture. Its name comes from the URL.
pub(super) async fn read(
    reader: &FileReader,
    url: &Url,
    body: Vec<u8>,
) -> Result<NewAttachment, ToolError> {
    let read = reader.read(name_of(url), Bytes::from(body)).await;
    read.map_err(|error| ToolError::new(refusal(error)))
}

/// Returns the answer of the tool. `url` is the URL after redirects.
pub(super) fn describe(url: &str, picture: &NewAttachment) -> String {
    let (width, height) = picture.pixels.unwrap_or_default();
    format!(
        "URL: {}\n\nThis is a picture: {}, {width} × {height} pixels, {} bytes. If no picture follows, you cannot \
         see it: this model is not known to support images.",
        text::one_line(url, 2000),
        picture.media_type,
        picture.data.len()
    )
}

/// Returns the last segment of the path.
fn name_of(url: &Url) -> String {
    let last = url.path_segments().and_then(|mut parts| parts.next_back());
    let name = percent_decode_str(last.unwrap_or_default()).decode_utf8_lossy();
    if name.trim().is_empty() {
        NAME.to_owned()
    } else {
        name.into_owned()
    }
}

/// Returns why a picture cannot be read. The text is for the model.
fn refusal(error: FileError) -> String {
    match error {
        FileError::Format(format) => {
            format!("{format} images cannot be read, only JPEG, PNG and WebP images.")
        }
        FileError::Animated => "Animated images cannot be read.".to_owned(),
        FileError::TooManyPixels => {
            "The image has more than 32 million pixels, so it cannot be read.".to_owned()
        }
        FileError::Damaged | FileError::Empty => {
            "The image is damaged, so it cannot be read.".to_owned()
        }
        FileError::TooSlow => {
            "Reading the image took too long. Try again later, or another image.".to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_named_after_its_url() {
        for (url, name) in [
            ("https://a.example/b/cat.png?size=2", "cat.png"),
            ("https://a.example/my%20cat.png", "my cat.png"),
            ("https://a.example/b/", NAME),
            ("https://a.example", NAME),
            ("https://a.example/%20", NAME),
        ] {
            assert_eq!(name_of(&Url::parse(url).unwrap()), name, "{url}");
        }
    }
}
