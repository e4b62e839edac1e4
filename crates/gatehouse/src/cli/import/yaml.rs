//! YAML, with the line of each value. Aliases are refused: configurations rarely use them, and they let a small file
//! expand to a large one.

use super::node::{Content, MAX_DEPTH, Node};
use saphyr_parser::{Event, Parser, ScalarStyle};

/// The mistake and its line.
type Wrong = (usize, String);

/// A list or map that is not complete.
struct Open {
    line: usize,
    /// `None` for a list.
    fields: Option<Vec<(String, Node)>>,
    items: Vec<Node>,
    /// The key whose value comes next.
    key: Option<String>,
}

/// Reads a file with one document. An empty file is an empty map.
pub fn read(text: &str) -> Result<Node, Wrong> {
    let mut open: Vec<Open> = Vec::new();
    let mut root: Option<Node> = None;
    for event in Parser::new_from_str(text) {
        let (event, span) =
            event.map_err(|error| (error.marker().line(), error.info().to_owned()))?;
        let line = span.start.line();
        let done = match event {
            Event::Alias(_) => return Err((line, "aliases are not supported".to_owned())),
            Event::Scalar(text, style, _, _) => Some(Node {
                line,
                value: scalar(text.into_owned(), style),
            }),
            Event::SequenceStart(..) | Event::MappingStart(..) => {
                if open.len() > MAX_DEPTH {
                    return Err((line, "the document is nested too deeply".to_owned()));
                }
                open.push(Open {
                    line,
                    fields: matches!(event, Event::MappingStart(..)).then(Vec::new),
                    items: Vec::new(),
                    key: None,
                });
                None
            }
            Event::SequenceEnd | Event::MappingEnd => open.pop().map(|closed| Node {
                line: closed.line,
                value: closed
                    .fields
                    .map_or(Content::List(closed.items), Content::Map),
            }),
            Event::DocumentStart(_) if root.is_some() => {
                return Err((line, "the file has more than one document".to_owned()));
            }
            _ => None,
        };
        let Some(node) = done else { continue };
        match open.last_mut() {
            None => root = Some(node),
            Some(parent) => parent.add(node)?,
        }
    }
    Ok(root.unwrap_or(Node {
        line: 1,
        value: Content::Map(Vec::new()),
    }))
}

impl Open {
    fn add(&mut self, node: Node) -> Result<(), Wrong> {
        let Some(fields) = &mut self.fields else {
            self.items.push(node);
            return Ok(());
        };
        if let Some(key) = self.key.take() {
            fields.push((key, node));
            return Ok(());
        }
        let key = match node.value {
            Content::Text(key) => key,
            Content::Flag(flag) => flag.to_string(),
            _ => return Err((node.line, "a key is not a text".to_owned())),
        };
        if fields.iter().any(|(known, _)| *known == key) {
            return Err((node.line, format!("`{key}` appears twice")));
        }
        self.key = Some(key);
        Ok(())
    }
}

/// Converts a scalar by the core schema (YAML 1.2, section 10.3). Only plain scalars can be
/// anything but text.
fn scalar(text: String, style: ScalarStyle) -> Content {
    if style != ScalarStyle::Plain {
        return Content::Text(text);
    }
    match text.as_str() {
        "" | "~" | "null" | "Null" | "NULL" => Content::Null,
        "true" | "True" | "TRUE" => Content::Flag(true),
        "false" | "False" | "FALSE" => Content::Flag(false),
        _ => Content::Text(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_their_lines() {
        let root =
            read("# top\na: 1\nb:\n  - 'true'\n  - true\n  - {c: ~}\nd: >\n  e\n  f\n").unwrap();
        assert_eq!(root.text_of("a"), Some("1"));
        let items = root.get("b").unwrap().items();
        assert_eq!(items[0].text(), Some("true"));
        assert!(matches!(items[1].value, Content::Flag(true)));
        assert_eq!(items[2].line, 6);
        assert!(items[2].get("c").is_none());
        assert_eq!(root.text_of("d"), Some("e f\n"));
        assert!(read("").unwrap().fields().is_empty());
    }

    #[test]
    fn what_is_wrong_has_its_line() {
        for (text, line) in [
            ("a: 1\nb: [1\nc: 2\n", 3),
            ("a: 1\na: 2\n", 2),
            ("a: &x 1\nb: *x\n", 2),
            ("a: 1\n---\nb: 2\n", 2),
            ("a:\n  - [1]: 2\n", 2),
        ] {
            assert_eq!(read(text).map(|_| ()).unwrap_err().0, line, "{text:?}");
        }
        let deep = "[".repeat(80) + &"]".repeat(80);
        assert!(read(&deep).is_err());
    }
}
