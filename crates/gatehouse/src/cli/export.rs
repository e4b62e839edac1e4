//! `export`: writes records of a running server as JSON Lines (<https://jsonlines.org>): one JSON value per line.

use super::client::{Client, ClientError};
use super::globals::Globals;
use super::output::{self, Output, line, note};
use super::progress;
use anyhow::{Context, Result};
use gatehouse_backup::folder::NewFile;
use gatehouse_domain::Timestamp;
use indicatif::ProgressBar;
use serde_json::{Map, Value, json};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Records per request, the maximum of the API.
const PAGE: u16 = 500;

/// `gatehouse export …`
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// Deliveries, newest first
    Deliveries {
        /// Only records of this webhook
        #[arg(long, value_name = "ID")]
        webhook: Option<String>,
        /// Add the field `payload`, or `raw` for a body that is not JSON
        #[arg(long)]
        payloads: bool,
        #[command(flatten)]
        period: Period,
        #[command(flatten)]
        target: Target,
    },
    /// Conversations, most recent first, each with the field `messages`, oldest first; without files and recordings
    Conversations {
        #[command(flatten)]
        period: Period,
        #[command(flatten)]
        target: Target,
    },
    /// Events of the audit log, newest first
    Audit {
        #[command(flatten)]
        period: Period,
        #[command(flatten)]
        target: Target,
    },
}

/// A period of time.
#[derive(Debug, clap::Args)]
pub struct Period {
    /// Only records at or after this time, such as 2026-01-31T00:00:00Z
    #[arg(long, value_name = "TIME", value_parser = time)]
    since: Option<String>,
    /// Only records before this time
    #[arg(long, value_name = "TIME", value_parser = time)]
    until: Option<String>,
}

/// Where the records go.
#[derive(Debug, clap::Args)]
pub struct Target {
    /// A new file, or - for standard output
    #[arg(long, value_name = "FILE|-", default_value = "-")]
    to: PathBuf,
}

/// Checks a time. The API calls the fields differently from the flags.
fn time(text: &str) -> Result<String, &'static str> {
    let time: Timestamp = text.parse().map_err(|_| "expected an RFC 3339 time")?;
    Ok(time.to_string())
}

