//! Counts the requests of clients over all nodes.

use super::{ReservedByAll, RetryAfter, ThrottleClass, shared_buckets};
use crate::client_address::Client;
use crate::state::Auth;
use gatehouse_store::Purpose;

impl Auth {
    /// Counts one request of a client over all nodes, or returns how long to wait.
    pub async fn admit(&self, class: ThrottleClass, client: &Client) -> Result<(), RetryAfter> {
        self.reserve(class, client).await.map(drop)
    }

    /// Returns the refusal that [`Auth::admit`] would return, as far as it is known without the database. Does not
    /// count.
    pub(crate) fn would_refuse(&self, class: ThrottleClass, client: &Client) -> Option<RetryAfter> {
        match self.0.throttle.decide(class, client, false) {
            Ok((_, places)) => {
                let refused = self.0.shared_throttle.refusal(&shared_buckets(&places));
                refused.map(RetryAfter::from)
            }
            Err(wait) => Some(wait),
        }
    }

    /// Like [`Auth::admit`], for requests whose outcome decides whether they count.
    pub(crate) async fn reserve(
        &self,
        class: ThrottleClass,
        client: &Client,
    ) -> Result<ReservedByAll<'_>, RetryAfter> {
        let here = self.0.throttle.reserve(class, client)?;
        let purpose = match class {
            ThrottleClass::Login | ThrottleClass::Connect => Purpose::Guesses,
            _ => Purpose::Load,
        };
        let shared = shared_buckets(&here.places);
        match self.0.shared_throttle.take(purpose, 1, shared).await {
            Ok(everywhere) => Ok(ReservedByAll { here, everywhere }),
            Err(refused) => {
                here.give_back();
                Err(refused.into())
            }
        }
    }
}
