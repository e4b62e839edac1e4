//! Omits turns whose text the model refused. If such a text stayed in the conversation, every later request would be
//! refused too.

use crate::message::Failure;
use crate::message::Role;
use gatehouse_store::ChatMessageRow;
use serde_json::Value;
use std::collections::HashSet;

/// HTTP statuses that are caused by the request, not by the key, the rate or the server.
const REFUSED: &[u64] = &[400, 413, 422];

/// Removes turns before `current` that were refused before the agent said or did anything.
pub(super) fn leave_out(rows: &mut Vec<ChatMessageRow>, current: i64) {
    let answers = |row: &&ChatMessageRow| row.role != Role::User.as_str();
    let is_empty = |row: &ChatMessageRow| row.content.is_empty() && row.tool_calls.is_none();
    let mut refused: HashSet<i64> = rows
        .iter()
        .filter(answers)
        .filter(|row| row.turn_no < current && is_empty(row) && was_refused(row))
        .map(|row| row.turn_no)
        .collect();
    for row in rows.iter().filter(answers).filter(|row| !is_empty(row)) {
        refused.remove(&row.turn_no);
    }
    rows.retain(|row| !refused.contains(&row.turn_no));
}

fn was_refused(row: &ChatMessageRow) -> bool {
    let failure = row.error.as_deref().and_then(Failure::read);
    let status =
        failure.and_then(|failure| failure.0.details.get("status").and_then(Value::as_u64));
    status.is_some_and(|status| REFUSED.contains(&status))
}
