//! Finds the texts in source files: string literals of Rust, and string literals and comments of Python.

/// A text without its escapes, and the line on which it begins.
pub type Text = (usize, String);

/// The quotes of Python, the longer ones first.
const PYTHON_QUOTES: [&str; 4] = ["\"\"\"", "'''", "\"", "'"];

/// Returns the string literals of a Rust file, including raw ones. Comments are skipped.
pub fn of_rust(source: &str) -> Vec<Text> {
    let mut source = Source::new(source);
    let mut texts = Vec::new();
    while let Some(next) = source.rest.chars().next() {
        if source.rest.starts_with("//") {
            source.take_until("\n");
        } else if source.rest.starts_with("/*") {
            source.take_until("*/");
            source.take(2);
        } else if next == '"' {
            texts.push(source.escaped("\""));
        } else if next == '\'' {
            source.pass_character();
        } else if is_of_word(next) {
            let word = source.take_word();
            if matches!(word, "r" | "br" | "cr") {
                texts.extend(source.raw());
            }
        } else {
            source.take_character();
        }
    }
    texts
}

/// Returns the string literals and the comments of a Python file.
pub fn of_python(source: &str) -> Vec<Text> {
    let mut source = Source::new(source);
    let mut texts = Vec::new();
    while !source.rest.is_empty() {
        let quote = PYTHON_QUOTES
            .iter()
            .find(|quote| source.rest.starts_with(**quote));
        if let Some(quote) = quote {
            texts.push(source.escaped(quote));
        } else if source.rest.starts_with('#') {
            let line = source.line;
            texts.push((line, source.take_until("\n").to_owned()));
        } else {
            source.take_character();
        }
    }
    texts
}

fn is_of_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// The unread rest of a source file, and the line on which it begins.
struct Source<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> Source<'a> {
    const fn new(text: &'a str) -> Self {
        Self {
            rest: text,
            line: 1,
        }
    }

    /// Takes this many bytes, or the rest if it is shorter. The bytes must end with a whole
    /// character.
    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(bytes.min(self.rest.len()));
        self.line += taken.matches('\n').count();
        self.rest = rest;
        taken
    }

    /// Takes the text before `end`, or the rest if `end` does not occur.
    fn take_until(&mut self, end: &str) -> &'a str {
        self.take(self.rest.find(end).unwrap_or(self.rest.len()))
    }

    fn take_word(&mut self) -> &'a str {
        let end = self.rest.find(|character| !is_of_word(character));
        self.take(end.unwrap_or(self.rest.len()))
    }

    fn take_character(&mut self) -> Option<char> {
        let character = self.rest.chars().next()?;
        self.take(character.len_utf8());
        Some(character)
    }

    /// Skips a character literal or the quote of a lifetime.
    fn pass_character(&mut self) {
        self.take(1);
        let mut ahead = self.rest.chars();
        match (ahead.next(), ahead.next()) {
            (Some('\\'), _) => {
                self.take(1);
                self.take_character();
                self.take_until("'");
                self.take(1);
            }
            (Some(character), Some('\'')) => {
                self.take(character.len_utf8() + 1);
            }
            _ => {}
        }
    }

    /// Takes a literal between these quotes. An escape becomes a space. An escaped line end is removed.
    fn escaped(&mut self, quote: &str) -> Text {
        let line = self.line;
        self.take(quote.len());
        let mut text = String::new();
        while !self.rest.starts_with(quote) {
            let Some(character) = self.take_character() else {
                break;
            };
            if character != '\\' {
                text.push(character);
            } else if self.take_character() == Some('\n') {
                let indent = self.rest.len() - self.rest.trim_start().len();
                self.take(indent);
            } else {
                text.push(' ');
            }
        }
        self.take(quote.len());
        (line, text)
    }

    /// Takes a raw literal of Rust after its prefix. Takes nothing if no raw literal follows.
    fn raw(&mut self) -> Option<Text> {
        let line = self.line;
        let hashes = self.rest.len() - self.rest.trim_start_matches('#').len();
        let after = self.rest.get(hashes..)?;
        if !after.starts_with('"') {
            return None;
        }
        self.take(hashes + 1);
        let end = format!("\"{}", "#".repeat(hashes));
        let text = self.take_until(&end).to_owned();
        self.take(end.len());
        Some((line, text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(line: usize, text: &str) -> Text {
        (line, text.to_owned())
    }

    #[test]
    #[expect(
        clippy::needless_raw_string_hashes,
        reason = "the lint misses that the text contains a quote and a hash"
    )]
    fn literals_of_rust_are_found_without_comments_and_characters() {
        let source = r##"// "a comment"
let quote = '"'; let tick = '\''; let slash = '\\'; let unicode = '\u{22}';
fn f<'a>(x: &'a str) { call("one \"two\"\nthree \
                              four", r"raw \", br#"with "quotes""#, r#type, b"bytes"); }
/* "left
out" */ let url = "http://x"; let wide = "ä'é";
"##;
        assert_eq!(
            of_rust(source),
            [
                text(3, "one  two  three four"),
                text(4, "raw \\"),
                text(4, "with \"quotes\""),
                text(4, "bytes"),
                text(6, "http://x"),
                text(6, "ä'é"),
            ]
        );
    }

    #[test]
    fn literals_and_comments_of_python_are_found() {
        let source = "\"\"\"A module's\ntext.\"\"\"\nx = 'it\\'s' + f\"{x} # no comment\"  # it's one\ny = ''\n";
        assert_eq!(
            of_python(source),
            [
                text(1, "A module's\ntext."),
                text(3, "it s"),
                text(3, "{x} # no comment"),
                text(3, "# it's one"),
                text(4, ""),
            ]
        );
    }

    #[test]
    fn an_open_literal_ends_with_the_file() {
        assert_eq!(of_rust("a \"b \\"), [text(1, "b  ")]);
        assert_eq!(of_rust("r#\"b\""), [text(1, "b\"")]);
        assert_eq!(of_rust("'"), []);
        assert_eq!(of_python("'''b"), [text(1, "b")]);
    }
}
