//! `auth`: setup code, reset, API keys and sessions.

mod create_key;

pub use create_key::CreateKey;

use super::client::{Client, ClientError, Refusal};
use super::globals::Globals;
use super::output::{Output, field, line, rows};
use super::{offline, prompt, usage};
use anyhow::{Context, Result, bail, ensure};
use gatehouse::{Gateway, Purpose, Storage};
use gatehouse_config::Layers;
use gatehouse_domain::Problem;
use serde_json::json;
use std::process::ExitCode;

/// `gatehouse auth …`
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// Show the setup code; reopens remote setup if wrong guesses have closed it
    SetupCode,
    /// Remove the password, all passkeys, sessions and API keys
    Reset {
        /// Do not ask for confirmation
        #[arg(long)]
        yes: bool,
    },
    /// Create an API key; it is shown once
    CreateKey(CreateKey),
    /// List the sessions
    Sessions,
}

/// Runs an `auth` command.
pub async fn run(globals: &Globals, out: &Output, command: Command) -> Result<ExitCode> {
    let layers = globals.layers()?;
    match command {
        Command::SetupCode => setup_code(globals, &layers, out).await?,
        Command::Reset { yes } => reset(globals, &layers, out, yes).await?,
        Command::CreateKey(args) => create_key::run(globals, &layers, out, args).await?,
        Command::Sessions => {
            let list = Client::new(globals, &layers)?
                .get("/api/auth/sessions")
                .await?;
            let fields = [
                "id",
                "login_method",
                "client_ip",
                "last_seen_at",
                "expires_at",
                "user_agent",
            ];
            out.table(
                &list,
                &fields,
                rows(&list, "sessions", &fields),
                "No sessions.",
            )?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn setup_code(globals: &Globals, layers: &Layers, out: &Output) -> Result<()> {
    usage::ensure(
        globals.given_url(layers)?.is_none(),
        "the setup code is shown only on the server's machine; omit --url and unset SERVICE_URL",
    )?;
    let gateway = match offline::gateway_or_new(globals, layers).await? {
        Some(gateway) => gateway,
        None => beside(globals, layers).await?,
    };
    let code = gateway.services.auth.offline_setup_code().await;
    gateway.close().await;
    let code = code.map_err(|error| Refusal::from(Problem::from(error)))?;
    out.record(&json!({ "setup_code": code }), || {
        line(format!("Setup code: {code}"));
    })
}

/// Opens the database while a server is running. The server checks codes in the database, so a renewed code works
/// immediately.
async fn beside(globals: &Globals, layers: &Layers) -> Result<Gateway> {
    offline::ensure_database(layers)?;
    offline::ensure_same_schema(layers).await?;
    // Opening the secrets while a server runs is safe only before setup, because it can change the files of provider
    // keys.
    let storage = Storage::open(layers, Purpose::Beside).await?;
    let is_complete = storage
        .store
        .read(|conn| Box::pin(gatehouse_auth::is_setup_complete(conn)))
        .await;
    storage.close().await;
    ensure!(!is_complete?, "setup is already complete");
    Ok(Gateway::open(globals.layers()?, offline::parts(), Purpose::Beside).await?)
}

async fn reset(globals: &Globals, layers: &Layers, out: &Output, yes: bool) -> Result<()> {
    // Otherwise, a new database would be reset instead of the database that the server uses.
    if globals.given_url(layers)?.is_none() {
        offline::ensure_database(layers).context("nothing was reset")?;
    }
    // Without a terminal, the question fails.
    if !yes {
        let warning = "This removes the password, all passkeys, sessions, API keys and devices, ends the trust in \
                       people on channels, and disables authentication until setup is completed again. The vault \
                       and secrets are kept.";
        prompt::confirm(warning, "reset")?;
    }
    let gateway = match globals.given_url(layers)? {
        Some(_) => None,
        None => offline::gateway(globals).await?,
    };
    let answer = match gateway {
        Some(gateway) => {
            let answer = gateway.services.auth.offline_reset().await;
            gateway.close().await;
            serde_json::to_value(answer.map_err(|error| Refusal::from(Problem::from(error)))?)?
        }
        None => match Client::new(globals, layers)?
            .post("/api/auth/reset", &json!({}))
            .await
        {
            Err(ClientError::Refused(refusal)) if refusal.code == "AUTH_NOT_AUTHENTICATED" => {
                bail!(
                    "{}: stop it to reset without a credential, or set --api-key",
                    offline::RUNNING
                )
            }
            Err(error @ ClientError::Unreachable { .. }) => {
                return Err(offline::unreachable(globals, layers, error)?);
            }
            answer => answer?,
        },
    };
    out.record(&answer, || {
        line("All credentials were removed. Authentication is disabled until setup is completed.");
        line(format!("Kept: {}", field(&answer, "kept")));
    })
}
