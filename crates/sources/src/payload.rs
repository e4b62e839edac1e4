//! A sender's payload as JSON text with an index. Parses bodies (JSON, or a form converted to JSON), finds values
//! by path, and serializes values. Independent of the meaning of vendor fields.
//!
//! The original text is kept, so key order and number spelling (`1.0`, `1e400`, `12345678901234567890`) survive. If
//! a key occurs twice, the last value is used, at the position of the first, as in JavaScript.

mod encode;
pub(crate) mod form;
mod node;
mod text;
mod tree;
mod write;

use std::borrow::Cow;
use std::fmt;

use gatehouse_domain::{ErrorCode, Problem};
use serde::de::IgnoredAny;

pub use encode::encode;
pub use node::{Kind, Node};

use tree::Tree;

/// Maximum nesting depth of objects and arrays. Deeper bodies are rejected before any recursive code runs.
pub const MAX_DEPTH: usize = 128;

/// How a body encodes the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyKind {
    /// JSON.
    Json,
    /// JSON, or a form whose field `payload` contains JSON.
    JsonOrFormPayload,
    /// A form whose fields are the payload. JSON is accepted as well.
    Form,
}

/// A parsed body.
#[derive(Clone)]
pub struct Payload {
    text: String,
    tree: Tree,
}

/// Why a body could not be parsed. The error contains none of the body's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PayloadError {
    #[error("The body is empty.")]
    Empty,
    #[error("The body is not UTF-8.")]
    NotUtf8,
    /// The body is not exactly one JSON value.
    #[error("The body is not JSON (line {line}, column {column}).")]
    NotJson {
        /// 1-based.
        line: usize,
        /// 1-based; 0 before the first byte of a line.
        column: usize,
    },
    /// The body does not look like JSON, and is not a form with the field `payload`.
    #[error("The body is neither JSON nor a form with the field payload.")]
    NoPayloadField,
    /// Objects and arrays are nested deeper than [`MAX_DEPTH`].
    #[error("The body is nested deeper than {MAX_DEPTH} levels.")]
    TooDeep,
    /// The body is 4 GiB or larger.
    #[error("The body is too large.")]
    TooLarge,
}

impl PayloadError {
    /// Returns a label for metrics and for the delivery's record.
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Empty => "empty_body",
            Self::NotUtf8 => "not_utf8",
            Self::NotJson { .. } => "not_json",
            Self::NoPayloadField => "no_payload_field",
            Self::TooDeep => "too_deep",
            Self::TooLarge => "too_large",
        }
    }
}

impl From<PayloadError> for Problem {
    fn from(error: PayloadError) -> Self {
        Self::new(ErrorCode::ParseError, error.to_string())
    }
}

impl Payload {
    /// Parses a body in a profile's format. Ignores headers, because senders often send a wrong content type. The
    /// format can be determined from the body.
    pub fn read(kind: BodyKind, body: &[u8]) -> Result<Self, PayloadError> {
        if body.is_empty() {
            return Err(PayloadError::Empty);
        }
        if kind == BodyKind::Json || form::looks_like_json(body) {
            let text = std::str::from_utf8(body).map_err(|_| PayloadError::NotUtf8)?;
            return Self::from_text(Cow::Borrowed(text));
        }
        match kind {
            BodyKind::Form => Self::from_text(Cow::Owned(form::fields_as_json(body)?)),
            BodyKind::Json | BodyKind::JsonOrFormPayload => {
                Self::from_text(Cow::Owned(form::payload_field(body)?))
            }
        }
    }

    pub fn from_json(text: &str) -> Result<Self, PayloadError> {
        Self::from_text(Cow::Borrowed(text))
    }

    fn from_text(text: Cow<'_, str>) -> Result<Self, PayloadError> {
        if text.is_empty() {
            return Err(PayloadError::Empty);
        }
        // Serde validates the text without recursion. The index then only needs to match brackets.
        serde_json::from_str::<IgnoredAny>(&text).map_err(|error| PayloadError::NotJson {
            line: error.line(),
            column: error.column(),
        })?;
        let tree = Tree::index(&text)?;
        Ok(Self {
            text: text.into_owned(),
            tree,
        })
    }

    /// Returns the JSON text: the original body, the content of a form's `payload` field, or an object built from
    /// the form's fields.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the text of [`Payload::text`].
    pub fn into_text(self) -> String {
        self.text
    }

    pub fn root(&self) -> Node<'_> {
        Node::new(&self.text, &self.tree)
    }

    /// Returns the value at a dot-separated path of keys and array indexes, such as `pull_request.labels.0`.
    pub fn get(&self, path: &str) -> Option<Node<'_>> {
        self.root().at(path)
    }

    /// Returns the string at a path. Returns `None` for any other type.
    pub fn string(&self, path: &str) -> Option<Cow<'_, str>> {
        self.get(path)?.as_str()
    }
}

/// Prints only the size, because payloads are untrusted data.
impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Payload")
            .field("bytes", &self.text.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
