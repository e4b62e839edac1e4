use super::*;
use image::{DynamicImage, ImageFormat, Rgba, RgbaImage};
use std::io::Cursor;

fn encoded(width: u32, height: u32, format: ImageFormat) -> Vec<u8> {
    let image = RgbaImage::from_fn(width, height, |x, y| {
        Rgba([
            u8::try_from(x % 256).unwrap(),
            u8::try_from(y % 256).unwrap(),
            7,
            255,
        ])
    });
    let mut bytes = Cursor::new(Vec::new());
    let image = DynamicImage::from(DynamicImage::from(image).to_rgb8());
    image.write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

async fn read(name: &str, bytes: impl Into<Vec<u8>>) -> Result<NewAttachment, FileError> {
    let reader = FileReader::new(Arc::new(PdfReader::new()));
    reader
        .read(name.to_owned(), Bytes::from(bytes.into()))
        .await
}

fn side_of(jpeg: &[u8]) -> (u32, u32) {
    let image = image::load_from_memory_with_format(jpeg, ImageFormat::Jpeg).unwrap();
    (image.width(), image.height())
}

#[tokio::test]
async fn the_content_decides_about_the_type() {
    for (format, media_type) in [
        (ImageFormat::Png, "image/png"),
        (ImageFormat::Jpeg, "image/jpeg"),
        (ImageFormat::WebP, "image/webp"),
    ] {
        let file = read("page.html", encoded(6, 4, format)).await.unwrap();
        assert_eq!((file.media_type, file.pixels), (media_type, Some((6, 4))));
        assert_eq!(side_of(&file.picture.unwrap()), (6, 4));
    }
    for (name, bytes, media_type, text) in [
        (
            "a.png",
            &b"<html><script>x</script>"[..],
            "text/plain",
            Some("<html><script>x</script>"),
        ),
        (
            "a.png",
            b"<svg onload='x'/>",
            "text/plain",
            Some("<svg onload='x'/>"),
        ),
        ("a.txt", b"\xef\xbb\xbfa\r\nb", "text/plain", Some("a\nb")),
        ("a.txt", b"\xff\xfea\0\xe4\0", "text/plain", Some("aä")),
        ("a.txt", b"a\0b", "application/octet-stream", None),
        ("a.txt", b"\xff\xff", "application/octet-stream", None),
        ("a.docx", b"PK\x03\x04word", "application/zip", None),
    ] {
        let file = read(name, bytes).await.unwrap();
        assert_eq!(
            (file.media_type, file.text.as_deref()),
            (media_type, text),
            "{bytes:?}"
        );
    }
}

#[tokio::test]
async fn a_copy_for_models_is_no_larger_than_they_accept() {
    let at = picture::MODEL_SIDE;
    let same = read("a", encoded(at, 10, ImageFormat::Png)).await.unwrap();
    assert_eq!(side_of(&same.picture.unwrap()), (at, 10));
    let past = read("a", encoded(at + 1, 10, ImageFormat::Png))
        .await
        .unwrap();
    assert_eq!(past.pixels, Some((at + 1, 10)));
    assert_eq!(side_of(&past.picture.unwrap()).0, at);
}

#[tokio::test]
async fn transparent_images_are_put_on_white() {
    let image = RgbaImage::from_pixel(8, 8, Rgba([0, 0, 0, 0]));
    let mut bytes = Cursor::new(Vec::new());
    image.write_to(&mut bytes, ImageFormat::Png).unwrap();
    let file = read("a", bytes.into_inner()).await.unwrap();
    let jpeg = file.picture.unwrap();
    let image = image::load_from_memory(&jpeg).unwrap().to_rgb8();
    assert!(image.get_pixel(3, 3).0.iter().all(|part| *part > 250));
}

#[tokio::test]
async fn a_copy_for_models_has_no_metadata() {
    // EXIF in a JPEG file: a segment APP1 with the tag "orientation" (rotate by 90 degrees) and a text.
    let mut exif =
        b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0".to_vec();
    exif.extend(b"SECRET PLACE");
    let length = u16::try_from(exif.len() + 2).unwrap().to_be_bytes();
    let mut jpeg = encoded(6, 4, ImageFormat::Jpeg);
    jpeg.splice(2..2, [&[0xff, 0xe1][..], &length, &exif].concat());
    let file = read("a.jpg", jpeg).await.unwrap();
    assert_eq!(file.pixels, Some((4, 6)), "as it is displayed");
    let copy = file.picture.unwrap();
    assert_eq!(side_of(&copy), (4, 6));
    assert!(
        !copy
            .windows(6)
            .any(|part| part == b"SECRET" || part == b"Exif\0\0")
    );
}

#[test]
fn thirty_two_million_pixels_are_read_and_more_are_not() {
    assert_eq!(picture::check_pixels(8_000, 4_000), Ok(()));
    assert_eq!(
        picture::check_pixels(8_000, 4_001),
        Err(FileError::TooManyPixels)
    );
    assert_eq!(
        picture::check_pixels(u32::MAX, u32::MAX),
        Err(FileError::TooManyPixels)
    );
}

/// Returns a chunk of a PNG file.
fn chunk(kind: [u8; 4], content: &[u8]) -> Vec<u8> {
    let mut crc = u32::MAX;
    for byte in kind.iter().chain(content) {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 {
                (crc >> 1) ^ 0xedb8_8320
            } else {
                crc >> 1
            };
        }
    }
    let length = u32::try_from(content.len()).unwrap().to_be_bytes();
    [&length[..], &kind, content, &(!crc).to_be_bytes()].concat()
}

