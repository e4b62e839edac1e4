//! `config`: check, show, schema and sample.

use super::client::Client;
use super::globals::Globals;
use super::output::{Output, good, line, note, plain, warn};
use super::{offline, usage};
use anyhow::Result;
use gatehouse_config::{ConfigError, Layers, check_key, json_schema, sample};
use gatehouse_services::backup::check_written_recipient;
use gatehouse_store::StoreError;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

/// The timeout for the database in commands that only show settings.
const DATABASE_TIMEOUT: Duration = Duration::from_secs(2);
const WITHOUT: &str = "Changes made at run time are not included";

/// `gatehouse config …`
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// Check flags, environment and file; reports the line of an error
    Check,
    /// Show the effective settings; secrets are masked
    Show {
        /// Also show where each value comes from
        #[arg(long)]
        origin: bool,
        /// Only these keys or sections
        keys: Vec<String>,
    },
    /// Print the JSON Schema of the configuration file
    Schema,
    /// Print a configuration file with every setting, commented out
    Sample,
}

/// Runs a `config` command.
pub async fn run(globals: &Globals, out: &Output, command: Command) -> Result<ExitCode> {
    match command {
        Command::Check => return check(globals, out),
        Command::Show { origin, keys } => show(globals, out, origin, keys).await?,
        Command::Schema => line(serde_json::to_string_pretty(&json_schema())?),
        Command::Sample => {
            let text = sample();
            out.record(&json!({ "sample": text }), || line(text.trim_end()))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn check(globals: &Globals, out: &Output) -> Result<ExitCode> {
    let checked = globals.layers().and_then(|layers| {
        check_written_recipient(&layers)?;
        Ok(layers)
    });
    let error = match checked {
        Ok(layers) => {
            let record = json!({ "ok": true, "file": layers.config_path().display().to_string(), "warnings": layers.warnings() });
            layers.warnings().iter().for_each(warn);
            out.record(&record, || line(good("The settings are valid.")))?;
            return Ok(ExitCode::SUCCESS);
        }
        Err(error) => error,
    };
    if let Some(ConfigError {
        place,
        line,
        key,
        reason,
        suggestion,
    }) = error.downcast_ref()
    {
        let record = json!({ "ok": false, "place": place, "line": line, "key": key, "reason": reason, "suggestion": suggestion });
        out.record(&record, || ())?;
    }
    Err(error)
}

async fn show(globals: &Globals, out: &Output, origin: bool, keys: Vec<String>) -> Result<()> {
    let layers = globals.layers()?;
    for key in &keys {
        check_key(key).map_err(|error| usage::wrong(error.to_string()))?;
    }
    let keys = Some(keys).filter(|keys| !keys.is_empty());
    let values = if let Some(values) = from_server(globals, &layers, keys.as_deref()).await? {
        values
    } else {
        let resolved = layers.resolve(&stored(&layers).await?)?;
        resolved.warnings.iter().for_each(warn);
        serde_json::to_value(resolved.values(keys.as_deref()))?
    };
    out.record(&json!({ "values": values }), || {
        for value in values.as_array().into_iter().flatten() {
            let text = |name: &str| match value.get(name) {
                Some(Value::String(text)) if name != "value" => plain(text),
                Some(Value::Null) | None => "(unset)".to_owned(),
                Some(other) => plain(&other.to_string()),
            };
            let from = if origin {
                format!("    # {}", text("origin"))
            } else {
                String::new()
            };
            line(format!("{} = {}{from}", text("key"), text("value")));
        }
    })
}

/// Reads the settings from the server, if a server is named or has the lock, and it permits access.
async fn from_server(
    globals: &Globals,
    layers: &Layers,
    keys: Option<&[String]>,
) -> Result<Option<Value>> {
    let is_named = globals.given_url(layers)?.is_some();
    if !is_named && !offline::is_locked(layers)? {
        return Ok(None);
    }
    match Client::new(globals, layers)?
        .rpc("config.get", json!({ "keys": keys }))
        .await
    {
        Ok(mut answer) => Ok(answer.get_mut("values").map(Value::take)),
        Err(error) if is_named => Err(error.into()),
        Err(error) => {
            note(format!("{WITHOUT}: {error}"));
            Ok(None)
        }
    }
}

/// Returns the settings changed at run time, if the database is available.
async fn stored(layers: &Layers) -> Result<BTreeMap<String, Value>> {
    if !offline::has_database(layers)? || offline::is_locked(layers)? {
        return Ok(BTreeMap::new());
    }
    match tokio::time::timeout(DATABASE_TIMEOUT, read_settings(layers)).await {
        Ok(Ok(rows)) => return Ok(rows),
        Ok(Err(error)) => note(format!("{WITHOUT}: {error:#}")),
        Err(_elapsed) => note(format!("{WITHOUT}: the database does not respond")),
    }
    Ok(BTreeMap::new())
}

async fn read_settings(layers: &Layers) -> Result<BTreeMap<String, Value>> {
    let Some(storage) = offline::storage(layers).await? else {
        return Ok(BTreeMap::new());
    };
    let read = storage
        .store
        .read(|conn| Box::pin(async move { conn.list_settings().await }));
    let rows: Result<_, StoreError> = read.await;
    storage.close().await;
    let mut rows = rows?;
    rows.retain(|key, _| key.contains('.'));
    Ok(rows)
}
