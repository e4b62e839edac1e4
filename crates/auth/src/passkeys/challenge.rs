//! Pending ceremonies. A ceremony is valid for five minutes and accepts one response. Their number is limited per
//! client and in total.

use super::api::CeremonyBegun;
use super::ceremony::Begun;
use crate::error::AuthError;
use crate::request_context::RequestContext;
use crate::state::Auth;
use crate::throttle::RetryAfter;
use gatehouse_domain::ChallengeId;
use gatehouse_store::ChallengeRow;
use std::time::Duration;

/// How long a response may take.
const LIFETIME: Duration = Duration::from_mins(5);
/// The maximum number of pending ceremonies per client.
const PER_CLIENT: i64 = 10;
/// The maximum number of pending ceremonies in total. If it is exceeded, the oldest ceremonies of the network with
/// the most ceremonies are deleted.
const IN_ALL: i64 = 10_000;

/// The purpose of a ceremony. A response for one purpose is not valid for another.
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
        context: &RequestContext,
        purpose: Purpose,
        rp_id: String,
        begun: Begun,
    ) -> Result<CeremonyBegun, AuthError> {
        let now = self.0.now();
        let row = ChallengeRow {
            id: ChallengeId::generate(&*self.0.clock, &*self.0.random),
            purpose: purpose.name().to_owned(),
            client_key: context.client.key.to_string(),
            network: context.client.key.network(),
            rp_id,
            state: begun.state,
            expires_at: now.after(LIFETIME),
        };
        let challenge_id = row.id.clone();
        // A proxy that names no client represents many clients.
        let per_client = PER_CLIENT.saturating_mul(i64::from(context.client.limit_factor.max(1)));
        let kept = self.0.store.write(move |conn| {
            Box::pin(async move {
                conn.delete_expired_challenges(now).await?;
                let (own, all) = conn.count_challenges(&row.client_key).await?;
                if own >= per_client {
                    return Err(AuthError::Wait(RetryAfter { ms: 60_000 }));
                }
                // Deletes the oldest ceremonies of the network that fills the table. Refusing new ceremonies would
                // lock the owner out.
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

    /// Removes a pending ceremony and returns it. No further response is accepted, even if this one is invalid.
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
