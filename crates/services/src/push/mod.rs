//! Notifications through the push services of browsers (Web Push: RFC 8030, 8291 and 8292). A subscription belongs
//! to the session or the device that created it, and ends with it. This module does not need the vault.

mod encrypt;
mod notice;
mod send;
mod subscriptions;
mod vapid;

pub use subscriptions::{NewSubscription, PushError, PushSubscription, SubscriptionKeys};

use gatehouse_domain::{Clock, Random};
use gatehouse_store::{Store, StoreError};
use send::Topics;
use std::fmt;
use vapid::VapidKey;

/// The gateway's key and the notices in progress.
pub struct Push {
    key: VapidKey,
    topics: Topics,
}

impl fmt::Debug for Push {
    /// Omits the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Push").finish_non_exhaustive()
    }
}

impl Push {
    /// Reads the key pair. The first start creates it.
    pub(crate) async fn open(
        store: &Store,
        clock: &dyn Clock,
        random: &dyn Random,
    ) -> Result<Self, StoreError> {
        let found = store.read(|conn| Box::pin(async move { conn.find_push_key().await }));
        let text = if let Some(text) = found.await? {
            text
        } else {
            let new = VapidKey::new(vapid::new_key(random)).to_text();
            let now = clock.now();
            let made = store
                .write(move |conn| Box::pin(async move { conn.get_push_key(&new, now).await }));
            made.await?
        };
        let key = VapidKey::read(&text).ok_or(StoreError::Damaged { what: "push key" })?;
        Ok(Self {
            key,
            topics: Topics::default(),
        })
    }

    /// Returns the public key that browsers subscribe with, as base64url.
    pub fn public_key(&self) -> String {
        self.key.public_text()
    }
}
