//! Table `approval_links`: the links that were sent for tool calls that wait for approval, and the result of each
//! approval.

use crate::sql::{columns, query};
use crate::{Conn, StoreError};
use gatehouse_domain::Timestamp;
use gatehouse_domain::id::ApprovalId;
use std::time::Duration;

/// The time for which a link is kept after its call expired.
const KEPT: Duration = Duration::from_hours(24);

/// A row of `approval_links`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalLinkRow {
    /// The result of [`crate::WaitingApprovalRow::token_key_of`] for the token in the link.
    pub token_key: String,
    pub approval_id: ApprovalId,
    /// When the call expires. An expired call does not run.
    pub expires_at: Timestamp,
    /// Whether the call was allowed; `None` without an answer.
    pub allowed: Option<bool>,
    /// When the call was answered or stopped.
    pub ended_at: Option<Timestamp>,
    /// The channel or client through which the call was answered.
    pub answered_through: Option<String>,
}

columns! { ApprovalLinkRow: token_key, approval_id, expires_at, allowed, ended_at, answered_through }

impl Conn {
    /// Adds the link of a call that waits, and deletes links that expired more than 24 hours ago.
    pub async fn insert_approval_link(
        &mut self,
        row: &ApprovalLinkRow,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let kept_ms = i64::try_from(KEPT.as_millis()).unwrap_or(i64::MAX);
        let delete = query("DELETE FROM approval_links WHERE expires_at < $1");
        let oldest = now.as_millis().saturating_sub(kept_ms);
        self.run(delete.bind(oldest)).await?;
        let insert = query(
            "INSERT INTO approval_links (token_key, approval_id, expires_at) VALUES ($1, $2, $3)
             ON CONFLICT (token_key) DO NOTHING",
        );
        let insert = insert.bind(&row.token_key).bind(row.approval_id.as_str());
        self.run(insert.bind(row.expires_at.as_millis()))
            .await
            .map(drop)
    }

    /// Stores the answer to a call. Only the first answer is stored; a later report can add how the call was
    /// answered. Returns `false` if the call has no link.
    pub async fn update_approval_link_answer(
        &mut self,
        id: &ApprovalId,
        (allowed, at): (bool, Timestamp),
        through: Option<&str>,
    ) -> Result<bool, StoreError> {
        let update = query(
            "UPDATE approval_links SET allowed = COALESCE(allowed, $2), ended_at = COALESCE(ended_at, $3),
                 answered_through = COALESCE(answered_through, $4)
             WHERE approval_id = $1",
        );
        let update = update.bind(id.as_str()).bind(i64::from(allowed));
        let update = update.bind(at.as_millis()).bind(through);
        Ok(self.run(update).await? > 0)
    }

    /// Stores that a call was stopped before its expiry, unless it was answered. Returns `false` if the call has no
    /// link.
    pub async fn update_approval_link_stopped(
        &mut self,
        id: &ApprovalId,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let update = query(
            "UPDATE approval_links SET ended_at = COALESCE(ended_at, $2) WHERE approval_id = $1",
        );
        let update = update.bind(id.as_str()).bind(at.as_millis());
        Ok(self.run(update).await? > 0)
    }

    /// Finds a link by its [`ApprovalLinkRow::token_key`].
    pub async fn find_approval_link(
        &mut self,
        token_key: &str,
    ) -> Result<Option<ApprovalLinkRow>, StoreError> {
        let find = query("SELECT * FROM approval_links WHERE token_key = $1");
        self.find(find.bind(token_key)).await
    }

    /// Finds the link to a call.
    pub async fn find_approval_link_of(
        &mut self,
        call: &ApprovalId,
    ) -> Result<Option<ApprovalLinkRow>, StoreError> {
        let find = query("SELECT * FROM approval_links WHERE approval_id = $1");
        self.find(find.bind(call.as_str())).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::databases;

    const DAY_MS: i64 = 86_400_000;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millis(ms)
    }

    fn link(key: &str, expires_at: i64) -> ApprovalLinkRow {
        ApprovalLinkRow {
            token_key: key.to_owned(),
            approval_id: ApprovalId::from_text(format!("apr_{key}")),
            expires_at: at(expires_at),
            allowed: None,
            ended_at: None,
            answered_through: None,
        }
    }

    #[tokio::test]
    async fn the_first_answer_to_a_call_counts_and_a_link_is_kept_for_a_day() {
        for database in databases().await {
            let store = database.open().await;
            let work = store.write(|conn| {
                Box::pin(async move {
                    let (one, two) = (link("one", 1_000), link("two", 1_001));
                    conn.insert_approval_link(&one, at(0)).await?;
                    conn.insert_approval_link(&two, at(0)).await?;
                    let id = &one.approval_id;
                    for (allowed, ms, through) in [
                        (true, 5, None),
                        (false, 6, Some("chat")),
                        (false, 7, Some("api")),
                    ] {
                        let answer = (allowed, at(ms));
                        assert!(
                            conn.update_approval_link_answer(id, answer, through)
                                .await?
                        );
                    }
                    assert!(conn.update_approval_link_stopped(id, at(8)).await?);
                    let found = conn.find_approval_link("one").await?;
                    let answered = ApprovalLinkRow {
                        allowed: Some(true),
                        ended_at: Some(at(5)),
                        answered_through: Some("chat".to_owned()),
                        ..one.clone()
                    };
                    assert_eq!(found, Some(answered));
                    assert_eq!(conn.find_approval_link_of(id).await?, found);
                    let id = &two.approval_id;
                    assert!(conn.update_approval_link_stopped(id, at(9)).await?);
                    let found = conn
                        .find_approval_link("two")
                        .await?
                        .map(|row| row.ended_at);
                    assert_eq!(found, Some(Some(at(9))));

                    let unknown = ApprovalId::from_text("apr_unknown");
                    assert!(!conn.update_approval_link_stopped(&unknown, at(9)).await?);
                    assert_eq!(conn.find_approval_link_of(&unknown).await?, None);
                    conn.insert_approval_link(&link("new", 2 * DAY_MS), at(1_001 + DAY_MS))
                        .await?;
                    let old = conn.find_approval_link("one").await?;
                    assert_eq!(old, None, "past the limit");
                    let kept = conn.find_approval_link("two").await?;
                    assert!(kept.is_some(), "at the limit");
                    Ok::<_, StoreError>(())
                })
            });
            work.await.unwrap();
            store.close().await;
        }
    }
}
