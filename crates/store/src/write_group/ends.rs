//! Commits a group, rolls it back, or looks up the outcome of its commit.

use super::{BETWEEN_LOOKS, LOOK_UP, Outcome};
use crate::location::Source;
use crate::postgres::{TransactionId, TransactionStatus};
use crate::write_job::Acknowledge;
use crate::{Conn, StoreError};
use tokio::time::{Instant, timeout_at};

pub(super) async fn commit(source: &Source, conn: &mut Conn) -> Outcome {
    if conn.is_untouched() {
        roll_back(conn).await;
        return Outcome::Committed;
    }
    let id = match conn.transaction_id().await {
        Ok(id) => id,
        Err(error) => {
            roll_back(conn).await;
            return Outcome::Undone(error);
        }
    };
    let Err(error) = conn.commit().await else {
        return Outcome::Committed;
    };
    // If the server still responds, it has refused the commit.
    let was_answered = roll_back(conn).await;
    match id {
        Some(id) if !was_answered => {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "a commit was not answered; its outcome is looked up"
            );
            look_up(source, &id, error).await
        }
        _ => Outcome::Undone(error),
    }
}

/// Rolls back and returns whether the connection can be reused. The rollback fails if the engine has already rolled
/// back.
pub(super) async fn roll_back(conn: &mut Conn) -> bool {
    let is_done = conn.is_usable() && conn.roll_back().await.is_ok();
    if !is_done {
        conn.mark_unusable();
    }
    is_done
}

/// Reports the outcome of a group to the callers of its writes.
pub(super) fn acknowledge_all(outcome: Outcome, mut callers: Vec<Acknowledge>, is_alone: bool) {
    match outcome {
        // A refused statement may have been sent with the commit. Its caller handles the error.
        Outcome::Undone(error) if is_alone && !matches!(error, StoreError::Unavailable(_)) => {
            if let Some(acknowledge) = callers.pop() {
                acknowledge(Err(error));
            }
        }
        outcome => {
            for acknowledge in callers {
                acknowledge(outcome.for_caller());
            }
        }
    }
}

/// Queries the database for the outcome of a transaction.
async fn look_up(source: &Source, id: &TransactionId, error: StoreError) -> Outcome {
    let until = Instant::now() + LOOK_UP;
    while Instant::now() < until {
        match look_up_once(source, id, until).await {
            Ok(TransactionStatus::Committed) => return Outcome::Committed,
            Ok(TransactionStatus::RolledBack) => return Outcome::Undone(error),
            Ok(TransactionStatus::Unknown) => return Outcome::Unknown,
            Ok(TransactionStatus::InProgress) | Err(_) => {
                tokio::time::sleep(BETWEEN_LOOKS).await;
            }
        }
    }
    Outcome::Unknown
}

/// Queries the status of a transaction on a new connection.
async fn look_up_once(
    source: &Source,
    id: &TransactionId,
    until: Instant,
) -> Result<TransactionStatus, StoreError> {
    let connected = timeout_at(until, source.connect()).await;
    let mut conn = connected.map_err(StoreError::unavailable)??;
    conn.wait_for(until.saturating_duration_since(Instant::now()));
    let looked = conn.find_status(id).await;
    // Discarded rather than returned to the pool, where it would stay unused and could fail unnoticed before the
    // next lookup.
    conn.discard();
    looked
}
