//! `ssh-keys agent`: serves the stored keys as an SSH agent (draft-ietf-sshm-ssh-agent). The server makes the
//! signatures and records each one in the audit log. Private keys never reach this process.

mod socket;
mod wire;

use super::client::Client;
use super::input::{Input, Line};
use super::output::{Output, line, note, plain, warn};
use super::{prompt, usage};
use anyhow::{Context, Result, bail, ensure};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{Mutex, Semaphore};
use tokio_util::task::TaskTracker;
use wire::{Key, Request};

/// Limit on concurrent connections.
const MAX_CONNECTIONS: usize = 16;

struct Agent {
    client: Client,
    /// Locked while a question is shown, because there can be only one question at a time. `None` without `--confirm`.
    confirm: Option<Mutex<Input>>,
}

/// Serves until SIGINT or SIGTERM.
pub async fn run(client: Client, out: &Output, path: PathBuf, confirm: bool) -> Result<()> {
    usage::ensure(
        !confirm || prompt::is_interactive(),
        "there is no terminal for a prompt: run the agent in one, or without --confirm",
    )?;
    // This fails early if no server answers or the API key is missing.
    let keys = client.list("ssh_keys.list", "ssh_keys").await?;
    let socket = socket::Socket::bind(&path)?;
    let shown = path.display().to_string();
    let quoted = shown.replace('\'', "'\\''");
    out.record(
        &json!({ "socket": shown, "keys": named_keys(&keys).len() }),
        || {
            line(format!("SSH_AUTH_SOCK='{quoted}'; export SSH_AUTH_SOCK;"));
        },
    )?;
    let confirm = if confirm { Some(Input::start()?) } else { None };
    let agent = Arc::new(Agent {
        client,
        confirm: confirm.map(Mutex::new),
    });
    let (places, tasks) = (
        Arc::new(Semaphore::new(MAX_CONNECTIONS)),
        TaskTracker::new(),
    );
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    loop {
        let connection = async {
            let place = Arc::clone(&places).acquire_owned().await?;
            anyhow::Ok((place, socket.accept().await?))
        };
        let (place, stream) = tokio::select! {
            _ = terminate.recv() => break,
            _ = interrupt.recv() => break,
            connection = connection => connection?,
        };
        let Some(stream) = stream else { continue };
        let agent = Arc::clone(&agent);
        tasks.spawn(async move {
            let _place = place;
            // A client that disconnects or violates the protocol is dropped.
            drop(agent.serve(stream).await);
        });
    }
    Ok(())
}

impl Agent {
    async fn serve(&self, mut stream: UnixStream) -> Result<()> {
        let program = socket::program_of(&stream).await;
        loop {
            let length = usize::try_from(stream.read_u32().await?)?;
            ensure!(
                (1..=wire::MAX_BYTES).contains(&length),
                "not an SSH agent message"
            );
            let mut message = vec![0; length];
            stream.read_exact(&mut message).await?;
            let answer = match self.answer(&message, &program, &stream).await {
                Ok(answer) => answer,
                Err(error) => {
                    warn(format!("{}: {error:#}", plain(&program)));
                    wire::failure()
                }
            };
            stream.write_u32(u32::try_from(answer.len())?).await?;
            stream.write_all(&answer).await?;
        }
    }

    async fn answer(&self, message: &[u8], program: &str, stream: &UnixStream) -> Result<Vec<u8>> {
        match wire::parse(message)? {
            Request::Identities => Ok(wire::identities(&self.keys().await?)),
            Request::Sign { key, data, flags } => {
                let keys = self.keys().await?;
                let known = keys.iter().find(|known| known.blob == key);
                let name = &known.context("it requested a key that is not stored")?.name;
                self.allow(name, program, stream).await?;
                let params = json!({
                    "name": name, "data": STANDARD.encode(data), "flags": flags, "program": program,
                });
                let answer = self.client.rpc("ssh_keys.sign", params).await?;
                let signature = answer.get("signature").and_then(Value::as_str);
                let signature = STANDARD.decode(signature.unwrap_or_default())?;
                Ok(wire::signature(&signature))
            }
            // The standard answer of an agent to an unsupported request.
            Request::Other => Ok(wire::failure()),
        }
    }

    async fn keys(&self) -> Result<Vec<Key>> {
        let list = self.client.list("ssh_keys.list", "ssh_keys").await?;
        Ok(named_keys(&list))
    }

    /// Asks whether a program may use a key. The question ends when the program closes its connection.
    async fn allow(&self, name: &str, program: &str, stream: &UnixStream) -> Result<()> {
        let Some(input) = &self.confirm else {
            return Ok(());
        };
        let (program, shown) = (plain(program), plain(name));
        let question = format!("Allow {program} to use the key {shown}? [y/N] ");
        let mut input = tokio::select! {
            input = input.lock() => input,
            () = socket::closed(stream) => bail!("it closed its connection before it was asked about"),
        };
        let Ok(reply) = input.ask_until(&question, socket::closed(stream)).await else {
            note("\nThe program has closed its connection.");
            input.discard_late().await;
            bail!("it closed its connection before an answer");
        };
        let is_yes = matches!(&reply, Line::Text(reply) if prompt::is_yes(reply));
        ensure!(is_yes, "the use of the key {name} was denied");
        Ok(())
    }
}

fn named_keys(list: &Value) -> Vec<Key> {
    let rows = list.get("ssh_keys").and_then(Value::as_array);
    let key = |row: &Value| {
        let text = |name| row.get(name).and_then(Value::as_str);
        let blob = text("public_key")?.split(' ').nth(1)?;
        Some(Key {
            name: text("name")?.to_owned(),
            blob: STANDARD.decode(blob).ok()?,
        })
    };
    rows.into_iter().flatten().filter_map(key).collect()
}
