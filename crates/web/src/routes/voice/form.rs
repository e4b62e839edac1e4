//! Incoming audio: as the body itself or in a form (RFC 7578) with additional text fields.

use super::media_type::{essence, format_of, format_of_file, is_network_pcm, may_be_audio};
use crate::body::{self, Charged};
use axum::body::{Body, Bytes};
use axum::extract::multipart::{Field, Multipart};
use axum::extract::{DefaultBodyLimit, FromRequest, Request};
use futures_util::stream;
use gatehouse_domain::{ErrorCode, Problem};
use gatehouse_rpc::memory_budget::Share;
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use http::request::Parts;
use std::convert::Infallible;

/// The maximum body size in bytes: 25 MiB of audio and 1 MiB of overhead.
pub(super) const MAX_UPLOAD_BYTES: usize = 26 << 20;
/// The maximum size of a text field, in bytes.
const MAX_FIELD_BYTES: usize = 64 * 1024;
/// The size of the pieces passed to the form parser, in bytes.
const PIECE_BYTES: usize = 64 * 1024;
/// The maximum number of text fields in a form.
const MAX_FIELDS: usize = 64;

/// Audio and its description.
#[derive(Debug)]
pub(super) struct Upload {
    pub(super) audio: Bytes,
    /// The format according to the media type or the file name.
    pub(super) format: Option<&'static str>,
    pub(super) fields: Fields,
}

/// Text fields by name. Only names that end in `[]` may occur more than once.
#[derive(Debug, Default)]
pub(super) struct Fields(Vec<(String, String)>);

impl Fields {
    /// Adds a field. `take` treats an empty value as absent, because browsers submit empty form fields.
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

    /// Removes and returns the field with this name.
    pub(super) fn take(&mut self, name: &str) -> Option<String> {
        self.take_all(name).pop().filter(|value| !value.is_empty())
    }

    /// Removes and returns all fields with this name.
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

    /// Fails when unknown fields are left.
    pub(super) fn finish(self) -> Result<(), Problem> {
        match self.0.first() {
            None => Ok(()),
            Some((name, _)) => Err(Problem::invalid_params(name, "unknown field")),
        }
    }
}

/// Reads audio from the body or from a form field `file` or `audio`.
pub(super) async fn read(parts: &Parts, body: Body, share: Share) -> Result<Upload, Problem> {
    let media_type = media_type(&parts.headers);
    if media_type == "multipart/form-data" {
        return read_form(parts, body, share, &["file", "audio"]).await;
    }
    if !may_be_audio(&media_type) || is_network_pcm(&media_type) {
        let message = "This endpoint accepts audio, or multipart/form-data with a field `file`.";
        return Err(Problem::new(ErrorCode::UnsupportedMediaType, message));
    }
    Ok(Upload {
        audio: body::read(body, MAX_UPLOAD_BYTES, share).await?,
        format: format_of(&media_type),
        fields: Fields::default(),
    })
}

/// Reads a form with audio in one of the fields `audio`.
pub(super) async fn read_form(
    parts: &Parts,
    body: Body,
    share: Share,
    audio: &[&'static str],
) -> Result<Upload, Problem> {
    check_is_form(parts)?;
    let mut copy = share.sibling();
    let bytes = body::read(body, MAX_UPLOAD_BYTES, share).await?;
    // The values extracted from the form are copies, so they are charged separately.
    if !copy.grow(bytes.len()) {
        return Err(body::no_room());
    }
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
            let reason = "audio/L16 and similar types are not supported; send WAV, or \
                          little-endian audio/pcm";
            return Err(Problem::invalid_params(&name, reason));
        }
        let by_type = by_type.as_deref().and_then(format_of);
        let format = by_type.or_else(|| field.file_name().and_then(format_of_file));
        let bytes = field.bytes().await.map_err(|_| unreadable())?;
        file = Some((bytes, format));
    }
    drop(form);
    let name = audio.first().copied().unwrap_or_default();
    let (audio, format) = file.ok_or_else(|| Problem::invalid_params(name, "required"))?;
    Ok(Upload {
        audio: Charged::bytes(audio, copy),
        format,
        fields,
    })
}

fn check_is_form(parts: &Parts) -> Result<(), Problem> {
    if media_type(&parts.headers) == "multipart/form-data" {
        return Ok(());
    }
    let message = "This endpoint accepts multipart/form-data.";
    Err(Problem::new(ErrorCode::UnsupportedMediaType, message))
}

/// Opens the form parser. The body has already been read within its size and time limits. The parser copies all
/// available data, so it receives the body in pieces.
async fn open(parts: &Parts, bytes: Bytes) -> Result<Multipart, Problem> {
    let pieces = stream::unfold(bytes, |mut left| async move {
        tokio::task::yield_now().await;
        let piece = left.split_to(left.len().min(PIECE_BYTES));
        (!piece.is_empty()).then_some((Ok::<_, Infallible>(piece), left))
    });
    let mut request = Request::new(Body::from_stream(pieces));
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

#[cfg(test)]
mod tests;
