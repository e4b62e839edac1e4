//! The GET request with which a hub, such as Meta, verifies the URL.

use super::{IngestError, Intake, Phase};
use crate::handle::{Inner, Webhooks};
use crate::webhook::Webhook;
use gatehouse_domain::Actor;
use gatehouse_sources::event::{HubRequest, answer_hub, verify_token};
use gatehouse_sources::profile::Handshake;
use http::HeaderMap;
use std::sync::Arc;

impl Webhooks {
    /// Returns the challenge to send back. Returns `None` if the webhook does not exist or is disabled, or if its
    /// sender sends no such request. If the webhook's profile is missing, the request is refused like a delivery.
    pub async fn answer_hub(
        &self,
        public_id: &str,
        from: &Actor,
        headers: &HeaderMap,
        request: &HubRequest,
    ) -> Result<Option<String>, IngestError> {
        self.look_up_unknown(public_id, from).await?;
        let has_hub = |webhook: &Arc<crate::live::LiveWebhook>| {
            let is_hub = matches!(webhook.profile.handshake, Some(Handshake::Hub));
            webhook.enabled && (is_hub || webhook.lacks_profile)
        };
        if self
            .0
            .live
            .find(public_id)
            .is_none_or(|found| !has_hub(&found))
        {
            return Ok(None);
        }
        let (webhook, phase) = self.open_webhook(public_id).await?;
        // A request can be held, but a response cannot.
        if !matches!(phase, Phase::Live) {
            return Err(IngestError::Sealed);
        }
        let now = self.0.now();
        let secrets = webhook.secrets(now);
        let answered = answer_hub(request, &secrets, public_id);
        let intake = Intake {
            inner: Arc::clone(&self.0),
            webhook: Arc::clone(&webhook),
            from: from.clone(),
            received_at: now,
            phase,
        };
        intake.check_address(headers)?;
        intake.require_profile(headers)?;
        match answered {
            Ok(challenge) => Ok(Some(challenge)),
            Err(error) => {
                intake.reject_unverified(error.reason(), headers, &[]);
                Err(error.into())
            }
        }
    }
}

impl Inner {
    /// Adds the token that a hub needs, if there is one and the secret is readable.
    pub(crate) fn with_verify_token(&self, mut webhook: Webhook) -> Webhook {
        let live = self.live.find(&webhook.public_id);
        let live = live.filter(|live| matches!(live.profile.handshake, Some(Handshake::Hub)));
        webhook.verify_token = live.and_then(|live| {
            let secrets = live.secrets(self.now());
            secrets
                .first()
                .map(|secret| verify_token(secret, &live.public_id))
        });
        webhook
    }
}
