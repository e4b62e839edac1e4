//! Stores refreshed tokens.

use super::CLAIM;
use crate::mcp::oauth::{
    OAuth,
    error::OAuthError,
    record::Tokens,
    tokens::{self, Granted},
};
use gatehouse_domain::Timestamp;
use gatehouse_store::StoreError;
use std::time::Duration;
use tokio::time::sleep;

/// The delay between two attempts to save rotated tokens, while the vault or the database does not accept them.
const SAVE_AGAIN: Duration = Duration::from_secs(1);

/// The maximum number of attempts to save rotated tokens.
const SAVES: usize = 3600;

impl OAuth {
    /// Saves rotated tokens. The old refresh token may already be invalid. Retries while the vault is sealed or the
    /// database does not respond, and extends the claim for that time.
    pub(super) async fn keep(
        &self,
        http: &crate::mcp::oauth::Http,
        name: &str,
        old: &Tokens,
        granted: Granted,
    ) -> Result<(), OAuthError> {
        let of = (old.server.clone(), old.client.clone());
        let (tokens, expires_at) = granted.tokens(self.clock.now(), of, old.refresh.clone());
        for _ in 0..SAVES {
            match self.replace(name, old, &tokens, expires_at).await {
                // If a person has authorized again, a revocation could also end the new grant, so
                // nothing is revoked.
                Ok(Saved::Yes | Saved::Superseded) => return Ok(()),
                Ok(Saved::Disconnected) => {
                    tokens::revoke(http, &tokens).await;
                    return Ok(());
                }
                Ok(Saved::Changed) => {}
                Err(error) => {
                    tracing::warn!(server = name, %error, "refreshed tokens wait to be stored");
                    sleep(SAVE_AGAIN).await;
                }
            }
        }
        Err(OAuthError::Changed)
    }

    /// Replaces the old tokens if they are still stored.
    async fn replace(
        &self,
        name: &str,
        old: &Tokens,
        new: &Tokens,
        expires_at: Option<Timestamp>,
    ) -> Result<Saved, OAuthError> {
        let Some(row) = self.find_row(name).await? else {
            return Ok(Saved::Disconnected);
        };
        self.extend_claim(name, row.version).await?;
        let mut record = self.open(row).await?;
        match &record.secret.tokens {
            None => return Ok(Saved::Disconnected),
            Some(stored) if !is_same(stored, old) => return Ok(Saved::Superseded),
            Some(_) => {}
        }
        record.secret.tokens = Some(new.clone());
        record.row.authorized = true;
        record.row.expires_at = expires_at;
        record.row.error = None;
        Ok(if self.save(&record, true).await? {
            Saved::Yes
        } else {
            Saved::Changed
        })
    }

    async fn extend_claim(&self, name: &str, version: i64) -> Result<(), StoreError> {
        let (name, until) = (name.to_owned(), self.clock.now().after(CLAIM));
        let write = self.store.write(move |conn| {
            Box::pin(async move {
                let of = (name.as_str(), version);
                conn.update_mcp_authorization_claim(of, until).await
            })
        });
        write.await.map(drop)
    }
}

enum Saved {
    Yes,
    /// The row changed during the edit.
    Changed,
    /// Other tokens are stored.
    Superseded,
    /// No tokens are stored.
    Disconnected,
}

fn is_same(one: &Tokens, other: &Tokens) -> bool {
    one.refresh == other.refresh && one.access == other.access
}
