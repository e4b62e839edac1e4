//! `env`: environment variables for the programs that Gatehouse starts.

use super::client::Client;
use super::env_exec;
use super::globals::Globals;
use super::output::{Output, field, line, rows, warn};
use super::prompt;
use anyhow::Result;
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::process::ExitCode;

/// `gatehouse env …`
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// List the variables, without their values
    List,
    /// Set a variable; without VALUE, prompts for it or reads standard input
    Set {
        /// The variable's name
        key: String,
        /// The value; other users of this machine may see it in the process list while the command runs
        #[arg(allow_hyphen_values = true)]
        value: Option<SecretString>,
    },
    /// Delete a variable
    Delete {
        /// The variable's name
        key: String,
    },
    /// Run a program with the variables in its environment; without an API key, asks for the password
    Exec {
        /// Only these variables
        #[arg(long, value_name = "KEY", num_args = 1.., value_delimiter = ',')]
        only: Vec<String>,
        /// The program and its arguments, after `--`
        #[arg(last = true, required = true, value_name = "PROGRAM")]
        command: Vec<OsString>,
    },
}

/// Runs an `env` command.
pub async fn run(globals: &Globals, out: &Output, command: Command) -> Result<ExitCode> {
    let layers = globals.layers()?;
    let client = Client::new(globals, &layers)?;
    match command {
        Command::Exec { only, command } => {
            return env_exec::run(client, &layers, &only, &command).await;
        }
        Command::List => {
            let list = client.list("env.list", "env_variables").await?;
            let fields = ["key", "encrypted", "updated_at"];
            out.table(
                &list,
                &fields,
                rows(&list, "env_variables", &fields),
                "No environment variables.",
            )?;
        }
        Command::Set { key, value } => {
            let value = match value {
                Some(value) => value,
                None => prompt::value("Value")?,
            };
            let params = json!({ "key": key, "value": value.expose_secret() });
            stored(out, &client.rpc("env.set", params).await?, "key")?;
        }
        Command::Delete { key } => {
            let answer = client.rpc("env.delete", json!({ "key": key })).await?;
            out.record(&answer, || line(format!("Deleted {key}.")))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Reports that a secret was stored, and whether it is encrypted.
pub fn stored(out: &Output, item: &Value, name: &str) -> Result<()> {
    let how = if field(item, "encrypted") == "1" {
        "encrypted"
    } else {
        "as plaintext"
    };
    out.record(item, || {
        line(format!("Stored {} {how}.", field(item, name)));
    })?;
    if item.get("warning").is_some() {
        warn(field(item, "warning"));
    }
    Ok(())
}
