//! `import`: imports the configuration of other products. The sources are only read. Each file is planned completely
//! before anything is created, so no item is created from a file that cannot be read.

mod apply;
mod dotenv;
mod gather;
mod hermes;
mod hooks;
mod json5;
mod n8n;
mod node;
mod openclaw;
mod plan;
mod ssh;
mod yaml;

use super::client::Client;
use super::globals::Globals;
use super::output::{self, Output, line};
use anyhow::Result;
use apply::Existing;
use gather::Gathered;
use plan::Plan;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// `gatehouse import …`
#[derive(Debug, clap::Args)]
pub struct Args {
    /// List what would be created, and create nothing
    #[arg(long, global = true)]
    dry_run: bool,
    #[command(subcommand)]
    source: Source,
}

#[derive(Debug, clap::Subcommand)]
enum Source {
    /// Agents, channels and keys of OpenClaw
    Openclaw {
        /// The folder with openclaw.json and .env [default: ~/.openclaw]
        folder: Option<PathBuf>,
    },
    /// The agent, channels, webhooks and keys of Hermes Agent
    Hermes {
        /// The folder with config.yaml, .env and SOUL.md [default: ~/.hermes]
        folder: Option<PathBuf>,
    },
    /// Files of `n8n export:workflow` and `n8n export:credentials --decrypted`
    N8n {
        /// JSON files
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
    /// Hooks of adnanh/webhook
    Webhook {
        /// JSON or YAML files
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
    /// Variables of .env files
    Env {
        /// The files
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
    /// Private keys in a folder; without --folder, lists the keys of the running SSH agent, which cannot be exported
    SshAgent {
        /// A folder with private keys, such as ~/.ssh
        #[arg(long)]
        folder: Option<PathBuf>,
    },
}

/// A file that cannot be imported.
#[derive(Debug, thiserror::Error)]
#[error("{}:{line}: {reason}", path.display())]
pub struct Malformed {
    pub path: PathBuf,
    pub line: usize,
    pub reason: String,
}

/// Runs an `import` command.
pub async fn run(globals: &Globals, out: &Output, args: Args) -> Result<ExitCode> {
    let mut gathered = Gathered::default();
    gathered.gather(&args.source)?;
    let Gathered { plan, mut failed } = gathered;
    let layers = globals.layers()?;
    let client = Client::new(globals, &layers)?;
    if !(args.dry_run || plan.items.is_empty()) {
        apply::require_open_vault(&client).await?;
    }
    let mut existing = Existing::read(&client).await?;
    let mut rows = Vec::new();
    let mut outcome = Ok(());
    for planned in &plan.items {
        let (kind, name) = planned.item.describe();
        let done = if existing.has(&planned.item) {
            "exists".to_owned()
        } else if args.dry_run {
            "would be created".to_owned()
        } else if outcome.is_err() {
            "not created".to_owned()
        } else {
            match apply::make(&client, planned).await {
                Ok(said) => {
                    existing.add(&planned.item);
                    said.unwrap_or_else(|| "created".to_owned())
                }
                // The other items can still be created.
                Err(error) if apply::concerns_item(&error) => {
                    failed.push(error);
                    "refused".to_owned()
                }
                Err(error) => {
                    outcome = Err(error);
                    "failed".to_owned()
                }
            }
        };
        rows.push(vec![
            kind.to_owned(),
            name.to_owned(),
            planned.from.to_string(),
            done,
        ]);
    }
    report(out, &plan, rows)?;
    for error in &failed {
        output::error(error);
    }
    outcome?;
    Ok(if failed.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn report(out: &Output, plan: &Plan, rows: Vec<Vec<String>>) -> Result<()> {
    let head = ["what", "name", "from", "outcome"];
    let clear: Vec<Value> = plan
        .clear
        .iter()
        .map(|(what, from)| {
            json!({ "what": what, "from": from.to_string(), "others_can_read": is_public(&from.path) })
        })
        .collect();
    let left: Vec<Value> = plan
        .left
        .iter()
        .map(|left| json!({ "what": left.what, "from": left.from.to_string(), "why": left.why }))
        .collect();
    let items: Vec<Value> = rows
        .iter()
        .map(|row| {
            Value::Object(
                head.iter()
                    .zip(row)
                    .map(|(name, cell)| ((*name).to_owned(), json!(cell)))
                    .collect(),
            )
        })
        .collect();
    let record = json!({ "items": items, "clear_text": clear, "not_imported": left });
    out.table(&record, &head, rows, "Nothing to import.")?;
    if out.is_json() {
        return Ok(());
    }
    if !plan.clear.is_empty() {
        line("\nIn clear text in these files; delete them there once everything works:");
        for (what, from) in &plan.clear {
            let public = if is_public(&from.path) {
                " (other users can read the file)"
            } else {
                ""
            };
            line(output::plain(&format!("  {what}: {from}{public}")));
        }
    }
    if !plan.left.is_empty() {
        line("\nNot imported:");
        for left in &plan.left {
            line(output::plain(&format!(
                "  {} ({}): {}",
                left.what, left.from, left.why
            )));
        }
    }
    Ok(())
}

fn is_public(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.permissions().mode() & 0o044 != 0)
}
