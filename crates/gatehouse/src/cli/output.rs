//! The output of commands: the record with `--json`, otherwise a sentence or a table. The streams drop colors
//! for pipes and `NO_COLOR`.

use anyhow::{Result, bail};
use comfy_table::{ContentArrangement, Table, presets};
use gatehouse_domain::visible;
use owo_colors::OwoColorize;
use serde::Serialize;
use serde_json::Value;
use std::fmt::Display;
use std::io::{self, Write};
use std::sync::OnceLock;

/// The first failed write of a result, except to a closed pipe.
static FAILED: OnceLock<io::Error> = OnceLock::new();

/// Prints results in the selected format.
#[derive(Debug)]
pub struct Output {
    json: bool,
}

impl Output {
    pub const fn new(json: bool) -> Self {
        Self { json }
    }

    /// Whether the output is JSON.
    pub const fn is_json(&self) -> bool {
        self.json
    }

    /// Prints the record as JSON, or calls `people` to print text.
    pub fn record(&self, record: &impl Serialize, people: impl FnOnce()) -> Result<()> {
        if self.json {
            line(serde_json::to_string_pretty(record)?);
        } else {
            people();
        }
        Ok(())
    }

    /// Like [`Self::record`], with the JSON on one line, for continuous output.
    pub fn json_line(&self, record: &impl Serialize, people: impl FnOnce()) -> Result<()> {
        if self.json {
            line(serde_json::to_string(record)?);
        } else {
            people();
        }
        Ok(())
    }

    /// Prints the record as JSON, or the rows as a table.
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

/// Makes text from a server safe for the terminal, with every character visible.
pub fn plain(text: &str) -> String {
    visible::line(text).text.into_owned()
}

/// Prints a line of the result. A closed pipe is not an error; [`ensure_complete`] reports other failures.
pub fn line(text: impl Display) {
    match writeln!(anstream::stdout(), "{text}") {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => drop(FAILED.set(error)),
        _ => {}
    }
}

/// Fails if a part of the result could not be written.
pub fn ensure_complete() -> Result<()> {
    if let Some(error) = FAILED.get() {
        bail!(
            "the command was carried out, but its result could not be written to standard output; if a secret was in \
             it, the secret is lost: create another one: {error}"
        );
    }
    Ok(())
}

/// Prints a line of continuous output. Fails if the reader of the pipe has closed it.
pub fn next_line(text: impl Display) -> Result<()> {
    Ok(writeln!(anstream::stdout(), "{text}")?)
}

/// Treats a closed pipe as the end of the output: the reader, such as `head`, has read enough.
pub fn until_closed(outcome: Result<()>) -> Result<()> {
    match outcome {
        Err(error) if is_closed_pipe(&error) => Ok(()),
        outcome => outcome,
    }
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let io = error.downcast_ref::<io::Error>().map(io::Error::kind);
    let json = error.downcast_ref::<serde_json::Error>();
    let kind = io.or_else(|| json?.io_error_kind());
    kind == Some(io::ErrorKind::BrokenPipe)
}

/// Prints a note to standard error.
pub fn note(text: impl Display) {
    drop(writeln!(anstream::stderr(), "{text}"));
}

/// Prints a warning to standard error.
pub fn warn(text: impl Display) {
    drop(writeln!(
        anstream::stderr(),
        "{} {text}",
        "warning:".yellow().bold()
    ));
}

/// Prints why the command failed. The reason may contain text from a server.
pub fn error(error: &anyhow::Error) {
    let reason = format!("{error:#}");
    drop(writeln!(
        anstream::stderr(),
        "{} {}",
        "error:".red().bold(),
        visible::lines(&reason).text
    ));
}

/// Marks text as positive.
pub fn good(text: &str) -> String {
    text.green().to_string()
}

/// Marks text as negative.
pub fn bad(text: &str) -> String {
    text.red().to_string()
}

/// Highlights text that must be saved because it is shown only once.
pub fn precious(text: &str) -> String {
    text.bold().to_string()
}

/// A field of a record as text; empty when missing.
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

/// Extracts these fields from each record of a list.
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

    struct Closed;

    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn only_a_closed_pipe_ends_the_output_without_an_error() {
        let failed = |kind: io::ErrorKind| until_closed(Err(io::Error::from(kind).into()));
        assert!(failed(io::ErrorKind::BrokenPipe).is_ok());
        assert!(failed(io::ErrorKind::StorageFull).is_err());
        let serialized = serde_json::to_writer(Closed, &1);
        assert!(until_closed(serialized.map_err(Into::into)).is_ok());
        assert!(until_closed(Err(anyhow::anyhow!("the server is away"))).is_err());
    }

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
