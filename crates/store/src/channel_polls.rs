//! Table `channel_polls`: the node that receives the messages of a channel account, and the position of the next
//! message.

use crate::sql::{columns, query};
use crate::{Conn, StoreError};
use gatehouse_domain::Timestamp;

/// A row of `channel_polls`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelPollRow {
    pub account_id: String,
    /// The position at which receiving continues, in the vendor's format.
    pub position: Option<String>,
    /// When `position` was last changed.
    pub received_at: Timestamp,
    /// The node that receives; empty if none does.
    pub node: String,
    /// Changes with each request of the receiving node.
    pub lease: i64,
    /// Why receiving fails.
    pub error: Option<String>,
}

columns! { ChannelPollRow: account_id, position, received_at, node, lease, error }

impl Conn {
    pub async fn list_channel_polls(&mut self) -> Result<Vec<ChannelPollRow>, StoreError> {
        self.list(query("SELECT * FROM channel_polls ORDER BY account_id"))
            .await
    }

    pub async fn find_channel_poll(
        &mut self,
        account_id: &str,
    ) -> Result<Option<ChannelPollRow>, StoreError> {
        let query = query("SELECT * FROM channel_polls WHERE account_id = $1");
        self.find(query.bind(account_id)).await
    }

    /// Creates the row of an account if it does not exist.
    pub async fn insert_channel_poll(&mut self, account_id: &str) -> Result<(), StoreError> {
        let query = query(
            "INSERT INTO channel_polls (account_id) VALUES ($1) ON CONFLICT (account_id) DO NOTHING",
        );
        self.run(query.bind(account_id)).await.map(drop)
    }

    /// Makes a node the receiver, or changes the lease of the current receiver. An empty node name ends the lease.
    pub async fn update_channel_poll_lease(
        &mut self,
        account_id: &str,
        node: &str,
    ) -> Result<(), StoreError> {
        let query =
            query("UPDATE channel_polls SET node = $2, lease = lease + 1 WHERE account_id = $1");
        self.run(query.bind(account_id).bind(node)).await.map(drop)
    }

    /// Sets where receiving continues.
    pub async fn update_channel_poll_position(
        &mut self,
        account_id: &str,
        position: Option<&str>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let query =
            query("UPDATE channel_polls SET position = $2, received_at = $3 WHERE account_id = $1");
        let query = query.bind(account_id).bind(position);
        self.run(query.bind(now.as_millis())).await.map(drop)
    }

    /// Sets why receiving fails; `None` if it works.
    pub async fn update_channel_poll_error(
        &mut self,
        account_id: &str,
        error: Option<&str>,
    ) -> Result<(), StoreError> {
        let query = query("UPDATE channel_polls SET error = $2 WHERE account_id = $1");
        self.run(query.bind(account_id).bind(error)).await.map(drop)
    }
}
