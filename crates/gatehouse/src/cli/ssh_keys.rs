//! `ssh-keys`: manage the stored SSH keys.

use super::client::{Client, ClientError};
use super::env::stored;
use super::globals::Globals;
use super::output::{Output, field, line, rows};
use super::{prompt, ssh_agent};
use anyhow::Result;
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::ExitCode;

/// `gatehouse ssh-keys …`
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// List the keys
    List,
    /// Generate an ed25519 key and show its public key
    Generate {
        /// The key's name
        name: String,
    },
    /// Import a private key in OpenSSH or PEM format
    Import {
        /// The key's name
        name: String,
        /// The file with the private key; standard input when omitted or `-`
        file: Option<PathBuf>,
        /// The file with the passphrase, for use without a terminal
        #[arg(long, value_name = "FILE")]
        passphrase_file: Option<PathBuf>,
    },
    /// Delete a key
    Delete {
        /// The key's name
        name: String,
    },
    /// Serve the keys as an SSH agent until interrupted; the private keys stay on the server
    Agent {
        /// The socket; only you may have access to its directory [default: agent/agent.sock in the data
        /// directory]
        #[arg(long, value_name = "PATH")]
        socket: Option<PathBuf>,
        /// Ask on this terminal before each use of a key
        #[arg(long)]
        confirm: bool,
    },
}

/// Runs an `ssh-keys` command.
pub async fn run(globals: &Globals, out: &Output, command: Command) -> Result<ExitCode> {
    let layers = globals.layers()?;
    let client = Client::new(globals, &layers)?;
    match command {
        Command::Agent { socket, confirm } => {
            let socket = socket.unwrap_or_else(|| layers.data_dir().join("agent/agent.sock"));
            ssh_agent::run(client, out, socket, confirm).await?;
        }
        Command::List => {
            let list = client.list("ssh_keys.list", "ssh_keys").await?;
            let fields = ["name", "fingerprint", "encrypted", "created_at"];
            out.table(
                &list,
                &fields,
                rows(&list, "ssh_keys", &fields),
                "No SSH keys.",
            )?;
        }
        Command::Generate { name } => {
            show(
                out,
                globals,
                &client
                    .rpc("ssh_keys.generate", json!({ "name": name }))
                    .await?,
            )?;
        }
        Command::Import {
            name,
            file,
            passphrase_file,
        } => {
            let key = prompt::secret_text(file.as_deref(), "Paste the private key")?;
            let passphrase = passphrase_file
                .map(|path| prompt::password("Passphrase", Some(&path)))
                .transpose()?;
            show(
                out,
                globals,
                &import(&client, &name, &key, passphrase).await?,
            )?;
        }
        Command::Delete { name } => {
            let answer = client
                .rpc("ssh_keys.delete", json!({ "name": name }))
                .await?;
            out.record(&answer, || line(format!("Deleted {name}.")))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Imports the key. Prompts for the passphrase if the server reports that it is missing.
async fn import(
    client: &Client,
    name: &str,
    key: &SecretString,
    passphrase: Option<SecretString>,
) -> Result<Value> {
    let call = |passphrase: Option<&SecretString>| {
        let mut params = json!({ "name": name, "private_key": key.expose_secret() });
        if let (Some(fields), Some(passphrase)) = (params.as_object_mut(), passphrase) {
            fields.insert("passphrase".to_owned(), json!(passphrase.expose_secret()));
        }
        client.rpc("ssh_keys.import", params)
    };
    match call(passphrase.as_ref()).await {
        Err(ClientError::Refused(refusal))
            if passphrase.is_none()
                && refusal.concerns("passphrase")
                && prompt::is_interactive() =>
        {
            Ok(call(Some(&prompt::secret("Passphrase")?)).await?)
        }
        answer => Ok(answer?),
    }
}

fn show(out: &Output, globals: &Globals, key: &Value) -> Result<()> {
    stored(out, key, "name")?;
    if !globals.json {
        line(field(key, "public_key"));
    }
    Ok(())
}
