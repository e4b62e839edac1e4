//! Row 4 of `check_auth()`: finds a live session among the request's session cookies. A sibling host or another
//! port can set cookies of the same name, so all of them are checked. To limit the work, one query selects the
//! stored values among the unknown ones.

use crate::check_auth::{CheckInput, SESSION_CHARS};
use crate::live_credential::{Live, LiveSession, TokenHash, from_hex, hash_of, to_hex};
use crate::state::Auth;
use gatehouse_domain::Timestamp;
use gatehouse_store::StoreError;
use std::sync::Arc;

/// The maximum number of unknown values looked up in the database. Browsers store fewer cookies per
/// site.
const MAX_UNKNOWN: usize = 256;

impl Auth {
    pub(crate) async fn session(
        &self,
        input: &CheckInput<'_>,
        now: Timestamp,
    ) -> Result<Option<Arc<LiveSession>>, StoreError> {
        let is_fresh = self.memory_is_fresh();
        let mut unknown = Vec::new();
        for value in input.sessions.values() {
            if value.len() != SESSION_CHARS {
                continue;
            }
            let hash = hash_of(value);
            match self.0.sessions.find(&hash) {
                Some(session) if is_fresh => {
                    if let Some(live) = used(session, now) {
                        return Ok(Some(live));
                    }
                }
                // A known value cannot come from another site, so it is checked before the unknown ones.
                Some(_) => unknown.insert(0, hash),
                None if unknown.len() < MAX_UNKNOWN => unknown.push(hash),
                None => {}
            }
        }
        if unknown.is_empty() || !self.may_look(&self.0.sessions, input) {
            return Ok(None);
        }
        // Boxed, because these lookups are rare and the usual path should not contain their state.
        Box::pin(self.look_up_sessions(unknown, now)).await
    }

    async fn look_up_sessions(
        &self,
        unknown: Vec<TokenHash>,
        now: Timestamp,
    ) -> Result<Option<Arc<LiveSession>>, StoreError> {
        let stored = if let [_one] = unknown.as_slice() {
            unknown
        } else {
            let hexes: Vec<String> = unknown.iter().map(to_hex).collect();
            let read = self.0.store.read(move |conn| {
                Box::pin(async move { conn.list_known_token_hashes(&hexes).await })
            });
            let known: Vec<String> = read.await?;
            let known = known.iter().map(|hex| from_hex(hex, "hash of a session"));
            known.collect::<Result<_, _>>()?
        };
        for hash in stored {
            if let Some(session) = self.look_up_session(hash).await?
                && let Some(live) = used(session, now)
            {
                return Ok(Some(live));
            }
        }
        Ok(None)
    }
}

/// Records the use of the session if it is live.
fn used(session: Arc<LiveSession>, now: Timestamp) -> Option<Arc<LiveSession>> {
    let live = session.is_live(now).then_some(session)?;
    live.touch(now);
    Some(live)
}
