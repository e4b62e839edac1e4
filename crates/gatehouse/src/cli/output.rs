//! What commands print: the record with `--json`, otherwise a sentence or a table. Colours only where
//! somebody looks at them: the stream leaves them out for pipes and `NO_COLOR`.

use anyhow::Result;
use comfy_table::{ContentArrangement, Table, presets};
use gatehouse_domain::visible;
use owo_colors::OwoColorize;
use serde::Serialize;
use serde_json::Value;
use std::fmt::Display;
use std::io::Write;

/// Where results go.
#[derive(Debug)]
pub struct Output {
    json: bool,
}

impl Output {
    /// Output as JSON, or for people.
    pub const fn new(json: bool) -> Self {
        Self { json }
    }

    /// Whether programs read it.
    pub const fn is_json(&self) -> bool {
        self.json
    }

    /// Prints the record, or what people see of it.
    pub fn record(&self, record: &impl Serialize, people: impl FnOnce()) -> Result<()> {
        if self.json {
            line(serde_json::to_string_pretty(record)?);
        } else {
            people();
        }
        Ok(())
    }

    /// Prints the record on one line, or what people see of it: for what goes on and on.
    pub fn json_line(&self, record: &impl Serialize, people: impl FnOnce()) -> Result<()> {
        if self.json {
            line(serde_json::to_string(record)?);
        } else {
            people();
        }
        Ok(())
    }

    /// Prints the record, or a table of the rows.
    pub fn table(
        &self,
        record: &impl Serialize,
        head: &[&str],
        rows: Vec<Vec<String>>,
        nothing: &str,
    ) -> Result<()> {
        self.record(record, || {
            if rows.is_empty() {
                return line(nothing);
            }
            let mut table = Table::new();
            table
                .load_style(presets::NOTHING)
                .set_content_arrangement(ContentArrangement::Disabled)
                .set_header(
                    head.iter()
                        .map(|name| name.to_uppercase())
                        .collect::<Vec<_>>(),
                );
            table.add_rows(
                rows.into_iter()
                    .map(|row| row.iter().map(|t| plain(t)).collect::<Vec<_>>()),
            );
            line(table.trim_fmt());
        })
    }
}

/// What came from a server must not steer the terminal, and each character of it must show.
pub fn plain(text: &str) -> String {
    visible::line(text).text.into_owned()
}

/// A line of the result. That nobody reads it any more is no failure.
pub fn line(text: impl Display) {
    drop(writeln!(anstream::stdout(), "{text}"));
}

/// A remark, beside the result.
pub fn note(text: impl Display) {
    drop(writeln!(anstream::stderr(), "{text}"));
}

/// A warning, beside the result.
pub fn warn(text: impl Display) {
    drop(writeln!(
        anstream::stderr(),
        "{} {text}",
        "warning:".yellow().bold()
    ));
}

/// Why the command failed. The reason may be a server's.
pub fn error(error: &anyhow::Error) {
    let reason = format!("{error:#}");
    drop(writeln!(
        anstream::stderr(),
        "{} {}",
        "error:".red().bold(),
        visible::lines(&reason).text
    ));
}

/// Good.
pub fn good(text: &str) -> String {
    text.green().to_string()
}

/// Bad.
pub fn bad(text: &str) -> String {
    text.red().to_string()
}

/// What must be kept, because it is shown once.
pub fn precious(text: &str) -> String {
    text.bold().to_string()
}

/// A field of a record as text; empty when it is not there.
pub fn field(record: &Value, name: &str) -> String {
    match record.get(name) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => plain(text),
        Some(Value::Array(items)) => items
            .iter()
            .map(|i| i.as_str().map_or_else(|| i.to_string(), plain))
            .collect::<Vec<_>>()
            .join(" "),
        Some(other) => plain(&other.to_string()),
    }
}

/// These fields of each record of a list.
pub fn rows(record: &Value, list: &str, fields: &[&str]) -> Vec<Vec<String>> {
    let items = record.get(list).and_then(Value::as_array);
    items
        .into_iter()
        .flatten()
        .map(|item| fields.iter().map(|name| field(item, name)).collect())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_a_server_sends_cannot_steer_the_terminal_and_shows() {
        let record = json!({ "list": [{
            "a": "x\u{1b}[2J\ny", "b": ["p", "\u{202e}q"], "c": 1, "d": null,
        }] });
        let expected = vec![vec!["x\\u{1B}[2J\\u{A}y", "p \\u{202E}q", "1", "", ""]];
        assert_eq!(rows(&record, "list", &["a", "b", "c", "d", "e"]), expected);
        assert!(rows(&json!({}), "list", &["a"]).is_empty());
    }
}
