//! `doctor`: runs the checks on a running server, or on the data directory of a stopped one.

use super::client::{Client, ClientError};
use super::globals::Globals;
use super::offline;
use super::output::{Output, bad, field, good, line, note};
use anyhow::Result;
use gatehouse_config::Layers;
use serde_json::{Value, json};
use std::process::ExitCode;

/// The next step if there is neither a database nor a server.
const NO_SERVER: &str = "If a server runs at another address, set --url and an API key in SERVICE_API_KEY. If no \
                         server has run yet, start one with `gatehouse serve`.";

/// Runs the checks. Fails if a check fails.
pub async fn run(globals: &Globals, out: &Output) -> Result<ExitCode> {
    let layers = globals.layers()?;
    let checks = match stopped(globals, &layers).await? {
        Some(checks) => checks,
        None => running(globals, &layers).await?,
    };
    let fails = |check: &Value| check.get("ok") != Some(&Value::Bool(true));
    let failed = checks.iter().any(fails);
    out.record(&json!({ "checks": checks }), || {
        for check in &checks {
            let mark = if fails(check) {
                bad("✗")
            } else {
                good("✓")
            };
            line(format!("{mark} {}", field(check, "message")));
            if check.get("hint").is_some_and(|hint| !hint.is_null()) {
                line(format!("    {}", field(check, "hint")));
            }
        }
    })?;
    Ok(if failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

async fn running(globals: &Globals, layers: &Layers) -> Result<Vec<Value>> {
    let client = Client::new(globals, layers)?;
    let mut report = match client.rpc("system.doctor", json!({})).await {
        Err(error @ ClientError::Unreachable { .. }) => {
            return Err(offline::unreachable(globals, layers, error)?);
        }
        report => report?,
    };
    let mut checks = vec![check(
        "server",
        true,
        &format!("A server responds at {}", client.url()),
        None,
    )];
    if let Some(Value::Array(found)) = report.get_mut("checks").map(Value::take) {
        checks.extend(found);
    }
    Ok(checks)
}

/// Returns the checks on the data directory, or `None` if a server must be asked instead.
async fn stopped(globals: &Globals, layers: &Layers) -> Result<Option<Vec<Value>>> {
    if globals.given_url(layers)?.is_some() {
        return Ok(None);
    }
    if let (Some(path), Some(missing)) = (
        offline::missing_path(layers)?,
        offline::missing_database(layers)?,
    ) {
        if responds(globals, layers).await? {
            note(format!(
                "There is no database {}, so the running server is checked.",
                path.display()
            ));
            return Ok(None);
        }
        let message = format!("No server responds, and {missing}.");
        return Ok(Some(vec![check(
            "data_directory",
            false,
            &message,
            Some(NO_SERVER),
        )]));
    }
    // PostgreSQL has no lock that shows whether a server is running.
    if offline::sqlite_path(layers)?.is_none() && responds(globals, layers).await? {
        return Ok(None);
    }
    let Some(gateway) = offline::gateway(globals).await? else {
        return Ok(None);
    };
    let found = gatehouse_services::doctor::checks(&gateway.services, None).await;
    gateway.close().await;
    let message = "No server is running here; its files were checked.";
    let mut checks = vec![check("server", true, message, None)];
    // The vault of a stopped server is always sealed, so this is not reported.
    let found = found.into_iter().filter(|check| check.id != "vault");
    for check in found {
        checks.push(serde_json::to_value(check)?);
    }
    Ok(Some(checks))
}

/// Returns whether a server responds at the address in the settings.
async fn responds(globals: &Globals, layers: &Layers) -> Result<bool> {
    let health = Client::anonymous(globals, layers)?.get("/health").await;
    Ok(!matches!(health, Err(ClientError::Unreachable { .. })))
}

fn check(id: &str, ok: bool, message: &str, hint: Option<&str>) -> Value {
    let mut check = json!({ "id": id, "ok": ok, "message": message });
    if let (Some(fields), Some(hint)) = (check.as_object_mut(), hint) {
        fields.insert("hint".to_owned(), hint.into());
    }
    check
}
