//! `import`: takes over what other products have configured. The sources are only read. Each file is planned
//! completely before anything is made, so a file that cannot be read leaves nothing behind.

mod apply;
mod dotenv;
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
use anyhow::{Context, Result};
use apply::Existing;
use node::{Content, Document, Node};
use plan::Plan;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The largest file that is read.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// `gatehouse import …`
#[derive(Debug, clap::Args)]
pub struct Args {
    /// List what would be made, and make nothing
    #[arg(long, global = true)]
    dry_run: bool,
    #[command(subcommand)]
    source: Source,
}

#[derive(Debug, clap::Subcommand)]
enum Source {
    /// Agents, channels and keys of OpenClaw
    Openclaw {
        /// Its folder, with openclaw.json and .env [default: ~/.openclaw]
        folder: Option<PathBuf>,
    },
    /// The agent, channels, webhooks and keys of Hermes Agent
    Hermes {
        /// Its folder, with config.yaml, .env and SOUL.md [default: ~/.hermes]
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
    /// Private keys of a folder; without one, lists what the running agent does not hand out
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
    let Gathered { plan, failed } = gathered;
    let layers = globals.layers()?;
    let client = Client::new(globals, &layers)?;
    let existing = Existing::read(&client).await?;
    if !args.dry_run && plan.items.iter().any(|it| !existing.has(&it.item)) {
        apply::require_open_vault(&client).await?;
    }
    let mut rows = Vec::new();
    let mut outcome = Ok(());
    for planned in &plan.items {
        let (kind, name) = planned.item.describe();
        let done = if existing.has(&planned.item) {
            "exists".to_owned()
        } else if args.dry_run {
            "would be made".to_owned()
        } else if outcome.is_err() {
            "not made".to_owned()
        } else {
            match apply::make(&client, planned).await {
                Ok(said) => said.unwrap_or_else(|| "made".to_owned()),
                Err(error) => {
                    outcome = Err(error);
                    "failed".to_owned()
                }
            }
        };
        rows.push(vec![kind.to_owned(), name.to_owned(), planned.from.to_string(), done]);
    }
    report(out, &plan, rows)?;
    outcome?;
    for error in &failed {
        output::error(error);
    }
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
        .map(|row| Value::Object(head.iter().zip(row).map(|(name, cell)| ((*name).to_owned(), json!(cell))).collect()))
        .collect();
    let record = json!({ "items": items, "clear_text": clear, "not_imported": left });
    out.table(&record, &head, rows, "Nothing to import.")?;
    if out.is_json() {
        return Ok(());
    }
    if !plan.clear.is_empty() {
        line("\nIn clear text in these files; delete them there once everything works:");
        for (what, from) in &plan.clear {
            let public = if is_public(&from.path) { " (other users can read the file)" } else { "" };
            line(output::plain(&format!("  {what}: {from}{public}")));
        }
    }
    if !plan.left.is_empty() {
        line("\nNot imported:");
        for left in &plan.left {
            line(output::plain(&format!("  {} ({}): {}", left.what, left.from, left.why)));
        }
    }
    Ok(())
}

fn is_public(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.permissions().mode() & 0o044 != 0)
}

/// The formats of files.
#[derive(Clone, Copy)]
enum Format {
    Json5,
    Yaml,
    Dotenv,
    /// The whole text.
    Text,
}

#[derive(Default)]
struct Gathered {
    plan: Plan,
    /// Why files were skipped.
    failed: Vec<anyhow::Error>,
}

impl Gathered {
    fn gather(&mut self, source: &Source) -> Result<()> {
        match source {
            Source::Openclaw { folder } => self.openclaw(&folder_or(folder.as_deref(), ".openclaw")?),
            Source::Hermes { folder } => self.hermes(&folder_or(folder.as_deref(), ".hermes")?),
            Source::N8n { files } => {
                for file in files {
                    self.file(file, Format::Json5, n8n::plan);
                }
                Ok(())
            }
            Source::Webhook { files } => {
                for file in files {
                    let is_json = file.extension().is_some_and(|it| it.eq_ignore_ascii_case("json"));
                    let format = if is_json { Format::Json5 } else { Format::Yaml };
                    self.file(file, format, hooks::plan);
                }
                Ok(())
            }
            Source::Env { files } => {
                for file in files {
                    self.file(file, Format::Dotenv, |plan, document| {
                        variables(plan, document);
                        Ok(())
                    });
                }
                Ok(())
            }
            Source::SshAgent { folder: Some(folder) } => ssh::plan_folder(&mut self.plan, folder),
            Source::SshAgent { folder: None } => ssh::plan_agent(&mut self.plan),
        }
    }

