//! Selects the replay guard for `webhooks create` if none is given: the one that the profile
//! proposes.

use super::super::client::Client;
use anyhow::Result;
use serde_json::{Map, Value, json};

/// Adds the guard. Returns a note for the user if it is not the API's default.
pub(super) async fn add(
    client: &Client,
    params: &mut Map<String, Value>,
) -> Result<Option<String>> {
    if params.contains_key("replay_guard") {
        return Ok(None);
    }
    let answer = client.rpc("webhooks.profiles", json!({})).await?;
    let Some((guard, note)) = proposed(&answer, params) else {
        return Ok(None);
    };
    let reported = format!("Replay guard: {guard}. {note} To choose another: --replay-guard key.");
    params.insert("replay_guard".to_owned(), json!(guard));
    Ok(Some(reported))
}

/// Returns the profile's proposal. Returns `None` if it is the default, or if the auth mode signs the ID or signs
/// nothing.
fn proposed(answer: &Value, params: &Map<String, Value>) -> Option<(String, String)> {
    let text = |name: &str| params.get(name).and_then(Value::as_str);
    // Only a signature limits the changes that an attacker can make to a recorded delivery.
    let unsigned = ["none", "static_header", "bearer"];
    let mode = text("auth_mode");
    if mode == Some("standard_webhooks") || mode.is_some_and(|mode| unsigned.contains(&mode)) {
        return None;
    }
    let wanted = text("source_profile").unwrap_or("generic");
    let known = answer.get("profiles").and_then(Value::as_array)?;
    let profile = known
        .iter()
        .find(|profile| profile["id"] == wanted || profile["alias"] == wanted)?;
    let member = |name: &str| Some(profile.get(name)?.as_str()?.to_owned());
    let guard = member("replay_guard").filter(|guard| guard != "key")?;
    Some((guard, member("replay_note").unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_profiles_proposal_is_taken_unless_the_id_is_signed() {
        let answer = json!({ "profiles": [
            { "id": "generic", "alias": null, "replay_guard": "bytes", "replay_note": "Why." },
            { "id": "codehost_a", "alias": "github", "replay_guard": "bytes", "replay_note": "Why." },
            { "id": "payments", "alias": "stripe", "replay_guard": "key", "replay_note": "Signed." },
        ] });
        let guard = |params: Value| {
            let params = params.as_object().unwrap().clone();
            proposed(&answer, &params).map(|(guard, _)| guard)
        };
        let bytes = Some("bytes".to_owned());
        assert_eq!(guard(json!({})), bytes);
        assert_eq!(guard(json!({ "source_profile": "github" })), bytes);
        assert_eq!(guard(json!({ "source_profile": "stripe" })), None);
        assert_eq!(guard(json!({ "auth_mode": "standard_webhooks" })), None);
        assert_eq!(guard(json!({ "auth_mode": "bearer" })), None);
        assert_eq!(guard(json!({ "auth_mode": "static_header" })), None);
        assert_eq!(guard(json!({ "source_profile": "unknown" })), None);
    }
}
