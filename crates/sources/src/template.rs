//! Templates of webhooks that send to a channel: `{a.b.0}` is replaced with the payload's value at that path.
//! Rendering is a single pass that never rescans inserted text, so a payload cannot inject placeholders. JSON
//! templates are in [`json`].

pub mod json;
mod pieces;

use std::borrow::Cow;
use std::collections::HashMap;

use indexmap::IndexSet;

use crate::payload::{Kind, Node, Payload};
use pieces::{Piece, is_name, pieces};

/// Maximum number of characters that `{__raw__}` inserts.
pub const MAX_RAW_CHARS: usize = 4000;

/// Maximum number of characters that an object or array inserts.
pub const MAX_JSON_CHARS: usize = 2000;

/// Maximum size of a rendered text in bytes, including [`CUT_MARK`].
pub const MAX_RENDERED_BYTES: usize = 1024 * 1024;

/// Appended to a rendered text that was truncated.
pub const CUT_MARK: &str = "\n[The text was longer than 1 MiB and is cut here.]";

const RAW: &str = "__raw__";
const ANSWER: &str = "answer";

/// Renders a template. `escape` applies the channel's markup escaping to inserted values, after they are truncated.
/// Placeholders without a value and unmatched braces remain unchanged. In `{ {a}`, the inner pair is the
/// placeholder. A text larger than [`MAX_RENDERED_BYTES`] is truncated and ends with [`CUT_MARK`].
pub fn render(template: &str, payload: &Payload, escape: &dyn Fn(&str) -> Cow<'_, str>) -> String {
    render_with(template, payload, None, escape)
}

/// Like [`render`], but `{answer}` inserts the answer of an agent, which the caller has escaped. The answer takes
/// precedence over a field with the name `answer`.
pub fn render_answer(
    template: &str,
    payload: &Payload,
    answer: &str,
    escape: &dyn Fn(&str) -> Cow<'_, str>,
) -> String {
    render_with(template, payload, Some(answer), escape)
}

fn render_with(
    template: &str,
    payload: &Payload,
    answer: Option<&str>,
    escape: &dyn Fn(&str) -> Cow<'_, str>,
) -> String {
    let mut out = Bounded::default();
    // Caches values, because a template can contain the same large value a thousand times.
    let mut known: HashMap<&str, Option<String>> = HashMap::new();
    for piece in pieces(template) {
        if out.is_over {
            break;
        }
        let key = match piece {
            Piece::Text(text) => {
                out.push(text);
                continue;
            }
            Piece::Name(key) => key,
        };
        let value = match answer.filter(|_| key == ANSWER) {
            Some(answer) => Some(answer),
            None => known
                .entry(key)
                .or_insert_with(|| {
                    value(payload, key).map(|inserted| escape(&inserted).into_owned())
                })
                .as_deref(),
        };
        if let Some(value) = value {
            out.push(value);
        } else {
            out.push("{");
            out.push(key);
            out.push("}");
        }
    }
    out.finish()
}

/// A text with a maximum size of [`MAX_RENDERED_BYTES`].
#[derive(Default)]
struct Bounded {
    text: String,
    /// Whether some text did not fit.
    is_over: bool,
}

impl Bounded {
    fn push(&mut self, more: &str) {
        let room = MAX_RENDERED_BYTES.saturating_sub(self.text.len());
        if self.is_over || more.len() > room {
            self.is_over = true;
            let fits = more.floor_char_boundary(room);
            self.text.push_str(more.get(..fits).unwrap_or_default());
        } else {
            self.text.push_str(more);
        }
    }

    fn finish(mut self) -> String {
        if self.is_over {
            let end = MAX_RENDERED_BYTES - CUT_MARK.len();
            self.text.truncate(self.text.floor_char_boundary(end));
            self.text.push_str(CUT_MARK);
        }
        self.text
    }
}

/// Returns the names in a template that the payload does not contain, without repetitions.
pub fn missing(template: &str, payload: &Payload) -> Vec<String> {
    let mut names = IndexSet::new();
    for piece in pieces(template) {
        if let Piece::Name(name) = piece
            && is_name(name)
            && name != RAW
            && payload.get(name).is_none()
        {
            names.insert(name);
        }
    }
    names.into_iter().map(str::to_owned).collect()
}

fn value<'a>(payload: &'a Payload, key: &str) -> Option<Cow<'a, str>> {
    match key {
        // The whole payload takes precedence over a field with this name.
        RAW => Some(Cow::Owned(payload.root().pretty(MAX_RAW_CHARS))),
        "" => None,
        path => Some(inserted(payload.get(path)?)),
    }
}

fn inserted(node: Node<'_>) -> Cow<'_, str> {
    match node.kind() {
        Kind::String => node.as_str().unwrap_or_default(),
        Kind::Number | Kind::Bool | Kind::Null => Cow::Borrowed(node.raw()),
        Kind::Array | Kind::Object => Cow::Owned(node.compact(MAX_JSON_CHARS)),
    }
}

#[cfg(test)]
mod tests;
