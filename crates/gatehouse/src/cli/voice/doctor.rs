//! `voice doctor`: checks the configuration, and optionally calls the providers.

use super::is_configured;
use crate::cli::client::Client;
use crate::cli::output::{Output, bad, field, good, line, plain};
use anyhow::Result;
use serde_json::{Value, json};
use std::process::ExitCode;
use std::time::Instant;

/// The test sentence. A number that differs each time follows it. Otherwise, the audio would come from the cache and no
/// provider would be called.
const SENTENCE: &str = "The gate is open. Number";

/// Checks the configuration, and with `--try` calls the providers. Fails when a configured provider does not
/// work.
pub(super) async fn run(client: &Client, out: &Output, is_tried: bool) -> Result<ExitCode> {
    let mut checks = vec![chosen(client, "tts").await?, chosen(client, "stt").await?];
    if is_tried {
        checks.extend(tried(client).await?);
    }
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
        }
    })?;
    Ok(if failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// Calls every speech provider, then lets every transcription provider transcribe the first recording.
async fn tried(client: &Client) -> Result<Vec<Value>> {
    let (mut checks, mut recording) = (Vec::new(), None);
    for id in usable(client, "tts").await? {
        let text = format!("{SENTENCE} {}.", std::process::id());
        let params = json!({ "text": text, "format": "wav", "provider": id });
        let (check, answer) = call(client, "tts.convert", params, &id).await;
        checks.push(check);
        recording =
            recording.or(answer.and_then(|mut answer| answer.get_mut("audio").map(Value::take)));
    }
    for id in usable(client, "stt").await? {
        let Some(recording) = &recording else {
            let message = format!("{id} was not tried: there is no recording");
            checks.push(json!({ "id": id, "ok": true, "message": message }));
            continue;
        };
        let params = json!({ "audio": recording, "provider": id });
        checks.push(call(client, "stt.transcribe", params, &id).await.0);
    }
    Ok(checks)
}

/// Returns the IDs of the visible, configured providers, and of the selected one, which may be
/// hidden.
async fn usable(client: &Client, section: &str) -> Result<Vec<String>> {
    let list = client
        .rpc(&format!("{section}.providers"), json!({}))
        .await?;
    let status = client.rpc(&format!("{section}.status"), json!({})).await?;
    let shown = list.as_array().into_iter().flatten();
    let shown = shown.filter(|one| is_configured(one));
    let mut ids: Vec<String> = shown.map(|one| field(one, "id")).collect();
    let chosen = field(&status, "provider");
    if is_configured(&status) && !ids.contains(&chosen) {
        ids.push(chosen);
    }
    Ok(ids)
}

/// Checks the selected provider. A missing provider or disabled voice is not a failure, because
/// voice is optional.
async fn chosen(client: &Client, section: &str) -> Result<Value> {
    let status = client.rpc(&format!("{section}.status"), json!({})).await?;
    let does = if section == "tts" {
        "speaks"
    } else {
        "listens"
    };
    let id = field(&status, "provider");
    let is_on = status.get("enabled") == Some(&Value::Bool(true));
    let (ok, message) = match (is_on, id.as_str()) {
        (false, _) => (true, format!("No provider {does}: switched off")),
        (true, "") => (true, format!("No provider {does}: none is configured")),
        (true, id) if is_configured(&status) => (true, format!("{id} {does}")),
        (true, id) => (
            false,
            format!("{id} is chosen, but its settings are incomplete"),
        ),
    };
    Ok(json!({ "id": section, "ok": ok, "message": message }))
}

/// Calls a provider and returns the result as a check.
async fn call(client: &Client, method: &str, params: Value, id: &str) -> (Value, Option<Value>) {
    let begun = Instant::now();
    let answer = client.rpc(method, params).await;
    let seconds = begun.elapsed().as_secs_f64();
    match answer {
        Ok(answer) => {
            let heard = answer.get("text").and_then(Value::as_str);
            let heard = heard.map(|text| format!(": “{}”", plain(text)));
            let message = format!(
                "{id} answered in {seconds:.1} s{}",
                heard.unwrap_or_default()
            );
            (
                json!({ "id": id, "ok": true, "message": message }),
                Some(answer),
            )
        }
        Err(error) => {
            let message = format!("{id}: {error}");
            (json!({ "id": id, "ok": false, "message": message }), None)
        }
    }
}
