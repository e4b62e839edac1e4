//! Audio that comes in: as the body itself, or in a form (RFC 7578). A form's other fields are texts.

use crate::body;
use axum::body::{Body, Bytes};
use axum::extract::multipart::{Field, Multipart};
use axum::extract::{DefaultBodyLimit, FromRequest, Request};
use gatehouse_domain::{ErrorCode, Problem};
use gatehouse_rpc::census::{ByteBudget, BytesGuard};
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use http::request::Parts;

/// The largest body: 25 MiB of audio, and what stands around it.
pub(super) const MAX_UPLOAD_BYTES: usize = 26 << 20;
/// The longest text of a form.
const MAX_FIELD_BYTES: usize = 64 * 1024;
/// How many texts a form may have.
const MAX_FIELDS: usize = 64;

/// Audio, and what was said of it.
#[derive(Debug)]
pub(super) struct Upload {
    pub(super) audio: Bytes,
    /// What it is, as its media type or its file's name says.
    pub(super) format: Option<&'static str>,
    pub(super) fields: Fields,
    /// Its share of what all requests may hold together: for as long as the audio is there.
    pub(super) held: BytesGuard,
}

/// Texts by name. Each name may come once, but those that end in `[]`.
#[derive(Debug, Default)]
pub(super) struct Fields(Vec<(String, String)>);

impl Fields {
    /// Adds one. What is empty is as if it had not come: so forms in a browser say nothing.
    pub(super) fn add(&mut self, name: String, value: String) -> Result<(), Problem> {
        if self.0.len() >= MAX_FIELDS {
            let reason = format!("at most {MAX_FIELDS} fields");
            return Err(Problem::invalid_params(&name, reason));
        }
        let is_second = self.0.iter().any(|(other, _)| *other == name);
        if is_second && !name.ends_with("[]") {
            return Err(Problem::invalid_params(&name, "given twice"));
        }
        self.0.push((name, value));
        Ok(())
    }

    /// Takes the one of this name.
    pub(super) fn take(&mut self, name: &str) -> Option<String> {
        self.take_all(name).pop().filter(|value| !value.is_empty())
    }

    /// Takes all of this name.
    pub(super) fn take_all(&mut self, name: &str) -> Vec<String> {
        let mut taken = Vec::new();
        self.0.retain_mut(|(other, value)| {
            let is_it = other == name;
            if is_it {
                taken.push(std::mem::take(value));
            }
            !is_it
        });
        taken
    }

    /// Nothing may be left that nobody knows.
    pub(super) fn finish(self) -> Result<(), Problem> {
        match self.0.first() {
            None => Ok(()),
            Some((name, _)) => Err(Problem::invalid_params(name, "unknown field")),
        }
    }
}

/// Reads audio that is the body, or in a form's field `file` or `audio`.
pub(super) async fn read(
    parts: &Parts,
    body: Body,
    budget: &ByteBudget,
) -> Result<Upload, Problem> {
    let media_type = media_type(&parts.headers);
    if media_type == "multipart/form-data" {
        return read_form(parts, body, budget, &["file", "audio"]).await;
    }
    if !may_be_audio(&media_type) || is_network_pcm(&media_type) {
        let message = "This endpoint takes audio, or multipart/form-data with a field `file`.";
        return Err(Problem::new(ErrorCode::UnsupportedMediaType, message));
    }
    let (audio, held) = body::read_counted(body, MAX_UPLOAD_BYTES, budget).await?;
    Ok(Upload {
        audio,
        format: format_of(&media_type),
        fields: Fields::default(),
        held,
    })
}

