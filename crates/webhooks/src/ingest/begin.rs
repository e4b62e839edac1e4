//! The beginning of a request: finding its webhook.

use super::intake::Phase;
use super::refusals::Kind;
use super::{IngestError, Intake};
use crate::handle::Webhooks;
use crate::live::LiveWebhook;
use gatehouse_domain::Actor;
use gatehouse_secrets::Status;
use http::HeaderMap;
use std::sync::Arc;

impl Webhooks {
    /// Runs the checks before the body is read: the webhook exists, its profile is in use, and the client IP
    /// address is allowed. The vault must be unlocked, or deliveries must be held while it is sealed. A disabled
    /// webhook and a schedule are reported as not found.
    pub async fn begin_ingest(
        &self,
        public_id: &str,
        from: &Actor,
        headers: &HeaderMap,
    ) -> Result<Intake, IngestError> {
        self.look_up_unknown(public_id, from).await?;
        let (webhook, phase) = self.open_webhook(public_id).await?;
        let intake = Intake {
            webhook,
            phase,
            inner: Arc::clone(&self.0),
            from: from.clone(),
            received_at: self.0.now(),
        };
        intake.check_address(headers)?;
        intake.require_profile(headers)?;
        Ok(intake)
    }

    /// Loads a webhook that another node has just created. This node may not have been notified of it yet.
    pub(super) async fn look_up_unknown(
        &self,
        public_id: &str,
        from: &Actor,
    ) -> Result<(), IngestError> {
        let inner = &self.0;
        let is_known = !inner.store.engine().is_shared() || inner.live.find(public_id).is_some();
        if is_known || !inner.refusals.is_noted(Kind::Unknown, from.client) {
            return Ok(());
        }
        let loaded = self.load_by_public_id(public_id).await;
        loaded.map_err(IngestError::Reload)
    }

    pub(super) async fn open_webhook(
        &self,
        public_id: &str,
    ) -> Result<(Arc<LiveWebhook>, Phase), IngestError> {
        let find = || {
            let found = self.0.live.find(public_id);
            found.filter(|webhook| webhook.enabled && webhook.config.schedule.is_none())
        };
        let webhook = find().ok_or(IngestError::NotFound)?;
        let is_held = self.0.settings.load().hold_while_sealed;
        let sealed = |webhook| {
            let held = is_held.then_some((webhook, Phase::Hold));
            held.ok_or(IngestError::Sealed)
        };
        if self.0.secrets.status() == Status::Sealed {
            return sealed(webhook);
        }
        if !webhook.is_sealed() {
            return Ok((webhook, Phase::Live));
        }
        // The vault has just been unlocked and the secrets have not been loaded yet.
        let reloaded = self.reload_sealed(public_id).await;
        reloaded.map_err(IngestError::Reload)?;
        let webhook = find().ok_or(IngestError::NotFound)?;
        if webhook.is_sealed() {
            return sealed(webhook);
        }
        Ok((webhook, Phase::Live))
    }
}
