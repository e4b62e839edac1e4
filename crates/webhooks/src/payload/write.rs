//! Writes values back as JSON: pretty or compact, cut at a number of characters. A cut stops the work
//! too, so a short piece of a large payload costs little.

use super::node::Node;
use super::tree::Inside;

/// How JSON is laid out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// Two spaces an indent, a space behind a colon.
    Pretty,
    /// No white space.
    Compact,
}

/// The value as JSON, cut after so many characters.
pub(super) fn json(node: Node<'_>, layout: Layout, max_chars: usize) -> String {
    let mut writer = Writer {
        out: String::new(),
        left: max_chars,
        layout,
    };
    // A cut is a way to end, not a failure.
    let _cut = writer.value(node, 0);
    writer.out
}

/// The text has reached its length.
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

    /// A line break and the indent of this depth, if there is a layout.
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
        // Only quotes, backslashes and control characters are escaped.
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
