//! Files in the payload of a delivery. Pictures and documents in Base64 become files of the agent's message. The
//! text of the message has a short description instead of each file.

use crate::handle::{Inner, Webhooks};
use bytes::Bytes;
use data_encoding::BASE64_NOPAD;
use futures_util::future::BoxFuture;
use gatehouse_agents::NewAttachment;
use gatehouse_sources::payload::{Kind, Node, Payload};
use std::ops::Range;
use std::sync::Arc;

/// Maximum number of files that are read from a payload.
const MAX_FILES: usize = 4;
/// The minimum length of a string that may be a file, in characters.
const MIN_CHARACTERS: usize = 64;
/// The beginnings of PNG, JPEG, WebP, PDF and ZIP files in Base64.
const BEGINNINGS: [&str; 5] = ["iVBORw0KGgo", "/9j/", "UklGR", "JVBERi0", "UEsDB"];

/// Reads a file for attaching it to a message. Returns `None` if that is impossible.
pub type ReadFile = Arc<dyn Fn(Bytes) -> BoxFuture<'static, Option<NewAttachment>> + Send + Sync>;

/// The files of a payload.
#[derive(Debug, Default)]
pub(super) struct PayloadFiles {
    /// The payload with descriptions instead of the files. `None` if there are no files.
    pub(super) without: Option<Payload>,
    pub(super) files: Vec<NewAttachment>,
}

/// A string that may be a file.
struct Candidate<'a> {
    /// The JSON text.
    raw: &'a str,
    /// The positions in the payload's text at which the string is a value.
    places: Vec<Range<usize>>,
    /// The decoded content.
    data: Bytes,
}

impl Webhooks {
    /// Sets the reader of files in payloads. Without a reader, files stay in the payload. Only the first call has
    /// an effect.
    pub fn read_files_with(&self, read: ReadFile) {
        drop(self.0.read_file.set(read));
    }
}

/// Extracts the files from a copy of the payload.
pub(super) async fn take(inner: &Inner, payload: &Payload) -> PayloadFiles {
    let Some(read) = inner.read_file.get() else {
        return PayloadFiles::default();
    };
    let found = candidates(payload, inner.agents.attachment_max_bytes());
    if found.is_empty() {
        return PayloadFiles::default();
    }
    let (mut replaced, mut files) = (Vec::new(), Vec::new());
    for Candidate { places, data, .. } in found {
        let file = read(data).await;
        let Some(file) = file.filter(|file| file.picture.is_some() || file.text.is_some()) else {
            continue;
        };
        let (name, description) = described(&file, files.len() + 1);
        replaced.extend(places.into_iter().map(|at| (at, description.clone())));
        files.push(NewAttachment { name, ..file });
    }
    if files.is_empty() {
        return PayloadFiles::default();
    }
    match Payload::from_json(&with_descriptions(payload.text(), replaced)) {
        Ok(without) => PayloadFiles {
            without: Some(without),
            files,
        },
        Err(error) => {
            tracing::error!(%error, "the files of a payload could not be taken out of it");
            PayloadFiles::default()
        }
    }
}

/// Returns the name and the description of a file.
fn described(file: &NewAttachment, number: usize) -> (String, String) {
    let media_type = file.media_type;
    if let Some((width, height)) = file.pixels {
        let extension = media_type.strip_prefix("image/").unwrap_or("img");
        return (
            format!("picture-{number}.{extension}"),
            format!("[picture {number}: {media_type}, {width} × {height} pixels]"),
        );
    }
    (
        format!("file-{number}"),
        format!("[file {number}: {media_type}, {} bytes]", file.data.len()),
    )
}

/// Returns a JSON text with these strings replaced. The descriptions need no escapes.
fn with_descriptions(text: &str, mut replaced: Vec<(Range<usize>, String)>) -> String {
    replaced.sort_by_key(|(at, _)| at.start);
    let (mut result, mut from) = (String::new(), 0);
    for (at, description) in replaced {
        result.push_str(text.get(from..at.start).unwrap_or_default());
        result.extend(["\"", description.as_str(), "\""]);
        from = at.end;
    }
    result.push_str(text.get(from..).unwrap_or_default());
    result
}

/// Returns the first strings that may be files of at most `max_bytes`, in payload order. Equal strings are one
/// file.
fn candidates(payload: &Payload, max_bytes: u64) -> Vec<Candidate<'_>> {
    let mut found: Vec<Candidate<'_>> = Vec::new();
    let mut waiting = vec![payload.root()];
    while let Some(node) = waiting.pop() {
        match node.kind() {
            Kind::Object | Kind::Array => {
                let members = node.entries().map(|(_, member)| member);
                let inside: Vec<Node<'_>> = members.chain(node.items()).collect();
                waiting.extend(inside.into_iter().rev());
            }
            Kind::String => {
                let (raw, place) = (node.raw(), node.place());
                if let Some(same) = found.iter_mut().find(|earlier| earlier.raw == raw) {
                    same.places.push(place);
                } else if found.len() < MAX_FILES
                    && let Some(data) = data_of(node, max_bytes)
                {
                    found.push(Candidate {
                        raw,
                        places: vec![place],
                        data,
                    });
                }
            }
            Kind::Null | Kind::Bool | Kind::Number => {}
        }
    }
    found
}

/// Decodes the content of a string that may be a file.
fn data_of(node: Node<'_>, max_bytes: u64) -> Option<Bytes> {
    let text = node.as_str()?;
    if text.len() < MIN_CHARACTERS {
        return None;
    }
    let base64 = base64_of(&text)?;
    let base64: String = base64.split_ascii_whitespace().collect();
    let base64 = base64.trim_end_matches('=');
    // Four characters encode three bytes.
    let max_characters = max_bytes.saturating_add(2) / 3 * 4;
    if base64.len() as u64 > max_characters {
        return None;
    }
    let data = BASE64_NOPAD.decode(base64.as_bytes()).ok()?;
    (data.len() as u64 <= max_bytes).then(|| Bytes::from(data))
}

/// Returns the Base64 text in a string: the data of a `data:` URL (RFC 2397), or the whole string if it begins like
/// a file.
fn base64_of(text: &str) -> Option<&str> {
    let text = text.trim();
    if let Some((scheme, rest)) = text.split_once(':')
        && scheme.eq_ignore_ascii_case("data")
    {
        let (about, data) = rest.split_once(',')?;
        let (_, encoding) = about.rsplit_once(';')?;
        return encoding
            .trim()
            .eq_ignore_ascii_case("base64")
            .then_some(data);
    }
    let is_file = BEGINNINGS
        .iter()
        .any(|beginning| text.starts_with(beginning));
    is_file.then_some(text)
}

#[cfg(test)]
mod tests;
