//! `audit`: list the audit log and verify its integrity.

use super::client::Client;
use super::globals::Globals;
use super::output::{Output, bad, good, line, note, rows};
use super::{offline, usage};
use anyhow::Result;
use gatehouse::{Purpose, Storage};
use gatehouse_auth::audit::{VerifyError, verify};
use gatehouse_config::Layers;
use serde_json::{Value, json};
use std::process::ExitCode;

/// `gatehouse audit …`
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// List events, newest first
    List {
        /// Maximum number of events
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=500))]
        limit: u16,
        /// Start of the page: `next_cursor` of the previous page
        #[arg(long)]
        cursor: Option<String>,
        /// Only events of this kind, such as login.failed
        #[arg(long)]
        kind: Option<String>,
    },
    /// Verify the hash chain, which shows whether a row was changed or removed
    Verify,
}

/// Runs an `audit` command.
pub async fn run(globals: &Globals, out: &Output, command: Command) -> Result<ExitCode> {
    let layers = globals.layers()?;
    match command {
        Command::List {
            limit,
            cursor,
            kind,
        } => {
            let params = json!({ "limit": limit, "cursor": cursor, "kind": kind });
            let page = Client::new(globals, &layers)?
                .rpc("audit.list", params)
                .await?;
            let fields = ["at", "kind", "actor", "client_ip", "detail"];
            out.table(&page, &fields, rows(&page, "events", &fields), "No events.")?;
            if let (false, Some(Value::String(next))) = (globals.json, page.get("next_cursor")) {
                note(format!("More: --cursor {next}"));
            }
            Ok(ExitCode::SUCCESS)
        }
        Command::Verify => verify_chain(globals, &layers, out).await,
    }
}

async fn verify_chain(globals: &Globals, layers: &Layers, out: &Output) -> Result<ExitCode> {
    usage::ensure(
        globals.given_url(layers)?.is_none(),
        "the chain is verified directly in the database; omit --url and unset SERVICE_URL",
    )?;
    offline::ensure_database(layers)?;
    let storage = if let Some(storage) = offline::storage(layers).await? {
        storage
    } else {
        offline::ensure_same_schema(layers).await?;
        Storage::open(layers, Purpose::Beside).await?
    };
    let outcome = verify(&storage.store).await;
    storage.close().await;
    match outcome {
        Ok(found) => {
            let record = json!({
                "ok": true, "rows": found.rows, "head": found.head,
                "cut": found.cut, "after": found.after,
            });
            out.record(&record, || {
                let head = if found.head.is_empty() {
                    "none"
                } else {
                    &found.head
                };
                let from = if found.after > 0 {
                    format!(
                        " after row {}, where {} older rows were cut off",
                        found.after, found.cut
                    )
                } else {
                    String::new()
                };
                line(format!(
                    "{} {} rows{from}, head {head}",
                    good("intact:"),
                    found.rows
                ));
            })?;
            Ok(ExitCode::SUCCESS)
        }
        Err(VerifyError::Broken { seq }) => {
            out.record(&json!({ "ok": false, "broken_at": seq }), || {
                line(format!(
                    "{} row {seq} or the row before it was changed or removed",
                    bad("broken:")
                ));
            })?;
            Ok(ExitCode::FAILURE)
        }
        Err(error @ VerifyError::Anchor) => {
            out.record(&json!({ "ok": false, "anchor": false }), || {
                line(format!("{} {error}", bad("broken:")));
            })?;
            Ok(ExitCode::FAILURE)
        }
        Err(error) => Err(error.into()),
    }
}
