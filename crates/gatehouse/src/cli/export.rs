//! `export`: writes records of a running server as JSON Lines (<https://jsonlines.org>): one JSON value per line.

mod records;

use super::client::Client;
use super::globals::Globals;
use super::output::{self, Output, line, note};
use super::progress;
use anyhow::{Context, Result};
use gatehouse_backup::folder::NewFile;
use gatehouse_domain::Timestamp;
use indicatif::ProgressBar;
use records::{Addition, Records};
use serde_json::{Map, Value, json};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

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

/// Checks a time here, because the API's names of the fields differ from the flags.
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

/// Writes a temporary file. The final file appears only when it is complete.
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