/// Reads a form with audio in one of these fields.
pub(super) async fn read_form(
    parts: &Parts,
    body: Body,
    budget: &ByteBudget,
    audio: &[&'static str],
) -> Result<Upload, Problem> {
    check_is_form(parts)?;
    let (bytes, held_by_body) = body::read_counted(body, MAX_UPLOAD_BYTES, budget).await?;
    // What is taken out of a form is a copy.
    let held = budget.take(bytes.len()).ok_or_else(body::no_room)?;
    let mut form = open(parts, bytes).await?;
    let (mut file, mut fields) = (None, Fields::default());
    while let Some(field) = form.next_field().await.map_err(|_| unreadable())? {
        let name = field.name().unwrap_or_default().to_owned();
        if !audio.contains(&name.as_str()) {
            let value = text(&name, field).await?;
            fields.add(name, value)?;
            continue;
        }
        if file.is_some() {
            return Err(Problem::invalid_params(&name, "given twice"));
        }
        let by_type = field.content_type().map(essence);
        if by_type.as_deref().is_some_and(is_network_pcm) {
            let reason =
                "audio/L16 and its like are not taken; send WAV, or little-endian audio/pcm";
            return Err(Problem::invalid_params(&name, reason));
        }
        let by_type = by_type.as_deref().and_then(format_of);
        let format = by_type.or_else(|| field.file_name().and_then(format_of_file));
        let bytes = field.bytes().await.map_err(|_| unreadable())?;
        file = Some((bytes, format));
    }
    drop((form, held_by_body));
    let name = audio.first().copied().unwrap_or_default();
    let (audio, format) = file.ok_or_else(|| Problem::invalid_params(name, "required"))?;
    Ok(Upload {
        audio,
        format,
        fields,
        held,
    })
}

fn check_is_form(parts: &Parts) -> Result<(), Problem> {
    if media_type(&parts.headers) == "multipart/form-data" {
        return Ok(());
    }
    let message = "This endpoint takes multipart/form-data.";
    Err(Problem::new(ErrorCode::UnsupportedMediaType, message))
}

/// The whole body was read before: with its limit, and with the time limits of all bodies.
async fn open(parts: &Parts, bytes: Bytes) -> Result<Multipart, Problem> {
    let mut request = Request::new(Body::from(bytes));
    *request.headers_mut() = parts.headers.clone();
    DefaultBodyLimit::disable().apply(&mut request);
    let form = Multipart::from_request(request, &()).await;
    form.map_err(|_| unreadable())
}

async fn text(name: &str, field: Field<'_>) -> Result<String, Problem> {
    let bytes = field.bytes().await.map_err(|_| unreadable())?;
    if bytes.len() > MAX_FIELD_BYTES {
        let reason = format!("at most {MAX_FIELD_BYTES} bytes");
        return Err(Problem::invalid_params(name, reason));
    }
    String::from_utf8(bytes.into()).map_err(|_| Problem::invalid_params(name, "expected text"))
}

fn unreadable() -> Problem {
    Problem::new(ErrorCode::InvalidRequest, "The form cannot be read.")
}

fn media_type(headers: &HeaderMap) -> String {
    let given = headers.get(CONTENT_TYPE);
    essence(
        given
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default(),
    )
}

/// A media type without its parameters.
fn essence(media_type: &str) -> String {
    let essence = media_type.split(';').next().unwrap_or_default();
    essence.trim().to_ascii_lowercase()
}

/// What programs send with audio, also those that do not know what they send.
fn may_be_audio(media_type: &str) -> bool {
    media_type.is_empty()
        || media_type.starts_with("audio/")
        || format_of(media_type).is_some()
        || media_type == "application/octet-stream"
        // What curl's `--data-binary` says when nobody says anything.
        || media_type == "application/x-www-form-urlencoded"
}

/// Bare samples as telephones and RTP send them (RFC 3551, section 4.5.11; RFC 3190): big-endian, at a rate
/// and with channels that only the parameters tell. Our `pcm` is another thing, and noise would come out.
fn is_network_pcm(media_type: &str) -> bool {
    matches!(
        media_type,
        "audio/l8" | "audio/l16" | "audio/l20" | "audio/l24"
    )
}

/// The format that a media type names (the IANA registry, and what browsers and older programs send).
fn format_of(media_type: &str) -> Option<&'static str> {
    Some(match media_type {
        "audio/mpeg" | "audio/mp3" | "audio/x-mp3" | "audio/mpeg3" => "mp3",
        "audio/opus" => "opus",
        "audio/ogg" | "application/ogg" | "video/ogg" | "audio/vorbis" => "ogg",
        "audio/aac" | "audio/aacp" | "audio/x-aac" => "aac",
        "audio/pcm" => "pcm",
        "audio/wav" | "audio/wave" | "audio/x-wav" | "audio/vnd.wave" => "wav",
        "audio/webm" | "video/webm" => "webm",
        "audio/flac" | "audio/x-flac" => "flac",
        "audio/mp4" | "audio/m4a" | "audio/x-m4a" | "video/mp4" => "m4a",
        _ => return None,
    })
}

/// The format that a file's name ends with.
fn format_of_file(name: &str) -> Option<&'static str> {
    let (_, ending) = name.rsplit_once('.')?;
    Some(match ending.to_ascii_lowercase().as_str() {
        "mp3" | "mpga" | "mpeg" => "mp3",
        "opus" => "opus",
        "ogg" | "oga" => "ogg",
        "aac" => "aac",
        "pcm" => "pcm",
        "wav" => "wav",
        "webm" => "webm",
        "flac" => "flac",
        "m4a" | "mp4" => "m4a",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plenty() -> ByteBudget {
        ByteBudget::new(MAX_UPLOAD_BYTES)
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
        read(&head, body, &plenty()).await
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
        // The media type counts more than the file's name.
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
        let cut = read(&head, cut, &plenty()).await;
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
            let upload = read(&of(media_type), Body::from("x"), &plenty())
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
            let refused = read(&of(media_type), Body::from("x"), &plenty())
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
        let budget = ByteBudget::new(10);
        let refused = async |size: usize| {
            let outcome = read(&head, Body::from("x".repeat(size)), &budget).await;
            outcome.unwrap_err()
        };
        let six = read(&head, Body::from("x".repeat(6)), &budget).await;
        let six = six.unwrap();
        let problem = refused(5).await;
        assert_eq!(problem.code, ErrorCode::RateLimited);
        assert_eq!(problem.details["retry_after_seconds"], 1);
        let four = read(&head, Body::from("xxxx"), &budget).await.unwrap();
        assert_eq!(refused(1).await.code, ErrorCode::RateLimited);
        // Until they are done with.
        drop((six.held, four.held));
        assert!(budget.take(10).is_some());
        assert_eq!(refused(11).await.code, ErrorCode::RateLimited);
        assert!(budget.take(10).is_some());
    }

    #[tokio::test]
    async fn a_form_counts_twice_while_it_is_read() {
        let parts = [("name=\"file\"; filename=\"a\"", "audio")];
        let (_, body) = form(&parts);
        let size = usize::try_from(axum::body::HttpBody::size_hint(&body).lower()).unwrap();
        for (limit, fits) in [(size * 2, true), (size * 2 - 1, false)] {
            let budget = ByteBudget::new(limit);
            let (head, body) = form(&parts);
            let upload = read(&head, body, &budget).await;
            assert_eq!(upload.is_ok(), fits, "{limit}");
            if let Ok(upload) = &upload {
                assert_eq!(&upload.audio[..], b"audio");
                assert!(budget.take(size).is_some() && budget.take(size + 1).is_none());
            }
            drop(upload);
            assert!(budget.take(limit).is_some());
        }
    }
}
