//! Lookups of credentials that are not in memory.

use super::CheckInput;
use crate::live_credential::{Live, LiveSession, TokenHash, to_hex};
use crate::live_map::LiveMap;
use crate::state::{Auth, BoxFuture};
use crate::throttle::ThrottleClass;
use gatehouse_store::{Conn, StoreError};
use std::sync::Arc;

/// Maximum number of reads without the lock. The next read holds the lock.
const TRIES: usize = 3;

/// Reads the record with this hash, in hex.
pub(super) type ReadRecord<T> =
    for<'c> fn(&'c mut Conn, String) -> BoxFuture<'c, Result<Option<T>, StoreError>>;

impl Auth {
    /// Returns whether a credential that memory cannot confirm may cause a database read. For requests without a
    /// rate limit, such as requests for a page, these reads have the limit [`ThrottleClass::LookUp`].
    pub(crate) fn may_look<T: Live>(&self, map: &LiveMap<T>, input: &CheckInput<'_>) -> bool {
        if self.misses_are_final(map.is_complete()) {
            return false;
        }
        let Some(class) = input.class else {
            let throttle = &self.0.throttle;
            return throttle.admit(ThrottleClass::LookUp, input.client).is_ok();
        };
        self.would_refuse(class, input.client).is_none()
    }

    pub(crate) async fn look_up_session(
        &self,
        hash: TokenHash,
    ) -> Result<Option<Arc<LiveSession>>, StoreError> {
        self.look_up(&self.0.sessions, hash, |conn, hex| {
            Box::pin(async move {
                let row = conn.find_auth_session(&hex).await?;
                row.as_ref().map(LiveSession::from_row).transpose()
            })
        })
        .await
    }

    /// Reads one record and caches it, unless something was revoked between the read and the
    /// insert.
    pub(super) async fn look_up<T: Live + Send + Sync + 'static>(
        &self,
        map: &LiveMap<T>,
        hash: TokenHash,
        read: ReadRecord<T>,
    ) -> Result<Option<Arc<T>>, StoreError> {
        let mut turn = None;
        for round in 0..=TRIES {
            if round == TRIES {
                // While this lock is held, no credential is revoked.
                turn = Some(self.0.changing.lock().await);
            }
            let epoch = map.epoch();
            let hex = to_hex(&hash);
            let Some(record) = self.0.store.read(move |conn| read(conn, hex)).await? else {
                if map.find(&hash).is_some() {
                    map.end_where(|record| *record.hash() == hash);
                    self.0.announce(&[]);
                }
                return Ok(None);
            };
            if let Some(live) = map.insert_at(epoch, record) {
                return Ok(Some(live));
            }
        }
        drop(turn);
        Ok(None)
    }
}