/// Runs an `export` command.
pub async fn run(globals: &Globals, out: &Output, command: Command) -> Result<ExitCode> {
    let client = Client::new(globals, &globals.layers()?)?;
    let target = match &command {
        Command::Deliveries { target, .. }
        | Command::Conversations { target, .. }
        | Command::Audit { target, .. } => target.to.clone(),
    };
    let bar = progress::bar("Exporting");
    if target.as_os_str() == "-" {
        let to = std::io::stdout().lock();
        let rows = write_all(&client, &command, BufWriter::new(to), &bar).await;
        bar.finish_and_clear();
        output::until_closed(rows.map(drop))?;
        return Ok(ExitCode::SUCCESS);
    }
    let rows = write_file(&client, &command, &target, &bar).await;
    bar.finish_and_clear();
    let rows = rows?;
    out.record(&json!({ "path": target, "rows": rows }), || {
        line(format!("Wrote {rows} records to {}.", target.display()));
        note("The file is not encrypted.");
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The file appears when it is complete.
async fn write_file(
    client: &Client,
    command: &Command,
    path: &Path,
    bar: &ProgressBar,
) -> Result<u64> {
    let fail = || format!("cannot create {}", path.display());
    let file = NewFile::create(path).with_context(fail)?;
    let rows = write_all(client, command, BufWriter::new(&file), bar).await?;
    file.keep().with_context(fail)?;
    Ok(rows)
}

async fn write_all(
    client: &Client,
    command: &Command,
    to: impl Write,
    bar: &ProgressBar,
) -> Result<u64> {
    let mut records = Records {
        client,
        bar,
        to,
        rows: 0,
    };
    match command {
        Command::Deliveries {
            webhook,
            payloads,
            period,
            ..
        } => {
            let mut filter = period.filter();
            filter.insert("id".to_owned(), json!(webhook));
            let addition = payloads.then_some(Addition::Payload);
            records
                .write("webhooks.deliveries", "deliveries", filter, addition)
                .await?;
        }
        Command::Conversations { period, .. } => {
            let addition = Some(Addition::Messages);
            records
                .write("sessions.list", "sessions", period.filter(), addition)
                .await?;
        }
        Command::Audit { period, .. } => {
            records
                .write("audit.list", "events", period.filter(), None)
                .await?;
        }
    }
    records.to.flush()?;
    Ok(records.rows)
}

impl Period {
    fn filter(&self) -> Map<String, Value> {
        let fields = [("from", &self.since), ("until", &self.until)];
        let fields = fields.map(|(name, time)| (name.to_owned(), json!(time)));
        fields.into_iter().collect()
    }
}

/// The additional content of a record, besides the fields of its list.
#[derive(Clone, Copy)]
enum Addition {
    Payload,
    Messages,
}

struct Records<'a, W> {
    client: &'a Client,
    bar: &'a ProgressBar,
    to: W,
    rows: u64,
}

impl<W: Write> Records<'_, W> {
    /// Writes all pages of a list, whose records are in the field `field`.
    async fn write(
        &mut self,
        method: &str,
        field: &str,
        mut params: Map<String, Value>,
        addition: Option<Addition>,
    ) -> Result<()> {
        params.insert("limit".to_owned(), PAGE.into());
        loop {
            let mut page = self
                .client
                .rpc(method, Value::Object(params.clone()))
                .await?;
            for mut record in take_list(&mut page, field) {
                if let Some(addition) = addition {
                    self.add(&mut record, addition).await?;
                }
                serde_json::to_writer(&mut self.to, &record)?;
                self.to.write_all(b"\n")?;
                self.rows += 1;
                self.bar.set_message(format!("Exporting: {}", self.rows));
            }
            match page.get("next_cursor") {
                Some(next @ Value::String(_)) => {
                    params.insert("cursor".to_owned(), next.clone());
                }
                _ => return Ok(()),
            }
        }
    }

    /// A record that was deleted after its page was read is written without the addition.
    async fn add(&self, record: &mut Value, addition: Addition) -> Result<()> {
        let added = match self.addition(record, addition).await {
            Err(ClientError::Refused(refusal)) if refusal.code == "NOT_FOUND" => return Ok(()),
            added => added?,
        };
        if let (Value::Object(record), Value::Object(added)) = (record, added) {
            record.extend(added);
        }
        Ok(())
    }

    async fn addition(&self, record: &Value, addition: Addition) -> Result<Value, ClientError> {
        let id = record.get("id").cloned().unwrap_or_default();
        match addition {
            Addition::Payload => {
                let params = json!({ "id": id });
                self.client.rpc("webhooks.delivery.payload", params).await
            }
            Addition::Messages => Ok(json!({ "messages": self.messages(&id).await? })),
        }
    }

    /// All messages of a conversation, oldest first.
    async fn messages(&self, session: &Value) -> Result<Vec<Value>, ClientError> {
        let mut pages: Vec<Vec<Value>> = Vec::new();
        let mut before = Value::Null;
        loop {
            let params = json!({ "session": session, "limit": PAGE, "before": before });
            let mut page = self.client.rpc("chat.history", params).await?;
            pages.push(take_list(&mut page, "messages"));
            before = page.get("next_cursor").cloned().unwrap_or_default();
            if before.is_null() {
                return Ok(pages.into_iter().rev().flatten().collect());
            }
        }
    }
}

fn take_list(page: &mut Value, field: &str) -> Vec<Value> {
    match page.get_mut(field).map(Value::take) {
        Some(Value::Array(records)) => records,
        _ => Vec::new(),
    }
}
