//! `vault`: status, unlock, seal, rotate, new recovery key.

use super::client::Client;
use super::globals::Globals;
use super::output::{Output, field, line, note, precious};
use super::{progress, prompt};
use anyhow::Result;
use gatehouse_config::Layers;
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use std::process::ExitCode;

/// `gatehouse vault …`
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// Show whether the vault is uninitialized, sealed, unsealed or disabled
    Status,
    /// Unlock the vault; asks for the password
    Unlock {
        /// Ask for the recovery key instead
        #[arg(long)]
        recovery_key: bool,
    },
    /// Seal the vault: drop the key from memory until the next unlock
    Seal,
    /// Re-encrypt everything with a new key; shows a new recovery key
    Rotate,
    /// Generate a new recovery key; the old one stops working
    RecoveryKey,
}

/// Runs a `vault` command.
pub async fn run(globals: &Globals, out: &Output, command: Command) -> Result<ExitCode> {
    let layers = globals.layers()?;
    let client = Client::new(globals, &layers)?;
    match command {
        Command::Status => status(out, &client.get("/api/auth/vault/status").await?)?,
        Command::Unlock {
            recovery_key: false,
        } => {
            let body = password(&layers)?;
            status(out, &client.post("/api/auth/vault/unlock", &body).await?)?;
        }
        Command::Unlock { recovery_key: true } => {
            let key = prompt::secret("Recovery key")?;
            let body = json!({ "recovery_key": key.expose_secret() });
            status(out, &client.post("/api/auth/vault/recovery", &body).await?)?;
        }
        Command::Seal => status(out, &client.post("/api/auth/vault/seal", &json!({})).await?)?,
        Command::Rotate => {
            let body = password(&layers)?;
            let work = client.post("/api/auth/vault/rotate", &body);
            let answer = progress::during(&client, "rotate", "Rotating", work).await?;
            recovery_key(out, &answer)?;
        }
        Command::RecoveryKey => {
            let body = password(&layers)?;
            recovery_key(
                out,
                &client.post("/api/auth/vault/recovery-key", &body).await?,
            )?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn password(layers: &Layers) -> Result<Value> {
    let password = prompt::password("Password", layers.process().password_file.as_deref())?;
    Ok(json!({ "password": password.expose_secret() }))
}

fn status(out: &Output, answer: &Value) -> Result<()> {
    out.record(answer, || line(field(answer, "status")))
}

fn recovery_key(out: &Output, answer: &Value) -> Result<()> {
    out.record(answer, || {
        line(format!(
            "Recovery key: {}",
            precious(&field(answer, "recovery_key"))
        ));
        note("Save it now: it is not shown again, and the old key no longer works.");
    })
}
