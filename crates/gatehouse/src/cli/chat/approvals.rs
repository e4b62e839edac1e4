//! Asks about a conversation's calls that wait for approval.

use super::{APPROVALS_EVERY, Chat};
use crate::cli::client::{Client, ClientError, Refusal};
use crate::cli::input::Line;
use crate::cli::output::{field, note, warn};
use crate::cli::prompt;
use anyhow::Result;
use gatehouse_domain::ErrorCode;
use serde_json::{Value, json};
use std::time::Duration;

const QUESTION: &str =
    "Allow? [y]es, [n]o, [s] always in this conversation, [a] always with this input: ";

/// The maximum delay of the record about a call's end. The server writes it shortly after the call
/// stops waiting.
const RECORDED_WITHIN: Duration = Duration::from_millis(500);

impl Chat {
    /// Asks about the calls of this conversation that wait for approval. Without a terminal, prints where to decide.
    pub(super) async fn ask_approvals(&mut self, session: &str) -> Result<()> {
        let list = self.client.list("approval.list", "approvals");
        let Some(found) = self.input.unless_interrupted(list).await else {
            return self.abort(session).await;
        };
        let found = match found {
            Ok(found) => found,
            // The key may not have the permission to decide, or the server may be restarting.
            Err(error) if matches!(error, ClientError::Refused(_)) || error.outage().is_some() => {
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        };
        let waiting = found.get("approvals").and_then(Value::as_array);
        for approval in waiting.into_iter().flatten() {
            if field(approval, "session") != session || !self.asked.insert(field(approval, "id")) {
                continue;
            }
            show(approval);
            if !self.is_typed {
                note("Allow or deny it in the web UI.");
                continue;
            }
            self.ask_approval(session, &field(approval, "id")).await?;
        }
        Ok(())
    }

    /// Asks about a call until the user answers or the call no longer waits.
    async fn ask_approval(&mut self, session: &str, id: &str) -> Result<()> {
        let ended = end_of(&self.client, id);
        let reply = match self.input.ask_until(QUESTION, ended).await {
            Ok(Line::Text(reply)) => reply,
            Ok(Line::Interrupted) => return self.abort(session).await,
            Ok(Line::End) => String::new(),
            Err(end) => {
                note(format!("\n{end}"));
                self.input.discard_late().await;
                return Ok(());
            }
        };
        let (allow, remember) = match reply.trim().to_lowercase().as_str() {
            reply if prompt::is_yes(reply) => (true, None),
            "s" => (true, Some("session")),
            "a" => (true, Some("arguments")),
            _ => (false, None),
        };
        let params = json!({ "id": id, "allow": allow, "remember": remember });
        match self.rpc("approval.resolve", params).await {
            None => return self.abort(session).await,
            Some(Ok(_)) => {}
            // The call may have ended since the last read.
            Some(Err(error)) => warn(format!("{error:#}")),
        }
        Ok(())
    }
}

/// Prints the call and the time until which it waits.
fn show(approval: &Value) {
    let shown = approval.get("shown").unwrap_or(approval);
    note(format!(
        "\nThe agent asks to call {} with {}",
        field(shown, "tool"),
        field(shown, "arguments")
    ));
    let hidden = shown.get("hidden").and_then(Value::as_u64).unwrap_or(0);
    if hidden > 0 {
        warn(format!(
            "the input contains {hidden} hidden characters, shown as escapes"
        ));
    }
    if let Some(reason) = reason_of(approval) {
        warn(reason);
    }
    note(format!(
        "Without an answer, it expires at {}.",
        field(approval, "expires_at")
    ));
}

/// Returns why the call waits, if the reason is a risk.
fn reason_of(approval: &Value) -> Option<&'static str> {
    (field(approval, "reason") == "tainted").then_some(
        "the agent has read text that anyone could have written; it may have caused this call",
    )
}

/// Waits until a call no longer waits. Returns the sentence about its end.
async fn end_of(client: &Client, id: &str) -> &'static str {
    let find = || client.rpc("approval.find", json!({ "id": id }));
    loop {
        tokio::time::sleep(APPROVALS_EVERY).await;
        // Another error does not mean that the call ended.
        if find().await.is_err_and(|error| is_gone(&error)) {
            break;
        }
    }
    tokio::time::sleep(RECORDED_WITHIN).await;
    match find().await {
        Err(ClientError::Refused(refusal)) => sentence(&refusal),
        _ => UNKNOWN_END,
    }
}

fn is_gone(error: &ClientError) -> bool {
    matches!(error, ClientError::Refused(refusal) if refusal.code == ErrorCode::NotFound.name())
}

const UNKNOWN_END: &str = "The call no longer waits for an answer.";

/// Returns how a call ended, derived from the error of the failed lookup.
fn sentence(refusal: &Refusal) -> &'static str {
    match refusal.details.get("ended").and_then(Value::as_str) {
        Some("allowed") => "Allowed elsewhere.",
        Some("denied") => "Denied elsewhere.",
        Some("expired") => "Expired. The call did not run.",
        _ => UNKNOWN_END,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_a_stranger_may_have_caused_comes_with_a_warning() {
        assert!(reason_of(&json!({ "reason": "tainted" })).is_some());
        assert_eq!(reason_of(&json!({ "reason": "required" })), None);
    }
}
