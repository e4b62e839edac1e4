//! Ceremonies between their beginning and their end: five minutes, answered once, bounded per client
//! and in all.

use super::api::CeremonyBegun;
use super::ceremony::Begun;
use crate::error::AuthError;
use crate::state::Auth;
use crate::throttle::RetryAfter;
use crate::visit::Visit;
use gatehouse_domain::ChallengeId;
use gatehouse_store::ChallengeRow;
use std::time::Duration;

/// How long an answer may take.
const LIFETIME: Duration = Duration::from_mins(5);
/// Ceremonies that one client may have waiting.
const PER_CLIENT: i64 = 10;
/// Ceremonies that may wait in all; then the network with most of them loses its oldest.
const IN_ALL: i64 = 10_000;

/// What a ceremony is for; an answer to one kind is no answer to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Register,
    Login,
}

impl Purpose {
    const fn name(self) -> &'static str {
        match self {
            Self::Register => "register",
            Self::Login => "login",
        }
    }
}

impl Auth {
    pub(super) async fn keep_challenge(
        &self,
        visit: &Visit,
        purpose: Purpose,
        rp_id: String,
        begun: Begun,
    ) -> Result<CeremonyBegun, AuthError> {
        let now = self.0.now();
        let row = ChallengeRow {
            id: ChallengeId::generate(&*self.0.clock, &*self.0.random),
            purpose: purpose.name().to_owned(),
            client_key: visit.client.key.to_string(),
            network: visit.client.key.network(),
            rp_id,
            state: begun.state,
            expires_at: now.after(LIFETIME),
        };
        let challenge_id = row.id.clone();
        // A proxy that does not say for whom it speaks stands for many.
        let per_client = PER_CLIENT.saturating_mul(i64::from(visit.client.limit_factor.max(1)));
        let kept = self.0.store.write(move |conn| {
            Box::pin(async move {
                conn.delete_expired_challenges(now).await?;
                let (own, all) = conn.count_challenges(&row.client_key).await?;
                if own >= per_client {
                    return Err(AuthError::Wait(RetryAfter { ms: 60_000 }));
                }
                // Whoever fills the table gives way: refusing would keep the owner out.
                if all >= IN_ALL {
                    conn.delete_crowding_challenges().await?;
                }
                Ok(conn.insert_challenge(&row).await?)
            })
        });
        kept.await?;
        Ok(CeremonyBegun {
            challenge_id,
            options: begun.options,
        })
    }

    /// Takes a ceremony out; whatever its answer is worth, it cannot be answered again.
    pub(super) async fn claim_challenge(
        &self,
        id: ChallengeId,
        purpose: Purpose,
    ) -> Result<Option<ChallengeRow>, AuthError> {
        let claimed = self.0.store.write(move |conn| {
            Box::pin(
                async move { Ok::<_, AuthError>(conn.claim_challenge(&id, purpose.name()).await?) },
            )
        });
        let now = self.0.now();
        Ok(claimed.await?.filter(|row| row.expires_at > now))
    }
}
