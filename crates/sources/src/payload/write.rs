//! Serializes values as indented or compact JSON, up to a number of characters. Serialization stops at the limit,
//! so a short excerpt of a large payload is cheap.

use super::node::Node;
use super::tree::Inside;

impl Node<'_> {
    /// Formats as JSON with two-space indentation, truncated to `max_chars`.
    pub fn pretty(self, max_chars: usize) -> String {
        json(self, Layout::Pretty, max_chars)
    }

    /// Formats as JSON without white space, truncated to `max_chars`.
    pub fn compact(self, max_chars: usize) -> String {
        json(self, Layout::Compact, max_chars)
    }
}

/// The JSON layout.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// Two-space indentation and a space after each colon.
    Pretty,
    Compact,
}

/// Formats a value as JSON, truncated to `max_chars`.
fn json(node: Node<'_>, layout: Layout, max_chars: usize) -> String {
    let mut writer = Writer {
        out: String::new(),
        left: max_chars,
        layout,
    };
    // Reaching the limit is not an error.
    let _cut = writer.value(node, 0);
    writer.out
}

/// The character limit was reached.
struct Full;

struct Writer {
    out: String,
    left: usize,
    layout: Layout,
}

impl Writer {
    fn put(&mut self, text: &str) -> Result<(), Full> {
        if let Some((end, _)) = text.char_indices().nth(self.left) {
            self.out.push_str(text.get(..end).unwrap_or_default());
            self.left = 0;
            return Err(Full);
        }
        self.left -= text.chars().count();
        self.out.push_str(text);
        Ok(())
    }

    /// Writes a line break and indentation; nothing in the compact layout.
    fn line(&mut self, depth: usize) -> Result<(), Full> {
        if self.layout == Layout::Compact {
            return Ok(());
        }
        self.put("\n")?;
        for _ in 0..depth {
            self.put("  ")?;
        }
        Ok(())
    }

    fn string(&mut self, text: &str) -> Result<(), Full> {
        // serde_json escapes only quotes, backslashes and control characters.
        let quoted = serde_json::to_string(text).unwrap_or_default();
        self.put(&quoted)
    }

    fn value(&mut self, node: Node<'_>, depth: usize) -> Result<(), Full> {
        match node.inside() {
            Inside::Null | Inside::Bool | Inside::Number => self.put(node.raw()),
            Inside::String => self.string(&node.as_str().unwrap_or_default()),
            Inside::Array(items) if items.is_empty() => self.put("[]"),
            Inside::Object(members) if members.is_empty() => self.put("{}"),
            Inside::Array(_) => {
                self.put("[")?;
                for (index, item) in node.items().enumerate() {
                    if index > 0 {
                        self.put(",")?;
                    }
                    self.line(depth + 1)?;
                    self.value(item, depth + 1)?;
                }
                self.line(depth)?;
                self.put("]")
            }
            Inside::Object(_) => {
                self.put("{")?;
                for (index, (key, value)) in node.entries().enumerate() {
                    if index > 0 {
                        self.put(",")?;
                    }
                    self.line(depth + 1)?;
                    self.string(key)?;
                    self.put(if self.layout == Layout::Pretty {
                        ": "
                    } else {
                        ":"
                    })?;
                    self.value(value, depth + 1)?;
                }
                self.line(depth)?;
                self.put("}")
            }
        }
    }
}