    /// Plans a file. What an incomplete plan of a malformed file contains is dropped.
    fn file(
        &mut self,
        path: &Path,
        format: Format,
        plan_file: impl FnOnce(&mut Plan, &Document<'_>) -> Result<(), Malformed>,
    ) {
        let mut planned = Plan::default();
        let outcome = read(path, format).and_then(|root| {
            let document = Document { path, root };
            Ok(plan_file(&mut planned, &document)?)
        });
        match outcome {
            Ok(()) => {
                self.plan.items.append(&mut planned.items);
                self.plan.clear.append(&mut planned.clear);
                self.plan.left.append(&mut planned.left);
            }
            Err(error) => self.failed.push(error.context("nothing of this file was imported")),
        }
    }

    fn openclaw(&mut self, folder: &Path) -> Result<()> {
        let env = self.env_of(folder);
        if env.is_some() {
            self.file(&folder.join(".env"), Format::Dotenv, |plan, document| {
                variables(plan, document);
                Ok(())
            });
        }
        self.file(&folder.join("openclaw.json"), Format::Json5, |plan, document| {
            openclaw::plan(plan, document, &|name| lookup(env.as_ref(), name));
            Ok(())
        });
        Ok(())
    }

    fn hermes(&mut self, folder: &Path) -> Result<()> {
        let env = self.env_of(folder);
        if env.is_some() {
            self.file(&folder.join(".env"), Format::Dotenv, |plan, document| {
                hermes::plan_env(plan, document);
                Ok(())
            });
        }
        let mut model = None;
        self.file(&folder.join("config.yaml"), Format::Yaml, |plan, document| {
            model = hermes::model(&document.root).map(str::to_owned);
            hermes::plan_config(plan, document, &|name| lookup(env.as_ref(), name));
            Ok(())
        });
        let soul = folder.join("SOUL.md");
        if soul.exists() {
            self.file(&soul, Format::Text, |plan, document| {
                hermes::plan_agent(plan, document, model.as_deref());
                Ok(())
            });
        }
        Ok(())
    }

    /// Reads the variables of a folder's `.env`, to which other files refer. Errors are reported when it is planned.
    fn env_of(&self, folder: &Path) -> Option<Node> {
        let path = folder.join(".env");
        path.exists().then(|| {
            read(&path, Format::Dotenv).unwrap_or(Node {
                line: 1,
                value: Content::Null,
            })
        })
    }
}

fn lookup(env: Option<&Node>, name: &str) -> Option<String> {
    env?.text_of(name).map(str::to_owned)
}

/// Plans every variable that has a value.
fn variables(plan: &mut Plan, document: &Document<'_>) {
    for (name, node) in document.root.fields() {
        if let Some(value) = node.text().filter(|value| !value.is_empty()) {
            plan.variable_or_key(name, value, Plan::place(document.path, node.line));
        }
    }
}

fn folder_or(folder: Option<&Path>, name: &str) -> Result<PathBuf> {
    match folder {
        Some(folder) => Ok(folder.to_owned()),
        None => Ok(std::env::home_dir().context("there is no home directory; name the folder")?.join(name)),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a command reads files and blocks no other task"
)]
fn read(path: &Path, format: Format) -> Result<Node> {
    let size = std::fs::metadata(path).map(|found| found.len());
    let size = size.with_context(|| format!("cannot read {}", path.display()))?;
    anyhow::ensure!(size <= MAX_FILE_BYTES, "{} is larger than 16 MiB", path.display());
    let text = std::fs::read_to_string(path);
    let text = text.with_context(|| format!("cannot read {}", path.display()))?;
    let root = match format {
        Format::Json5 => json5::read(&text),
        Format::Yaml => yaml::read(&text),
        Format::Dotenv => dotenv::read(&text),
        Format::Text => Ok(Node {
            line: 1,
            value: Content::Text(text),
        }),
    };
    let malformed = |(line, reason)| Malformed {
        path: path.to_owned(),
        line,
        reason,
    };
    Ok(root.map_err(malformed)?)
}
