//! The test message of an account.

use crate::error::ChannelsError;
use crate::handle::{Channels, Inner};
use crate::outgoing::Outgoing;
use crate::response::LastResponse;
use data_encoding::HEXLOWER;
use gatehouse_store::StoreError;
use std::collections::BTreeMap;

/// Text of a test message if the caller gives none.
const TEST_TEXT: &str = "This is a test message from Gatehouse.";

const TEST_SOURCE: &str = "Gatehouse";

impl Channels {
    /// Sends a test message. Works for disabled accounts too.
    pub async fn test(&self, id: &str, text: Option<&str>) -> Result<(), ChannelsError> {
        if text.is_some_and(|text| text.trim().is_empty()) {
            return Err(ChannelsError::invalid("text", "must not be empty"));
        }
        let inner = &self.0;
        let found = inner.find_existing(id).await?;
        let (kind, extra) = (found.sender.about().kind, BTreeMap::new());
        let message = Outgoing {
            target: id,
            text: text.unwrap_or(TEST_TEXT),
            is_json: false,
            extra: &extra,
            source: TEST_SOURCE,
            at: inner.clock.now(),
            delivery: None,
            pictures: &[],
            links: &[],
        };
        let sent = async {
            let account = inner.open_account(found).await?;
            inner.note_use(&account);
            // Each test is a new message, even if the text is the same, because tests are never
            // retried.
            let id = HEXLOWER.encode(&inner.random.bytes::<16>());
            let response = LastResponse::default();
            inner.deliver(&account, &message, &id, &response).await
        };
        sent.await.map_err(|failure| failure.of_one_attempt(kind))?;
        self.0.note_tested(id).await;
        Ok(())
    }
}

impl Inner {
    /// Notifies all nodes that a test message was accepted. A failure is only logged, because the message was sent.
    async fn note_tested(&self, account_id: &str) {
        let (id, now) = (account_id.to_owned(), self.clock.now());
        let write = self.store.write(move |conn| {
            Box::pin(async move {
                conn.update_channel_tested(&id, now).await?;
                conn.insert_change("channels", now).await
            })
        });
        let noted: Result<(), StoreError> = write.await;
        if let Err(error) = noted {
            tracing::warn!(%error, account = account_id, "the result of a channel's test was not stored");
        }
    }
}
