//! Decodes an image within limits, and creates the copy for models.

use super::FileError;
use image::codecs::jpeg::{JpegDecoder, JpegEncoder};
use image::codecs::png::PngDecoder;
use image::codecs::webp::WebPDecoder;
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageError, ImageFormat, Limits, RgbImage};
use std::io::Cursor;

/// The largest image in pixels. Checked before any pixel is decoded.
pub(super) const MAX_PIXELS: u64 = 32_000_000;
/// The memory limit for the decoded image and its decoder: 32 million pixels with 4 channels, and buffers. Some
/// decoders use the same amount again without counting it.
const MAX_DECODER_BYTES: u64 = 160_000_000;
/// The longer side of the copy for models, in pixels. Anthropic scales larger images down to it
/// (<https://platform.claude.com/docs/en/build-with-claude/vision>).
pub(super) const MODEL_SIDE: u32 = 1568;
/// The maximum size of the copy for models, in bytes. Anthropic accepts 5 MB, `OpenAI` more.
const MODEL_BYTES: usize = 1 << 20;
/// The JPEG qualities to try until the copy is small enough.
const QUALITIES: [u8; 4] = [88, 75, 55, 35];

/// An image that was read.
#[derive(Debug)]
pub(super) struct Picture {
    /// Width and height of the displayed image.
    pub(super) pixels: (u32, u32),
    /// The copy for models, without metadata.
    pub(super) jpeg: Vec<u8>,
}

pub(super) fn read(data: &[u8], format: ImageFormat) -> Result<Picture, FileError> {
    let data = Cursor::new(data);
    let (image, orientation) = match format {
        ImageFormat::Png => {
            let decoder = PngDecoder::with_limits(data, limits()).map_err(|e| failed(&e))?;
            let is_animated = decoder.is_apng().map_err(|e| failed(&e))?;
            decode(decoder, is_animated)?
        }
        ImageFormat::WebP => {
            let decoder = WebPDecoder::new(data).map_err(|e| failed(&e))?;
            let is_animated = decoder.has_animation();
            decode(decoder, is_animated)?
        }
        _ => decode(JpegDecoder::new(data).map_err(|e| failed(&e))?, false)?,
    };
    let (width, height) = (image.width(), image.height());
    let mut image = if width.max(height) > MODEL_SIDE {
        image.thumbnail(MODEL_SIDE, MODEL_SIDE)
    } else {
        image
    };
    // The copy is rotated, not the whole image, because that would double the memory.
    image.apply_orientation(orientation);
    Ok(Picture {
        pixels: if is_turned(orientation) {
            (height, width)
        } else {
            (width, height)
        },
        jpeg: small_jpeg(&on_white(&image))?,
    })
}

fn limits() -> Limits {
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(MAX_DECODER_BYTES);
    limits
}

/// Returns whether width and height are swapped when the image is displayed.
const fn is_turned(orientation: Orientation) -> bool {
    matches!(
        orientation,
        Orientation::Rotate90
            | Orientation::Rotate270
            | Orientation::Rotate90FlipH
            | Orientation::Rotate270FlipH
    )
}

fn decode(
    mut decoder: impl ImageDecoder,
    is_animated: bool,
) -> Result<(DynamicImage, Orientation), FileError> {
    let (width, height) = decoder.dimensions();
    check_pixels(width, height)?;
    if is_animated {
        return Err(FileError::Animated);
    }
    let mut limits = limits();
    // 16 bits per channel double the memory of the largest image.
    limits
        .reserve(decoder.total_bytes())
        .map_err(|e| failed(&e))?;
    decoder.set_limits(limits).map_err(|e| failed(&e))?;
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let image = DynamicImage::from_decoder(decoder).map_err(|e| failed(&e))?;
    Ok((image, orientation))
}

/// Refuses an image that would take too much memory.
pub(super) fn check_pixels(width: u32, height: u32) -> Result<(), FileError> {
    if u64::from(width) * u64::from(height) > MAX_PIXELS {
        return Err(FileError::TooManyPixels);
    }
    Ok(())
}

fn failed(error: &ImageError) -> FileError {
    tracing::debug!(%error, "an image cannot be read");
    match error {
        ImageError::Limits(_) => FileError::TooManyPixels,
        _ => FileError::Damaged,
    }
}

/// Draws the image on white, because JPEG has no transparency. Text and drawings on transparent images are usually
/// dark.
fn on_white(image: &DynamicImage) -> RgbImage {
    if !image.color().has_alpha() {
        return image.to_rgb8();
    }
    let mut flat = RgbImage::new(image.width(), image.height());
    let image = image.to_rgba8();
    for (pixel, flat) in image.pixels().zip(flat.pixels_mut()) {
        let [red, green, blue, alpha] = pixel.0.map(u16::from);
        let over = |color: u16| {
            let mixed = (color * alpha + 255 * (255 - alpha)) / 255;
            u8::try_from(mixed).unwrap_or(u8::MAX)
        };
        flat.0 = [over(red), over(green), over(blue)];
    }
    flat
}

fn small_jpeg(image: &RgbImage) -> Result<Vec<u8>, FileError> {
    let mut jpeg = Vec::new();
    for quality in QUALITIES {
        jpeg.clear();
        let encoder = JpegEncoder::new_with_quality(&mut jpeg, quality);
        image
            .write_with_encoder(encoder)
            .map_err(|error| failed(&error))?;
        if jpeg.len() <= MODEL_BYTES {
            break;
        }
    }
    Ok(jpeg)
}
