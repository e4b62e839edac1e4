//! `web_fetch` of pictures and office documents.

use crate::harness::{Harness, serve};
use axum::Router;
use axum::body::Body;
use axum::http::{Response, header};
use gatehouse_agents::NewAttachment;
use gatehouse_config::ToolSecret;
use gatehouse_tools::ToolsSettings;
use image::{DynamicImage, ImageFormat};
use serde_json::json;
use std::io::{Cursor, Write as _};
use url::Url;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

const TOKEN: &str = "sk_live_12345678";
const WORD: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
const RELATIONS: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

fn encoded(width: u32, height: u32, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    let image = DynamicImage::new_rgb8(width, height);
    image.write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

/// Returns a PNG image that is followed by zeros up to this size.
fn png_of(bytes: usize) -> Vec<u8> {
    let mut image = encoded(4, 4, ImageFormat::Png);
    image.resize(bytes, 0);
    image
}

fn archive(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in parts {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(content.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// Returns a document that has only its main part.
fn office(main: &str, content: &str) -> Vec<u8> {
    let root = format!(
        "<Relationships><Relationship Id='r' Type='{RELATIONS}/officeDocument' Target='{main}'/></Relationships>"
    );
    archive(&[("_rels/.rels", &root), (main, content)])
}

fn word(text: &str) -> Vec<u8> {
    let main = format!("<w:document><w:p><w:t>{text}</w:t></w:p></w:document>");
    office("word/document.xml", &main)
}

async fn open() -> Harness {
    Harness::open(true, ToolsSettings::default()).await
}

/// Serves the same answer to every request. If the content type is empty, the answer has none.
async fn always(content_type: &'static str, body: Vec<u8>) -> Url {
    let answer = async move || {
        let mut response = Response::new(Body::from(body));
        if !content_type.is_empty() {
            let value = content_type.parse().unwrap();
            response.headers_mut().insert(header::CONTENT_TYPE, value);
        }
        response
    };
    serve(Router::new().fallback(answer)).await
}

/// Returns the answer and the files.
async fn fetch(harness: &Harness, url: &Url) -> (String, Vec<NewAttachment>) {
    let input = json!({ "url": url.as_str() });
    let (answer, files) = harness.call_for_files("web_fetch", input).await;
    (answer.unwrap(), files)
}

/// Returns the error of a call, which returns no file.
async fn refused(harness: &Harness, url: &Url) -> String {
    let input = json!({ "url": url.as_str() });
    let (answer, files) = harness.call_for_files("web_fetch", input).await;
    assert!(files.is_empty(), "{files:?}");
    answer.unwrap_err().message
}

#[tokio::test]
async fn a_picture_is_a_file_and_a_sentence_whatever_its_server_calls_it() {
    let harness = open().await;
    for (stated, format, media_type) in [
        ("image/png", ImageFormat::Png, "image/png"),
        ("image/png", ImageFormat::Jpeg, "image/jpeg"),
        ("application/octet-stream", ImageFormat::WebP, "image/webp"),
        ("text/plain", ImageFormat::Png, "image/png"),
        ("", ImageFormat::Jpeg, "image/jpeg"),
    ] {
        let bytes = encoded(640, 480, format);
        let url = always(stated, bytes.clone()).await;
        let url = url.join("/a/my%20cat.png?size=2").unwrap();
        let (answer, files) = fetch(&harness, &url).await;
        let expected = format!(
            "URL: {url}\n\nThis is a picture: {media_type}, 640 × 480 pixels, {} bytes. If no picture follows, you \
             cannot see it: this model is not known to support images.",
            bytes.len()
        );
        assert_eq!(answer, expected, "{stated}");
        let [file] = &files[..] else {
            panic!("{files:?}")
        };
        assert_eq!(
            (file.name.as_str(), file.media_type),
            ("my cat.png", media_type)
        );
        assert_eq!(
            (file.pixels, &file.data[..]),
            (Some((640, 480)), &bytes[..])
        );
        assert!(file.picture.as_ref().unwrap().starts_with(b"\xff\xd8"));
    }
}

#[tokio::test]
async fn a_picture_is_sized_down_for_models() {
    let harness = open().await;
    let (answer, files) = fetch(
        &harness,
        &always("image/png", encoded(3136, 2, ImageFormat::Png)).await,
    )
    .await;
    assert!(answer.contains("3136 × 2 pixels"), "{answer}");
    let copy = files[0].picture.as_ref().unwrap();
    let copy = image::load_from_memory_with_format(copy, ImageFormat::Jpeg).unwrap();
    assert_eq!((copy.width(), copy.height()), (1568, 1));
}

#[tokio::test]
async fn files_are_read_up_to_10_mib_and_those_that_are_called_text_up_to_2() {
    let harness = open().await;
    for (stated, limit) in [
        ("image/png", 10 << 20),
        ("application/octet-stream", 10 << 20),
        ("", 10 << 20),
        ("text/html", 2 << 20),
    ] {
        let (_, files) = fetch(&harness, &always(stated, png_of(limit)).await).await;
        assert_eq!(files[0].data.len(), limit, "{stated}");
        let refused = refused(&harness, &always(stated, png_of(limit + 1)).await).await;
        let said = format!("The file is larger than {} MiB", limit >> 20);
        assert!(refused.starts_with(&said), "{stated}: {refused}");
    }
    // The archive's list of entries is at its end.
    let mut document = word("a");
    document.resize((10 << 20) + 1, 0);
    let refused = refused(&harness, &always(WORD, document).await).await;
    assert!(refused.contains("larger than 10 MiB"), "{refused}");
}

#[tokio::test]
async fn pictures_that_cannot_be_read_are_refused() {
    let harness = open().await;
    for (body, said) in [
        (&b"GIF89a...."[..], "GIF images cannot be read"),
        (b"\0\0\0\x18ftypavif\0\0\0\0", "AVIF images cannot be read"),
        (b"\x89PNG\r\n\x1a\n", "The image is damaged"),
        (b"<html>", "This is not text"),
        (b"", "This is not text"),
    ] {
        let refused = refused(&harness, &always("image/png", body.to_vec()).await).await;
        assert!(refused.starts_with(said), "{refused}");
    }
    let refused = refused(&harness, &always("video/mp4", png_of(100)).await).await;
    assert!(refused.starts_with("This is not text"), "{refused}");
}

#[tokio::test]
async fn the_text_of_office_documents_is_returned() {
    let harness = open().await;
    let slide = "<p:sld><a:p><a:r><a:t>Hello</a:t></a:r></a:p></p:sld>";
    let root = format!(
        "<Relationships><Relationship Id='r' Type='{RELATIONS}/officeDocument' Target='ppt/presentation.xml'/>\
         </Relationships>"
    );
    let open_document = archive(&[
        ("mimetype", "application/vnd.oasis.opendocument.text"),
        (
            "content.xml",
            "<office:body><text:p>Hello</text:p></office:body>",
        ),
    ]);
    let sheet = archive(&[
        ("mimetype", "application/vnd.oasis.opendocument.spreadsheet"),
        (
            "content.xml",
            "<table:table table:name='S'><table:table-row><table:table-cell><text:p>Hello</text:p>\
             </table:table-cell></table:table-row></table:table>",
        ),
    ]);
    let slides = archive(&[("_rels/.rels", &root), ("ppt/slides/slide1.xml", slide)]);
    for (stated, body, expected) in [
        (WORD, word("Hello"), "Hello"),
        ("application/msword", word("Hello"), "Hello"),
        ("application/zip", word("Hello"), "Hello"),
        ("", word("Hello"), "Hello"),
        ("application/octet-stream", slides, "[slide 1]\nHello"),
        (
            "application/vnd.oasis.opendocument.text",
            open_document,
            "Hello",
        ),
        ("binary/octet-stream", sheet, "[sheet S]\nHello"),
    ] {
        let url = always(stated, body).await;
        let (answer, files) = fetch(&harness, &url).await;
        let total = expected.len();
        assert_eq!(
            answer,
            format!("URL: {url}\ntotal_chars: {total}\n\n{expected}"),
            "{stated}"
        );
        assert!(files.is_empty(), "{stated}");
    }
}

#[tokio::test]
async fn a_long_document_is_returned_in_parts_to_its_end() {
    let harness = open().await;
    // An attached file would be shortened.
    let url = always(WORD, word(&format!("{}end", "x ".repeat(100_000)))).await;
    let (answer, _) = fetch(&harness, &url).await;
    assert!(
        answer.contains("\ntotal_chars: 200003\nnext_offset: 20000\n"),
        "{answer}"
    );
    let rest = json!({ "url": url.as_str(), "offset": 200_000 });
    let answer = harness.call("web_fetch", rest).await.unwrap();
    assert!(answer.ends_with("\n\nend"), "{answer}");
}

#[tokio::test]
async fn archives_without_a_document_and_documents_that_cannot_be_read_are_refused() {
    let harness = open().await;
    for (body, said) in [
        (archive(&[("a.txt", "a")]), "This is not text"),
        (b"PK\x03\x04word".to_vec(), "This is not text"),
        (
            office("word/document.xml", "<w:p><w:t>a</w:p>"),
            "The document is encrypted or damaged",
        ),
    ] {
        let refused = refused(&harness, &always(WORD, body).await).await;
        assert!(refused.starts_with(said), "{refused}");
    }
}

#[tokio::test]
async fn a_server_that_may_receive_secrets_shows_no_pictures() {
    let picture = encoded(4, 4, ImageFormat::Png);
    let url = always("image/png", picture.clone()).await;
    let document = always(WORD, word(&format!("It is {TOKEN}."))).await;
    let allow = |url: &Url| -> ToolSecret { format!("TOKEN:{}", url.authority()).parse().unwrap() };
    let settings = ToolsSettings {
        secrets: vec![allow(&url), allow(&document)],
        ..ToolsSettings::default()
    };
    let harness = Harness::open(true, settings).await;
    harness.set_variable("TOKEN", TOKEN).await;
    let with_secret = url.join("?k={{secret:TOKEN}}").unwrap();
    for asked in [&url, &with_secret] {
        let refused = refused(&harness, asked).await;
        assert!(refused.contains("may receive secrets"), "{refused}");
    }
    let (answer, _) = fetch(&harness, &document).await;
    assert!(answer.ends_with("It is {{secret:TOKEN}}."), "{answer}");
    // The pictures are on another server, and a secret in the name is removed.
    let other = always("image/png", picture).await;
    let other = other.join(&format!("/{TOKEN}.png")).unwrap();
    let (answer, files) = fetch(&harness, &other).await;
    assert!(!answer.contains(TOKEN), "{answer}");
    assert_eq!(files[0].name, "{{secret:TOKEN}}.png");
    harness.stop().await;
}
