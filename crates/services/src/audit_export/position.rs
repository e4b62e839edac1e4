//! The position of each copy, and the node that writes it. Both are in the table of settings, so that only one node
//! writes each row. A node claims rows in one transaction, writes them, and stores the position in another
//! transaction.

use super::Target;
use data_encoding::HEXLOWER;
use gatehouse_domain::{Random, Timestamp};
use gatehouse_store::{AuditRow, Conn, Store, StoreError};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Returns the key of the position in the table of settings.
const fn key(target: Target) -> &'static str {
    match target {
        Target::File => "audit_export_file",
        Target::Syslog => "audit_export_syslog",
    }
}

#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Position {
    /// The number of the last row that was written.
    seq: i64,
    /// The random ID of a claim that has not ended.
    claim: Option<String>,
}

/// The facts that decide whether a node may claim rows.
pub(super) struct Taking {
    pub(super) target: Target,
    /// Whether other nodes use the database. If not, an existing claim comes from an earlier process.
    pub(super) is_shared: bool,
    /// A claim whose owner has abandoned it.
    pub(super) stale: Option<String>,
    pub(super) now: Timestamp,
}

/// Rows that this node must write now.
pub(super) struct Claimed {
    pub(super) id: String,
    /// The number of the last row that was written.
    pub(super) done: i64,
    /// The rows to write, at least one.
    pub(super) rows: Vec<AuditRow>,
}

pub(super) enum Claim {
    Rows(Claimed),
    /// All rows up to `done` are written, and there are no others.
    Nothing {
        done: i64,
    },
    /// Another node holds this claim.
    OfOther(String),
}

async fn find(conn: &mut Conn, target: Target) -> Result<Position, StoreError> {
    let stored = conn.find_setting(key(target)).await?;
    let position = stored.and_then(|value| serde_json::from_value(value).ok());
    Ok(position.unwrap_or_default())
}

/// Claims the next rows.
pub(super) async fn claim(
    store: &Store,
    taking: Taking,
    random: &dyn Random,
) -> Result<Claim, StoreError> {
    let id = HEXLOWER.encode(&random.bytes::<16>());
    let claim = store.write(move |conn| {
        Box::pin(async move {
            let Position { seq, claim } = find(conn, taking.target).await?;
            if let Some(other) = claim
                && taking.is_shared
                && taking.stale.as_ref() != Some(&other)
            {
                return Ok(Claim::OfOther(other));
            }
            let rows = conn.list_audit_chain(seq, taking.target.batch()).await?;
            if rows.is_empty() {
                return Ok(Claim::Nothing { done: seq });
            }
            let claim = Some(id.clone());
            let position = json!(Position { seq, claim });
            conn.update_setting(key(taking.target), &position, taking.now)
                .await?;
            Ok::<_, StoreError>(Claim::Rows(Claimed {
                id,
                done: seq,
                rows,
            }))
        })
    });
    claim.await
}

/// Stores that rows up to `seq` were written, and ends the claim. Returns `false`, and changes nothing, if another node
/// took over the claim. Returns `true` if an earlier call stored the position, even if that call returned an error.
pub(super) async fn advance(
    store: &Store,
    target: Target,
    claim: String,
    seq: i64,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let write = store.write(move |conn| {
        Box::pin(async move {
            let stored = find(conn, target).await?;
            if stored.claim.as_ref() != Some(&claim) {
                return Ok(stored.seq >= seq);
            }
            let position = json!(Position { seq, claim: None });
            conn.update_setting(key(target), &position, now).await?;
            Ok::<_, StoreError>(true)
        })
    });
    write.await
}
