//! Reads the files of a source and plans them.

use super::node::{Content, Document, Node};
use super::plan::Plan;
use super::{Malformed, Source, dotenv, hermes, hooks, json5, n8n, openclaw, ssh, yaml};
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

/// The largest file that is read.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// The formats of files.
#[derive(Clone, Copy)]
enum Format {
    Json5,
    Yaml,
    Dotenv,
    /// The whole text.
    Text,
}

/// The contents of all files.
#[derive(Default)]
pub(super) struct Gathered {
    pub(super) plan: Plan,
    /// Why files were skipped.
    pub(super) failed: Vec<anyhow::Error>,
}

impl Gathered {
    pub(super) fn gather(&mut self, source: &Source) -> Result<()> {
        match source {
            Source::Openclaw { folder } => {
                self.openclaw(&folder_or(folder.as_deref(), ".openclaw")?);
                Ok(())
            }
            Source::Hermes { folder } => {
                self.hermes(&folder_or(folder.as_deref(), ".hermes")?);
                Ok(())
            }
            Source::N8n { files } => {
                let mut names = n8n::Names::default();
                for file in files {
                    self.file(file, Format::Json5, |plan, document| {
                        n8n::plan(plan, document, &mut names)
                    });
                }
                Ok(())
            }
            Source::Webhook { files } => {
                for file in files {
                    let is_json = file
                        .extension()
                        .is_some_and(|it| it.eq_ignore_ascii_case("json"));
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
            Source::SshAgent {
                folder: Some(folder),
            } => ssh::plan_folder(&mut self.plan, folder),
            Source::SshAgent { folder: None } => ssh::plan_agent(&mut self.plan),
        }
    }

    /// Plans a file. The incomplete plan of a malformed file is dropped.
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
            Err(error) => self
                .failed
                .push(error.context("nothing of this file was imported")),
        }
    }

    fn openclaw(&mut self, folder: &Path) {
        let env = env_of(folder);
        if env.is_some() {
            self.file(&folder.join(".env"), Format::Dotenv, |plan, document| {
                variables(plan, document);
                Ok(())
            });
        }
        self.file(
            &folder.join("openclaw.json"),
            Format::Json5,
            |plan, document| {
                openclaw::plan(plan, document, &|name| lookup(env.as_ref(), name));
                Ok(())
            },
        );
    }

    fn hermes(&mut self, folder: &Path) {
        let env = env_of(folder);
        if env.is_some() {
            self.file(&folder.join(".env"), Format::Dotenv, |plan, document| {
                hermes::plan_env(plan, document);
                Ok(())
            });
        }
        let mut model = None;
        self.file(
            &folder.join("config.yaml"),
            Format::Yaml,
            |plan, document| {
                model = hermes::model(&document.root).map(str::to_owned);
                hermes::plan_config(plan, document, &|name| lookup(env.as_ref(), name));
                Ok(())
            },
        );
        let soul = folder.join("SOUL.md");
        if soul.exists() {
            self.file(&soul, Format::Text, |plan, document| {
                hermes::plan_agent(plan, document, model.as_deref());
                Ok(())
            });
        }
    }
}

/// Reads the variables of a folder's `.env`, to which other files refer. Errors are reported when the file is planned.
fn env_of(folder: &Path) -> Option<Node> {
    let path = folder.join(".env");
    path.exists().then(|| {
        read(&path, Format::Dotenv).unwrap_or(Node {
            line: 1,
            value: Content::Null,
        })
    })
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
        None => Ok(std::env::home_dir()
            .context("there is no home directory; name the folder")?
            .join(name)),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a command reads files and blocks no other task"
)]
fn read(path: &Path, format: Format) -> Result<Node> {
    let size = std::fs::metadata(path).map(|found| found.len());
    let size = size.with_context(|| format!("cannot read {}", path.display()))?;
    anyhow::ensure!(
        size <= MAX_FILE_BYTES,
        "{} is larger than 16 MiB",
        path.display()
    );
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
