//! `ssh-keys`: SSH keys that Gatehouse keeps.

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
    /// Make an ed25519 key; shows its public half
    Generate {
        /// Its name
        name: String,
    },
    /// Import a private key in OpenSSH or PEM form
    Import {
        /// Its name
        name: String,
        /// The file with the private key; standard input without it or for `-`
        file: Option<PathBuf>,
        /// The file with the passphrase, where nobody can be asked
        #[arg(long, value_name = "FILE")]
        passphrase_file: Option<PathBuf>,
    },
    /// Delete a key
    Delete {
        /// Its name
        name: String,
    },
    /// Serve the keys as an SSH agent until it is interrupted; the private keys stay on the server
    Agent {
        /// The socket; its folder must be yours alone [default: agent/agent.sock in the data directory]
        #[arg(long, value_name = "PATH")]
        socket: Option<PathBuf>,
        /// Ask on this terminal before each use of a key
        #[arg(long)]
        confirm: bool,
    },
}

/// Runs it.
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
                "There are none.",
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

/// Asks for the passphrase when the server says that one is missing.
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
