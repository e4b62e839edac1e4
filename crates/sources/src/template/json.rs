//! JSON templates. Placeholders are in strings. A string that consists of one placeholder becomes the payload's
//! value with its type. In a longer string, the value is inserted as text. Braces that are not placeholders remain
//! unchanged. The result is always JSON, for any payload.

use std::borrow::Cow;

use indexmap::IndexSet;

use super::pieces::{Piece, is_name, is_path, pieces};
use super::{ANSWER, MAX_RENDERED_BYTES, RAW, value};
use crate::payload::{Kind, MAX_DEPTH, Node, Payload, PayloadError};

/// Why a template is not JSON. The text continues a sentence about the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JsonTemplateError {
    #[error(
        "not JSON (line {line}, column {column}); placeholders are in quotes, as in \"{{title}}\""
    )]
    NotJson { line: usize, column: usize },
    #[error("nested deeper than {MAX_DEPTH} levels")]
    TooDeep,
}

/// Why a template cannot be rendered with a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JsonRenderError {
    #[error("larger than 1 MiB")]
    TooLarge,
    #[error("nested deeper than {MAX_DEPTH} levels")]
    TooDeep,
}

/// A parsed JSON template.
#[derive(Clone, Debug)]
pub struct JsonTemplate(Payload);

/// A rendered template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenderedJson {
    /// JSON without white space between its parts, at most [`MAX_RENDERED_BYTES`] long and [`MAX_DEPTH`] deep.
    pub text: String,
    /// The names that the payload does not contain, without repetitions. A string that consists only of such a name
    /// becomes `null`. In a longer string, the placeholder remains unchanged.
    pub missing: Vec<String>,
}

impl JsonTemplate {
    pub fn parse(template: &str) -> Result<Self, JsonTemplateError> {
        Payload::from_json(template)
            .map(Self)
            .map_err(|error| match error {
                PayloadError::TooDeep => JsonTemplateError::TooDeep,
                PayloadError::NotJson { line, column } => {
                    JsonTemplateError::NotJson { line, column }
                }
                _ => JsonTemplateError::NotJson { line: 1, column: 0 },
            })
    }

    /// Renders the template. `{answer}` inserts the answer of an agent, if there is one, and takes precedence over
    /// a field with this name.
    pub fn render(
        &self,
        payload: &Payload,
        answer: Option<&str>,
    ) -> Result<RenderedJson, JsonRenderError> {
        let mut writer = Writer {
            payload,
            answer,
            out: String::new(),
            missing: IndexSet::new(),
        };
        writer.node(self.0.root(), 0)?;
        Ok(RenderedJson {
            text: writer.out,
            missing: writer.missing.into_iter().collect(),
        })
    }
}

type Written = Result<(), JsonRenderError>;

struct Writer<'a> {
    payload: &'a Payload,
    answer: Option<&'a str>,
    out: String,
    missing: IndexSet<String>,
}

impl<'a> Writer<'a> {
    fn put(&mut self, text: &str) -> Written {
        if text.len() > self.room() {
            return Err(JsonRenderError::TooLarge);
        }
        self.out.push_str(text);
        Ok(())
    }

    fn room(&self) -> usize {
        MAX_RENDERED_BYTES.saturating_sub(self.out.len())
    }

    fn string(&mut self, text: &str) -> Written {
        self.put(&quoted(text))
    }

    /// Writes a node of the template that is inside `depth` objects and arrays.
    fn node(&mut self, node: Node<'_>, depth: usize) -> Written {
        match node.kind() {
            Kind::Null | Kind::Bool | Kind::Number => self.put(node.raw()),
            Kind::String => self.template(&node.as_str().unwrap_or_default(), depth),
            Kind::Array => {
                self.put("[")?;
                for (index, item) in node.items().enumerate() {
                    if index > 0 {
                        self.put(",")?;
                    }
                    self.node(item, depth + 1)?;
                }
                self.put("]")
            }
            Kind::Object => {
                self.put("{")?;
                for (index, (key, item)) in node.entries().enumerate() {
                    if index > 0 {
                        self.put(",")?;
                    }
                    self.string(key)?;
                    self.put(":")?;
                    self.node(item, depth + 1)?;
                }
                self.put("}")
            }
        }
    }

    /// Writes a string of the template.
    fn template(&mut self, template: &str, depth: usize) -> Written {
        let mut parts = pieces(template);
        if let (Some(Piece::Name(name)), None) = (parts.next(), parts.next())
            && is_name(name)
        {
            return self.whole(name, depth);
        }
        let mut text = String::new();
        for piece in pieces(template) {
            match piece {
                Piece::Text(part) => text.push_str(part),
                Piece::Name(name) => match self.part(name) {
                    Some(value) => text.push_str(&value),
                    None => text.extend(["{", name, "}"]),
                },
            }
            if text.len() > self.room() {
                return Err(JsonRenderError::TooLarge);
            }
        }
        self.string(&text)
    }

    /// Writes the value of a placeholder that is the whole string.
    fn whole(&mut self, name: &str, depth: usize) -> Written {
        if let Some(answer) = self.answer.filter(|_| name == ANSWER) {
            return self.string(answer);
        }
        let node = if name == RAW {
            Some(self.payload.root())
        } else {
            self.payload.get(name)
        };
        let Some(node) = node else {
            self.missing.insert(name.to_owned());
            return if is_path(name) {
                self.put("null")
            } else {
                self.string(&["{", name, "}"].concat())
            };
        };
        // Writes one character more than fits, so that a truncated value exceeds the limit.
        self.put(&node.compact(self.room().saturating_add(1)))?;
        if depth + depth_of(node) > MAX_DEPTH {
            return Err(JsonRenderError::TooDeep);
        }
        Ok(())
    }

    /// Returns the text that replaces a pair of braces in a longer string. Returns `None` if the braces are not a
    /// placeholder, or if the payload does not have the field.
    fn part(&mut self, name: &str) -> Option<Cow<'a, str>> {
        if !is_name(name) {
            return None;
        }
        if let Some(answer) = self.answer.filter(|_| name == ANSWER) {
            return Some(Cow::Borrowed(answer));
        }
        let found = value(self.payload, name);
        if found.is_none() {
            self.missing.insert(name.to_owned());
        }
        found
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Returns the nesting depth of objects and arrays; 0 for any other value.
fn depth_of(node: Node<'_>) -> usize {
    if !matches!(node.kind(), Kind::Array | Kind::Object) {
        return 0;
    }
    let items = node.items().map(depth_of).max();
    let members = node.entries().map(|(_, member)| depth_of(member)).max();
    1 + items.max(members).unwrap_or(0)
}

#[cfg(test)]
mod tests;
