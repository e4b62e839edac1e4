//! The output of commands: the record with `--json`, otherwise a sentence or a table. The streams drop colors
//! for pipes and `NO_COLOR`.

use anyhow::{Result, anyhow};
use comfy_table::{ContentArrangement, Table, presets};
use gatehouse_domain::visible;
use owo_colors::OwoColorize;
use serde::Serialize;
use serde_json::Value;
use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;
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

    /// Returns whether the output is JSON.
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

    /// Prints a record like [`Self::record`], with the JSON on one line, for continuous output.
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

/// Prints a line of the result. A closed pipe is not an error. [`finish`] reports other failures.
pub fn line(text: impl Display) {
    note_failure(writeln!(anstream::stdout(), "{text}"));
}

/// Prints text like [`line`], without a line end.
pub fn piece(text: impl Display) {
    let mut out = anstream::stdout();
    note_failure(write!(out, "{text}").and_then(|()| out.flush()));
}

fn note_failure(written: io::Result<()>) {
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => drop(FAILED.set(error)),
        _ => {}
    }
}

/// Reports an error if a part of the result could not be written. Returns the exit code of a command that ended with
/// `code`.
pub fn finish(code: ExitCode) -> ExitCode {
    let Some(reason) = FAILED.get() else {
        return code;
    };
    let (code, unwritten) = unwritten(code, reason);
    error(&unwritten);
    code
}

/// Returns the exit code and the error. If the command failed, its exit code is kept.
fn unwritten(code: ExitCode, reason: &io::Error) -> (ExitCode, anyhow::Error) {
    if code == ExitCode::SUCCESS {
        let error = anyhow!(
            "the command succeeded, but its output could not be written to standard output: {reason}. If the output \
             contained a secret, create a new one"
        );
        return (ExitCode::FAILURE, error);
    }
    let error = anyhow!("the output could not be written to standard output: {reason}");
    (code, error)
}

/// Prints a line of continuous output. Fails if the reader has closed the pipe.
pub fn next_line(text: impl Display) -> Result<()> {
    Ok(writeln!(anstream::stdout(), "{text}")?)
}

/// Treats a closed pipe as the end of the output. The reader, such as `head`, has read enough.
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

/// Returns a field of a record as text. The result is empty when missing.
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
mod tests;
