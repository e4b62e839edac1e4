//! Challenges of an order, and reasons for refusing them.

use super::{ORDER_TIMEOUT, Ordering, StepError, described};
use gatehouse_store::StoreError;
use instant_acme::{AuthorizationStatus, ChallengeType, Error, Order};

impl Ordering<'_> {
    /// Stores the response for each name that is not verified yet, then lets the authority verify it.
    pub(super) async fn prepare_challenges(&self, order: &mut Order) -> Result<(), StepError> {
        let expires_at = self.services.clock.now().after(ORDER_TIMEOUT * 2);
        let mut authorizations = order.authorizations();
        while let Some(authorization) = authorizations.next().await {
            let mut authorization = authorization?;
            match authorization.status {
                AuthorizationStatus::Pending => {}
                // The name was verified recently.
                AuthorizationStatus::Valid => continue,
                _ => {
                    let message = "the certificate authority did not start to verify a name";
                    return Err(StepError::Other(message.to_owned()));
                }
            }
            let name = authorization.identifier().to_string();
            let Some(mut challenge) = authorization.challenge(ChallengeType::TlsAlpn01) else {
                return Err(StepError::Other(format!(
                    "the certificate authority does not offer TLS-ALPN-01 for {name}"
                )));
            };
            let digest = challenge.key_authorization().digest().as_ref().to_vec();
            let stored = self.services.store.write(move |conn| {
                let (name, digest) = (name.clone(), digest.clone());
                Box::pin(async move { conn.update_tls_challenge(&name, digest, expires_at).await })
            });
            let stored: Result<(), StoreError> = stored.await;
            stored?;
            challenge.set_ready().await?;
        }
        Ok(())
    }

    /// Returns the authority's error for each name; empty if it reports none.
    pub(super) async fn refusals(&self, order: &mut Order) -> String {
        let mut reasons = Vec::new();
        let mut authorizations = order.authorizations();
        while let Some(Ok(mut authorization)) = authorizations.next().await {
            let name = authorization.identifier().to_string();
            let Ok(state) = authorization.refresh().await else {
                break;
            };
            let failed = state.challenges.iter().find_map(|it| it.error.clone());
            if let Some(problem) = failed {
                let text = described(&Error::Api(problem));
                reasons.push(format!("{name}: {text}"));
            }
        }
        reasons.join("; ")
    }

    pub(super) async fn remove_challenges(&self) {
        let names = self.acme.domains.clone();
        let removed = self.services.store.write(move |conn| {
            let names = names.clone();
            Box::pin(async move {
                for name in &names {
                    conn.delete_tls_challenge(name).await?;
                }
                Ok::<_, StoreError>(())
            })
        });
        // Challenges that could not be removed expire in a few minutes.
        drop(removed.await);
    }
}
