//! What a sender sent, as JSON text with an index over it. Owns reading bodies (JSON, or a form made
//! into JSON), look-ups by path and writing values back; must not know what any vendor's fields mean.
//!
//! The text is kept as it was sent, so key order and the spelling of numbers (`1.0`, `1e400`,
//! `12345678901234567890`) survive. Of a key that is there twice the last value counts, as in
//! JavaScript; it stands where the first one stood.

pub(crate) mod form;
mod node;
mod tree;
mod write;

use std::borrow::Cow;
use std::fmt;

use gatehouse_domain::{ErrorCode, Problem};
use http::HeaderMap;
use serde::de::IgnoredAny;

pub use node::{Kind, Node};

use crate::profile::Profile;
use tree::Tree;

/// How deep objects and arrays may be nested. Deeper is refused before anything recurses.
pub const MAX_DEPTH: usize = 128;

/// How a profile's senders put JSON into a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyKind {
    /// The body is JSON.
    Json,
    /// The body is JSON, or a form with the JSON in its field `payload`.
    JsonOrFormPayload,
    /// The body is a form whose fields are the payload. JSON is taken too.
    Form,
}

/// A body that was read.
#[derive(Clone)]
pub struct Payload {
    text: String,
    tree: Tree,
}

/// Why a body could not be read. Says nothing of its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PayloadError {
    /// There is none.
    #[error("The body is empty.")]
    Empty,
    /// Some byte is not UTF-8.
    #[error("The body is not UTF-8.")]
    NotUtf8,
    /// It is not one JSON value.
    #[error("The body is not JSON (line {line}, column {column}).")]
    NotJson {
        /// From 1.
        line: usize,
        /// From 1; 0 before the first byte of a line.
        column: usize,
    },
    /// It is a form without the field that carries the payload.
    #[error("The form has no field payload.")]
    NoPayloadField,
    /// Objects and arrays are nested deeper than [`MAX_DEPTH`].
    #[error("The body is nested deeper than {MAX_DEPTH} levels.")]
    TooDeep,
    /// It has four gibibytes or more.
    #[error("The body is too large.")]
    TooLarge,
}

impl PayloadError {
    /// A label for metrics and for the delivery's record.
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
    /// Reads a body as the profile's senders write it. Headers do not decide: a content type that
    /// does not fit the body is common, and the body itself leaves no doubt.
    pub fn parse(
        profile: &Profile,
        _headers: &HeaderMap,
        body: &[u8],
    ) -> Result<Self, PayloadError> {
        Self::read(profile.body, body)
    }

    /// As [`Payload::parse`], for those who know only the kind of body.
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

    /// Reads JSON text.
    pub fn from_json(text: &str) -> Result<Self, PayloadError> {
        Self::from_text(Cow::Borrowed(text))
    }

    fn from_text(text: Cow<'_, str>) -> Result<Self, PayloadError> {
        if text.is_empty() {
            return Err(PayloadError::Empty);
        }
        // serde_json decides what is JSON, without recursion; the index then only follows brackets.
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

    /// The JSON text: the body as it was sent, a form's field `payload`, or an object made of a
    /// form's fields.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text, when nothing else is needed any more.
    pub fn into_text(self) -> String {
        self.text
    }

    /// The whole value.
    pub fn root(&self) -> Node<'_> {
        Node::new(&self.text, &self.tree)
    }

    /// The value at a path of keys and array indexes with dots between (`pull_request.labels.0`).
    pub fn get(&self, path: &str) -> Option<Node<'_>> {
        self.root().at(path)
    }

    /// The text at a path, if there is a string. A number or anything else is none.
    pub fn string(&self, path: &str) -> Option<Cow<'_, str>> {
        self.get(path)?.as_str()
    }

    /// The whole as JSON with an indent of two spaces; non-ASCII characters as themselves.
    pub fn pretty(&self) -> String {
        self.root().pretty(usize::MAX)
    }

    /// The whole as JSON without white space; non-ASCII characters as themselves.
    pub fn compact(&self) -> String {
        self.root().compact(usize::MAX)
    }
}

/// Payloads are strangers' data: a log shows their size only.
impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Payload")
            .field("bytes", &self.text.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
