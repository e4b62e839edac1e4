//! Finds the attacker's wishes in a text, in any encoding.

use serde_json::Value;

/// A call: the tool's name and its input.
pub type Wanted = (String, Value);

/// Returns the calls between `mark` and `end` in a text.
pub fn calls(text: &str, mark: &str, end: &str) -> Vec<Wanted> {
    let mut found = Vec::new();
    for after in text.split(mark).skip(1) {
        // The text between two parts belongs to neither part.
        let Some((call, _)) = after
            .split_once(end)
            .filter(|(call, _)| !call.contains(">>"))
        else {
            continue;
        };
        let Some((tool, input)) = call.split_once(' ') else {
            continue;
        };
        let is_name = tool.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if let (Ok(input), true) = (serde_json::from_str(input), is_name) {
            found.push((tool.to_owned(), input));
        }
    }
    found
}

/// Returns the attacker's calls in a text.
pub fn hidden_calls(text: &str) -> Vec<Wanted> {
    let mut found: Vec<Wanted> = Vec::new();
    for reading in readings(text) {
        for call in calls(&reading, "@@CALL ", "@@") {
            if !found.contains(&call) {
                found.push(call);
            }
        }
    }
    found
}

/// Returns every decoding of a text. Tool output can be JSON, in which quotes are escaped.
fn readings(text: &str) -> Vec<String> {
    let unescaped = text.replace("\\\"", "\"").replace("\\\\u", "\\u");
    let mut all = readings_of(text);
    all.extend(readings_of(&unescaped));
    all.extend(all.clone().iter().map(|text| text.replace("\\\"", "\"")));
    all
}

fn readings_of(text: &str) -> Vec<String> {
    let of = |c: char, first: u32| char::from_u32(u32::from(c) - first).unwrap();
    let by_character = text.chars().filter_map(|c| match c {
        '\u{200b}' => None,
        '\u{ff01}'..='\u{ff5e}' => Some(of(c, 0xfee0)),
        '\u{e0020}'..='\u{e007e}' => Some(of(c, 0xe_0000)),
        other => Some(other),
    });
    let mut all = vec![
        text.to_owned(),
        by_character.collect(),
        rot13(text),
        text.chars().rev().collect(),
        percent(text),
        backslashes(text),
        parts(text),
        parts(&unescaped(text)),
    ];
    let is_of_token = |c: char| c.is_ascii_alphanumeric() || "+/=".contains(c);
    for token in text.split(|c| !is_of_token(c)).filter(|t| t.len() > 24) {
        let bytes = [
            data_encoding::BASE64.decode(token.as_bytes()),
            data_encoding::HEXLOWER.decode(token.as_bytes()),
        ];
        let texts = bytes.into_iter().flatten().map(String::from_utf8);
        all.extend(texts.flatten());
    }
    all
}

pub fn rot13(text: &str) -> String {
    let turned = |c: char, first: u8| {
        let place = u8::try_from(c).unwrap() - first;
        char::from(first + (place + 13) % 26)
    };
    let letter = |c: char| match c {
        'a'..='z' => turned(c, b'a'),
        'A'..='Z' => turned(c, b'A'),
        other => other,
    };
    text.chars().map(letter).collect()
}

/// Replaces each `mark` and the `digits` hexadecimal digits after it with the encoded character.
fn numbered(text: &str, mark: &str, digits: usize) -> String {
    let mut pieces = text.split(mark);
    let mut read = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let number = piece.get(..digits);
        let number = number.and_then(|number| u32::from_str_radix(number, 16).ok());
        match number.and_then(char::from_u32) {
            Some(c) => {
                read.push(c);
                read.push_str(&piece[digits..]);
            }
            None => read.push_str(piece),
        }
    }
    read
}

fn percent(text: &str) -> String {
    numbered(text, "%", 2)
}

fn backslashes(text: &str) -> String {
    numbered(text, "\\u", 4)
}

/// Removes the escapes of Markdown, in which `web_fetch` returns pages.
fn unescaped(text: &str) -> String {
    let mut read = String::new();
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '\\' || !rest.peek().is_some_and(char::is_ascii_punctuation) {
            read.push(c);
        }
    }
    read
}

/// Joins a wish that has two parts.
fn parts(text: &str) -> String {
    let part = |mark: &str| {
        let (_, after) = text.split_once(mark)?;
        after.split_once(">>").map(|(part, _)| part)
    };
    format!(
        "{}{}",
        part("<<1:").unwrap_or_default(),
        part("<<2:").unwrap_or_default()
    )
}