#[tokio::test]
async fn a_bomb_is_refused_before_it_is_decoded() {
    let small = encoded(4, 4, ImageFormat::Png);
    let mut header = 60_000_u32.to_be_bytes().repeat(2);
    header.extend(small.get(24..29).unwrap());
    let mut bomb = small.clone();
    bomb.splice(8..33, chunk(*b"IHDR", &header));
    assert_eq!(
        read("a.png", bomb).await.unwrap_err(),
        FileError::TooManyPixels
    );
}

#[tokio::test]
async fn animated_images_are_refused() {
    let mut png = encoded(4, 4, ImageFormat::Png);
    let animation = [2_u32.to_be_bytes(), 0_u32.to_be_bytes()].concat();
    png.splice(33..33, chunk(*b"acTL", &animation));
    assert_eq!(read("a.png", png).await.unwrap_err(), FileError::Animated);
    assert_eq!(
        read("a.gif", *b"GIF89a....").await.unwrap_err(),
        FileError::Format("GIF")
    );
}

#[tokio::test]
async fn unsupported_and_damaged_images_are_refused() {
    for (bytes, error) in [
        (&b""[..], FileError::Empty),
        (b"\0\0\0\x18ftypheic\0\0\0\0", FileError::Format("HEIC")),
        (b"\0\0\0\x18ftypavif\0\0\0\0", FileError::Format("AVIF")),
        (b"II*\0aaaa", FileError::Format("TIFF")),
        (
            b"BM\x36\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x01",
            FileError::Format("BMP"),
        ),
        (b"\xff\xd8\xff\xe0aaaa", FileError::Damaged),
        (b"\x89PNG\r\n\x1a\n", FileError::Damaged),
        (b"RIFF\x04\0\0\0WEBP", FileError::Damaged),
    ] {
        assert_eq!(read("a.png", bytes).await.unwrap_err(), error, "{bytes:?}");
    }
}

#[tokio::test]
async fn a_pdf_that_cannot_be_read_says_so() {
    let file = read("a.txt", *b"%PDF-1.7 nothing").await.unwrap();
    assert_eq!(file.media_type, "application/pdf");
    assert!(file.text.unwrap().contains("cannot be read"));
}

#[tokio::test]
async fn long_texts_are_shortened() {
    let whole = read("a", "x".repeat(MAX_TEXT_CHARACTERS)).await.unwrap();
    assert_eq!(whole.text.unwrap().len(), MAX_TEXT_CHARACTERS);
    let cut = read("a", "x".repeat(MAX_TEXT_CHARACTERS + 1))
        .await
        .unwrap();
    assert!(
        cut.text
            .unwrap()
            .ends_with("[… shortened: the text has 200001 bytes in all]")
    );
}
