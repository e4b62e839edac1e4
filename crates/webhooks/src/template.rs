//! Templates of deliver-only webhooks: `{a.b.0}` becomes what the payload has there. One pass over the
//! template: what was inserted is never read again, so a payload cannot bring placeholders of its own.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::payload::{Kind, Node, Payload};

/// How many characters `{__raw__}` inserts at most.
pub const MAX_RAW_CHARS: usize = 4000;

/// How many characters an object or array inserts at most.
pub const MAX_JSON_CHARS: usize = 2000;

/// How many bytes a rendered text has at most, its [`CUT_MARK`] included.
pub const MAX_RENDERED_BYTES: usize = 1024 * 1024;

/// Ends a rendered text that was longer.
pub const CUT_MARK: &str = "\n[The text was longer than 1 MiB and is cut here.]";

const RAW: &str = "__raw__";

/// The template with its placeholders filled. `escape` is what the channel's markup needs; it sees
/// the inserted values only, after their cut. A placeholder that names nothing stays as it stands, and
/// so does a brace without its partner; of `{ {a}` the inner one is the placeholder. A text of more than
/// [`MAX_RENDERED_BYTES`] is cut and ends with [`CUT_MARK`].
pub fn render(template: &str, payload: &Payload, escape: &dyn Fn(&str) -> Cow<'_, str>) -> String {
    let mut out = Bounded::default();
    // A template may name the same large value a thousand times.
    let mut known: HashMap<&str, Option<String>> = HashMap::new();
    let mut rest = template;
    while !out.is_over
        && let Some((before, from_brace)) = split_at(rest, '{')
    {
        out.push(before);
        let inside = from_brace.strip_prefix('{').unwrap_or_default();
        let Some((key, after)) = inside
            .find(['{', '}'])
            .and_then(|at| inside.split_at_checked(at))
        else {
            // No brace comes any more.
            rest = from_brace;
            break;
        };
        if after.starts_with('{') {
            out.push("{");
            out.push(key);
            rest = after;
            continue;
        }
        let value = known
            .entry(key)
            .or_insert_with(|| value(payload, key).map(|inserted| escape(&inserted).into_owned()));
        if let Some(value) = value {
            out.push(value);
        } else {
            out.push("{");
            out.push(key);
            out.push("}");
        }
        rest = after.strip_prefix('}').unwrap_or_default();
    }
    out.push(rest);
    out.finish()
}

/// A text that grows up to its limit.
#[derive(Default)]
struct Bounded {
    text: String,
    /// Whether something did not fit.
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

fn split_at(text: &str, brace: char) -> Option<(&str, &str)> {
    text.split_at_checked(text.find(brace)?)
}

fn value<'a>(payload: &'a Payload, key: &str) -> Option<Cow<'a, str>> {
    match key {
        // Before any field of that name.
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
