//! `.env` files: `NAME=value` lines, optionally after `export`, with quotes and comments.

use super::node::{Content, Node};

/// The mistake and its line.
type Wrong = (usize, String);

/// Reads the variables in order. If a name occurs twice, the last value counts, as in a shell.
pub fn read(text: &str) -> Result<Node, Wrong> {
    let mut fields: Vec<(String, Node)> = Vec::new();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.lines().enumerate();
    while let Some((index, line)) = lines.next() {
        let number = index + 1;
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let line = line.strip_prefix("export ").unwrap_or(line).trim_start();
        let (name, value) = line
            .split_once('=')
            .ok_or_else(|| (number, "expected NAME=value".to_owned()))?;
        let name = name.trim();
        let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if !is_name {
            return Err((
                number,
                "a name has letters, digits and underscores".to_owned(),
            ));
        }
        let mut value = value.trim_start().to_owned();
        let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''));
        let value = if let Some(quote) = quote {
            value.remove(0);
            // A quoted value may contain line breaks.
            let end = loop {
                match closing(&value, quote) {
                    Some(end) => break end,
                    None => match lines.next() {
                        Some((_, more)) => {
                            value.push('\n');
                            value.push_str(more);
                        }
                        None => return Err((number, "a quoted value is not closed".to_owned())),
                    },
                }
            };
            let after = value.get(end + 1..).unwrap_or_default().trim();
            if !after.is_empty() && !after.starts_with('#') {
                return Err((number, "unexpected text after a quoted value".to_owned()));
            }
            value.truncate(end);
            if quote == '"' {
                unescaped(&value)
            } else {
                value
            }
        } else {
            let end = value.find(" #").unwrap_or(value.len());
            value.truncate(end);
            value.trim_end().to_owned()
        };
        fields.retain(|(known, _)| known != name);
        let node = Node {
            line: number,
            value: Content::Text(value),
        };
        fields.push((name.to_owned(), node));
    }
    Ok(Node {
        line: 1,
        value: Content::Map(fields),
    })
}

/// Returns the position of the closing quote.
fn closing(text: &str, quote: char) -> Option<usize> {
    let mut is_escaped = false;
    text.char_indices().find_map(|(at, c)| {
        let is_end = c == quote && !is_escaped;
        is_escaped = quote == '"' && c == '\\' && !is_escaped;
        is_end.then_some(at)
    })
}

fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, if c == '\\' { chars.next() } else { None }) {
            ('\\', Some('n')) => out.push('\n'),
            ('\\', Some('r')) => out.push('\r'),
            ('\\', Some('t')) => out.push('\t'),
            ('\\', Some(other @ ('"' | '\\' | '$'))) => out.push(other),
            ('\\', Some(other)) => out.extend(['\\', other]),
            (other, _) => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_read_as_shells_read_them() {
        let root = read(
            "# keys\nexport A=1\nB = two words # comment\nC=\"x\\ny\"\nD='a\nb' # end\nE=a#b\nA=2\nF=\n",
        )
        .unwrap();
        let found: Vec<_> = root
            .fields()
            .iter()
            .map(|(name, node)| (name.as_str(), node.text().unwrap(), node.line))
            .collect();
        assert_eq!(
            found,
            [
                ("B", "two words", 3),
                ("C", "x\ny", 4),
                ("D", "a\nb", 5),
                ("E", "a#b", 7),
                ("A", "2", 8),
                ("F", "", 9),
            ]
        );
    }

    #[test]
    fn what_is_wrong_has_its_line() {
        for (text, line) in [
            ("A=1\nB\n", 2),
            ("A=1\n\n2B=1\n", 3),
            ("A='x\n", 1),
            ("A=\"x\" y\n", 1),
            ("=x\n", 1),
        ] {
            assert_eq!(read(text).map(|_| ()).unwrap_err().0, line, "{text:?}");
        }
    }
}
