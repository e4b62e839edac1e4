//! Forms and bodies, valid and invalid.

use super::*;
use gatehouse_rpc::memory_budget::{ByteBudget, Holder, Limits};

fn share_of(budget: &ByteBudget) -> Share {
    budget.share(Holder::Known("a".into()))
}

fn plenty() -> Share {
    share_of(&ByteBudget::new(Limits::flat(2 * MAX_UPLOAD_BYTES)))
}

/// Returns whether exactly this many bytes are available.
fn is_free(budget: &ByteBudget, bytes: usize) -> bool {
    share_of(budget).grow(bytes) && !share_of(budget).grow(bytes + 1)
}

fn form(parts: &[(&str, &str)]) -> (Parts, Body) {
    let mut body = String::new();
    for (head, value) in parts {
        body.push_str("--x\r\nContent-Disposition: form-data; ");
        body.push_str(head);
        body.push_str("\r\n\r\n");
        body.push_str(value);
        body.push_str("\r\n");
    }
    body.push_str("--x--\r\n");
    let request = http::Request::builder()
        .header(CONTENT_TYPE, "multipart/form-data; boundary=x")
        .body(())
        .unwrap();
    (request.into_parts().0, Body::from(body))
}

async fn read_parts(parts: &[(&str, &str)]) -> Result<Upload, Problem> {
    let (head, body) = form(parts);
    read(&head, body, plenty()).await
}

#[tokio::test]
async fn a_form_has_one_file_and_texts() {
    let mut upload = read_parts(&[
        ("name=\"language\"", "en"),
        ("name=\"file\"; filename=\"a.MP3\"", "bytes"),
        ("name=\"g[]\"", "word"),
        ("name=\"g[]\"", "segment"),
        ("name=\"prompt\"", ""),
    ])
    .await
    .unwrap();
    assert_eq!(
        (&upload.audio[..], upload.format),
        (&b"bytes"[..], Some("mp3"))
    );
    assert_eq!(upload.fields.take("language").as_deref(), Some("en"));
    assert_eq!(upload.fields.take_all("g[]"), ["word", "segment"]);
    assert_eq!(upload.fields.take("prompt"), None);
    upload.fields.finish().unwrap();
    // The media type takes precedence over the file name.
    let named = "name=\"audio\"; filename=\"a.mp3\"\r\nContent-Type: audio/webm;codecs=opus";
    assert_eq!(
        read_parts(&[(named, "b")]).await.unwrap().format,
        Some("webm")
    );
}

#[tokio::test]
async fn what_is_no_such_form_is_refused() {
    let file = ("name=\"file\"; filename=\"a\"", "b");
    let text = ("name=\"language\"", "en");
    let blamed = async |parts: &[(&str, &str)]| {
        let problem = read_parts(parts).await.unwrap_err();
        problem.details["field"].as_str().unwrap().to_owned()
    };
    assert_eq!(blamed(&[text]).await, "file");
    let big_endian = "name=\"file\"; filename=\"a.pcm\"\r\nContent-Type: audio/L16;rate=24000";
    assert_eq!(blamed(&[(big_endian, "b")]).await, "file");
    assert_eq!(blamed(&[file, file]).await, "file");
    assert_eq!(blamed(&[text, text, file]).await, "language");
    let longest = "x".repeat(MAX_FIELD_BYTES);
    assert!(
        read_parts(&[file, ("name=\"prompt\"", &longest)])
            .await
            .is_ok()
    );
    let longer = format!("{longest}x");
    assert_eq!(
        blamed(&[file, ("name=\"prompt\"", &longer)]).await,
        "prompt"
    );
    let many: Vec<_> = std::iter::repeat_n(("name=\"g[]\"", "x"), MAX_FIELDS).collect();
    assert!(read_parts(&[&many[..], &[file]].concat()).await.is_ok());
    assert_eq!(blamed(&[&many[..], &[text]].concat()).await, "language");
    let left = read_parts(&[file, text]).await.unwrap();
    assert_eq!(
        left.fields.finish().unwrap_err().details["field"],
        "language"
    );
    let (head, _) = form(&[]);
    let cut = Body::from("--x\r\nContent-Disposition: form-data");
    let cut = read(&head, cut, plenty()).await;
    assert_eq!(cut.unwrap_err().code, ErrorCode::InvalidRequest);
}

#[tokio::test]
async fn a_body_of_another_kind_is_no_audio() {
    let of = |media_type: &str| {
        let request = http::Request::builder().header(CONTENT_TYPE, media_type);
        request.body(()).unwrap().into_parts().0
    };
    for (media_type, format) in [
        ("audio/webm;codecs=opus", Some("webm")),
        ("Audio/X-WAV", Some("wav")),
        ("audio/unheard-of", None),
        ("application/octet-stream", None),
    ] {
        let upload = read(&of(media_type), Body::from("x"), plenty())
            .await
            .unwrap();
        assert_eq!(upload.format, format, "{media_type}");
    }
    for media_type in [
        "text/html",
        "application/json",
        "image/png",
        "video/x-msvideo",
        "audio/L16; rate=8000",
        "audio/l24;rate=48000;channels=2",
    ] {
        let refused = read(&of(media_type), Body::from("x"), plenty())
            .await
            .unwrap_err();
        assert_eq!(
            refused.code,
            ErrorCode::UnsupportedMediaType,
            "{media_type}"
        );
    }
}

#[tokio::test]
async fn all_uploads_share_the_memory() {
    let request = http::Request::builder().header(CONTENT_TYPE, "audio/wav");
    let (head, ()) = request.body(()).unwrap().into_parts();
    let budget = ByteBudget::new(Limits::flat(10));
    let refused = async |size: usize| {
        let outcome = read(&head, Body::from("x".repeat(size)), share_of(&budget)).await;
        outcome.unwrap_err()
    };
    let six = read(&head, Body::from("x".repeat(6)), share_of(&budget)).await;
    let six = six.unwrap();
    let problem = refused(5).await;
    assert_eq!(problem.code, ErrorCode::RateLimited);
    assert_eq!(problem.details["retry_after_seconds"], 1);
    let four = read(&head, Body::from("xxxx"), share_of(&budget))
        .await
        .unwrap();
    assert_eq!(refused(1).await.code, ErrorCode::RateLimited);
    // Dropping the uploads releases their memory.
    drop((six, four));
    assert!(is_free(&budget, 10));
    assert_eq!(refused(11).await.code, ErrorCode::RateLimited);
    assert!(is_free(&budget, 10));
}

#[tokio::test]
async fn a_form_counts_twice_while_it_is_read() {
    let parts = [("name=\"file\"; filename=\"a\"", "audio")];
    let (_, body) = form(&parts);
    let size = usize::try_from(axum::body::HttpBody::size_hint(&body).lower()).unwrap();
    for (limit, fits) in [(size * 2, true), (size * 2 - 1, false)] {
        let budget = ByteBudget::new(Limits::flat(limit));
        let (head, body) = form(&parts);
        let upload = read(&head, body, share_of(&budget)).await;
        assert_eq!(upload.is_ok(), fits, "{limit}");
        if let Ok(upload) = &upload {
            assert_eq!(&upload.audio[..], b"audio");
            assert!(is_free(&budget, size));
        }
        drop(upload);
        assert!(is_free(&budget, limit));
    }
}
