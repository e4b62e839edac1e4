//! `env exec`: runs a program with the stored variables. The program replaces this process. It therefore keeps the
//! process ID, receives signals directly, and returns its own exit code.

use super::client::Client;
use super::output::{plain, warn};
use super::prompt;
use anyhow::{Context, Result, ensure};
use gatehouse_config::{Environment, Layers};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

/// The exit codes of shells for a program that is not found or cannot be run.
const NOT_FOUND: u8 = 127;
const NOT_RUN: u8 = 126;

/// Runs the program. Returns only if it could not be started.
pub async fn run(
    client: Client,
    layers: &Layers,
    only: &[String],
    command: &[OsString],
) -> Result<ExitCode> {
    let (program, arguments) = command.split_first().context("no program was given")?;
    let shown: String = program.to_string_lossy().chars().take(256).collect();
    let mut params = json!({ "program": shown });
    if let (Some(fields), false) = (params.as_object_mut(), only.is_empty()) {
        fields.insert("only".to_owned(), json!(only));
    }
    let answer = reveal(client, layers, params).await?;
    for name in texts(&answer, "withheld") {
        warn(format!(
            "{} is not passed on, because it can make a program run other code",
            plain(name)
        ));
    }
    let unreadable: Vec<&str> = texts(&answer, "unreadable").collect();
    ensure!(
        unreadable.is_empty(),
        "these variables cannot be read: {}; the program was not run",
        plain(&unreadable.join(", "))
    );
    let mut child = Command::new(program);
    child.args(arguments);
    // This command's own keys are not passed to the program.
    for (name, _) in Environment::from_process().secrets() {
        child.env_remove(name);
    }
    for variable in answer
        .get("variables")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        let text = |name| variable.get(name).and_then(Value::as_str);
        if let (Some(key), Some(value)) = (text("key"), text("value")) {
            child.env(key, value);
        }
    }
    let error = child.exec();
    let code = if error.kind() == ErrorKind::NotFound {
        NOT_FOUND
    } else {
        NOT_RUN
    };
    eprintln!("error: cannot run {}: {error}", plain(&shown));
    Ok(ExitCode::from(code))
}

/// Uses the API key if there is one. Otherwise logs in with the password and logs out immediately afterwards.
async fn reveal(client: Client, layers: &Layers, params: Value) -> Result<Value> {
    if client.credential().is_some() {
        return Ok(client.rpc("env.reveal", params).await?);
    }
    let file = layers.process().password_file.as_deref();
    let password = prompt::password("Password", file)?;
    let token = client.login(&password).await?;
    let client = client.with_session(&token.context("the server returned no session")?);
    let answer = client.rpc("env.reveal", params).await;
    // The session was only for this request. If the logout fails, the session expires.
    drop(client.post("/api/auth/logout", &json!({})).await);
    Ok(answer?)
}

fn texts<'a>(answer: &'a Value, name: &str) -> impl Iterator<Item = &'a str> {
    let list = answer.get(name).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str)
}
