//! The setup code: six digits that prove that a remote caller is the server's owner. Attempts are limited for all
//! callers together. Ten wrong attempts replace the code, and replacements are at least ten minutes apart. After
//! five codes, remote setup is closed.

mod pass;

use crate::audit::kinds;
use crate::error::AuthError;
use crate::throttle::RetryAfter;
use gatehouse_domain::{Actor, Random, Timestamp};
use gatehouse_store::{AuditEntry, Conn, SetupCodeRow, StoreError};
use serde_json::json;
use std::time::Duration;
use subtle::ConstantTimeEq;

/// The number of wrong attempts, by all callers together, after which a code is invalid.
pub(crate) const MAX_WRONG: i64 = 10;
/// The number of codes after which remote setup is closed.
const MAX_CODES: i64 = 5;
/// The minimum time between two replacements.
const REPLACE_AFTER: Duration = Duration::from_mins(10);

/// The result of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CodeVerdict {
    Right,
    Wrong,
    Wait { ms: u64 },
    Closed,
}

impl CodeVerdict {
    pub(crate) fn into_result(self) -> Result<(), AuthError> {
        match self {
            Self::Right => Ok(()),
            Self::Wrong => Err(AuthError::SetupCode),
            Self::Wait { ms } => Err(AuthError::Wait(RetryAfter { ms: ms.max(1) })),
            Self::Closed => Err(AuthError::SetupClosed),
        }
    }
}

fn new_code(random: &dyn Random) -> String {
    format!("{:06}", random.below(1_000_000))
}

fn first_code(now: Timestamp, random: &dyn Random) -> SetupCodeRow {
    SetupCodeRow {
        code: new_code(random),
        wrong_tries: 0,
        codes_made: 1,
        replaced_at: None,
        created_at: now,
    }
}

/// Stores the first code of a new series, for example after a reset.
pub(crate) async fn make_setup_code(
    conn: &mut Conn,
    now: Timestamp,
    random: &dyn Random,
) -> Result<(), StoreError> {
    conn.update_setup_code(&first_code(now, random)).await
}

/// Reopens remote setup, at a restart or on the operator's command. The count of codes starts at one. A code that
/// is still usable is kept, with its wrong attempts.
pub(crate) async fn renew_at_start(
    conn: &mut Conn,
    now: Timestamp,
    random: &dyn Random,
) -> Result<(), StoreError> {
    let row = match conn.find_setup_code().await? {
        Some(row) if row.wrong_tries < MAX_WRONG => SetupCodeRow {
            codes_made: 1,
            ..row
        },
        _ => first_code(now, random),
    };
    conn.update_setup_code(&row).await?;
    conn.insert_change("auth_state", now).await
}

/// Returns the replacement for a used-up code, if it is due.
fn replacement(row: &SetupCodeRow, now: Timestamp, random: &dyn Random) -> Option<SetupCodeRow> {
    let used_up = row.wrong_tries >= MAX_WRONG && row.codes_made < MAX_CODES;
    (used_up && replacement_wait(row, now).is_none()).then(|| SetupCodeRow {
        code: new_code(random),
        wrong_tries: 0,
        codes_made: row.codes_made + 1,
        replaced_at: Some(now),
        created_at: now,
    })
}

fn replacement_wait(row: &SetupCodeRow, now: Timestamp) -> Option<Duration> {
    let since = row.replaced_at?.until(now);
    REPLACE_AFTER
        .checked_sub(since)
        .filter(|wait| !wait.is_zero())
}

/// Evaluates and counts one attempt. Pure: returns the verdict and the row to store.
fn judge(
    mut row: SetupCodeRow,
    given: Option<&str>,
    now: Timestamp,
    random: &dyn Random,
) -> (CodeVerdict, SetupCodeRow) {
    if let Some(next) = replacement(&row, now, random) {
        row = next;
    }
    if row.wrong_tries >= MAX_WRONG {
        let verdict = match replacement_wait(&row, now) {
            Some(wait) if row.codes_made < MAX_CODES => CodeVerdict::Wait {
                ms: u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
            },
            _ => CodeVerdict::Closed,
        };
        return (verdict, row);
    }
    // A missing code is refused but does not count as an attempt.
    let Some(given) = given.filter(|text| !text.is_empty()) else {
        return (CodeVerdict::Wrong, row);
    };
    if bool::from(given.as_bytes().ct_eq(row.code.as_bytes())) {
        return (CodeVerdict::Right, row);
    }
    row.wrong_tries += 1;
    let row = replacement(&row, now, random).unwrap_or(row);
    (CodeVerdict::Wrong, row)
}

/// Evaluates and counts one attempt in a transaction. Writes an audit row when a code is used up.
pub(crate) async fn check_setup_code(
    conn: &mut Conn,
    given: Option<&str>,
    now: Timestamp,
    random: &dyn Random,
) -> Result<CodeVerdict, StoreError> {
    let before = if let Some(row) = conn.find_setup_code().await? {
        row
    } else {
        let first = first_code(now, random);
        conn.update_setup_code(&first).await?;
        first
    };
    let (verdict, after) = judge(before.clone(), given, now, random);
    if after != before {
        conn.update_setup_code(&after).await?;
        note_replacement(conn, &before, &after, now, random).await?;
    }
    Ok(verdict)
}

async fn note_replacement(
    conn: &mut Conn,
    before: &SetupCodeRow,
    after: &SetupCodeRow,
    now: Timestamp,
    random: &dyn Random,
) -> Result<(), StoreError> {
    let closed = after.wrong_tries >= MAX_WRONG && after.codes_made >= MAX_CODES;
    let kind = if after.codes_made != before.codes_made {
        kinds::SETUP_CODE_REPLACED
    } else if closed {
        kinds::SETUP_CODE_CLOSED
    } else {
        return Ok(());
    };
    let actor = Actor::system();
    let detail = json!({ "codes_made": after.codes_made });
    let entry = AuditEntry {
        kind,
        actor: &actor,
        detail,
    };
    conn.append_audit(&entry, now, random).await?;
    conn.insert_change("auth_state", now).await
}

pub(crate) const fn already_complete() -> AuthError {
    AuthError::Conflict("Setup is already complete.")
}

#[cfg(test)]
mod tests;
