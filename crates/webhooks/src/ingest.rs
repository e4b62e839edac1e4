//! The way in: from a request to a delivery on disk. The order of the steps is the contract's, and
//! each is a function of its own. Knows no HTTP server: `web` brings headers and body.
//!
//! Nothing here reads the database but the batches and, when a limit would refuse, one look-up.

mod batch;
mod guesses;
mod outcome;
mod refusals;
mod repeat;
mod steps;
mod test_delivery;

pub(crate) use batch::Batches;
pub(crate) use guesses::Guesses;
pub use outcome::{IngestError, Ingested};
pub(crate) use refusals::Refusals;
pub use test_delivery::TestResult;

use crate::handle::{Inner, Webhooks};
use crate::live::LiveWebhook;
use bytes::Bytes;
use gatehouse_domain::{Actor, Timestamp};
use gatehouse_secrets::Status;
use http::HeaderMap;
use std::sync::Arc;

/// A request to a webhook that exists, is enabled, and may come from where it comes; its body is yet
/// to be read.
#[derive(Debug)]
pub struct Intake {
    inner: Arc<Inner>,
    webhook: Arc<LiveWebhook>,
    from: Actor,
    received_at: Timestamp,
}

impl Webhooks {
    /// The steps before the body: is there such a webhook, is the vault open, may it come from there.
    /// A webhook that is disabled is as unknown as one that never was.
    pub async fn begin_ingest(
        &self,
        public_id: &str,
        from: &Actor,
        headers: &HeaderMap,
    ) -> Result<Intake, IngestError> {
        let intake = Intake {
            webhook: self.open_webhook(public_id).await?,
            inner: Arc::clone(&self.0),
            from: from.clone(),
            received_at: self.0.now(),
        };
        intake.check_address(headers)?;
        Ok(intake)
    }

    async fn open_webhook(&self, public_id: &str) -> Result<Arc<LiveWebhook>, IngestError> {
        let find = || {
            let found = self.0.live.find(public_id);
            found.filter(|webhook| webhook.enabled)
        };
        let webhook = find().ok_or(IngestError::NotFound)?;
        if self.0.secrets.status() == Status::Sealed {
            return Err(IngestError::Sealed);
        }
        if !webhook.is_sealed() {
            return Ok(webhook);
        }
        // The vault was opened this very moment, and nobody has brought the secrets into memory yet.
        let reloaded = self.reload_sealed(public_id).await;
        reloaded.map_err(IngestError::Reload)?;
        let webhook = find().ok_or(IngestError::NotFound)?;
        if webhook.is_sealed() {
            return Err(IngestError::Sealed);
        }
        Ok(webhook)
    }
}

impl Intake {
    /// The longest body that the webhook takes.
    pub fn max_body_bytes(&self) -> usize {
        usize::try_from(self.webhook.config.max_body_bytes).unwrap_or(usize::MAX)
    }

    fn check_address(&self, headers: &HeaderMap) -> Result<(), IngestError> {
        let Some(allowed) = &self.webhook.config.allowed_cidrs else {
            return Ok(());
        };
        let ip = self.from.client_ip;
        if ip.is_some_and(|ip| allowed.iter().any(|cidr| cidr.contains(ip))) {
            return Ok(());
        }
        self.reject("address_not_allowed", headers, &[], 0);
        Err(IngestError::AddressNotAllowed)
    }

    /// The body is over the limit: so many bytes were announced or read; `read` is what is there.
    pub fn too_large(&self, headers: &HeaderMap, read: &[u8], size: u64) -> IngestError {
        self.reject("body_too_large", headers, read, size);
        IngestError::TooLarge {
            max_bytes: self.webhook.config.max_body_bytes,
        }
    }

    /// The body did not arrive whole, or not in time.
    pub fn incomplete(&self) {
        crate::metrics::rejected("incomplete_body");
    }

    /// There is no room for the body now. Says how long to wait.
    pub fn no_room(&self, wait_ms: u64) -> IngestError {
        crate::metrics::rate_limited(&self.webhook.public_id);
        IngestError::RateLimited { wait_ms }
    }

    /// The steps from the body on. `url` is the address as the sender called it.
    pub async fn accept(
        &self,
        headers: &HeaderMap,
        url: &str,
        body: &Bytes,
    ) -> Result<Ingested, IngestError> {
        if body.len() > self.max_body_bytes() {
            let size = u64::try_from(body.len()).unwrap_or(u64::MAX);
            let read = body.get(..self.max_body_bytes()).unwrap_or_default();
            return Err(self.too_large(headers, read, size));
        }
        let (signed_id, bytes_key) = self.verify(headers, url, body)?;
        let payload = self.parse(headers, body)?;
        if let Some(challenge) = crate::event::handshake(self.webhook.profile, &payload) {
            return Ok(Ingested::Handshake(challenge));
        }
        let headers = self.without_proof(headers);
        let mut event = crate::event::read(
            self.webhook.profile,
            self.webhook.config.event_header.as_deref(),
            &headers,
            &payload,
            body,
        );
        // An id that is signed comes before any that is not.
        if let Some(key) = signed_id.as_deref().and_then(crate::event::signed_key) {
            event.delivery_key = Some(key);
        }
        let arrived = steps::Arrived {
            headers: &headers,
            body,
            event,
            bytes_key,
        };
        if !self
            .webhook
            .config
            .events
            .admits(arrived.event.event_type.as_deref())
        {
            return self.filter(&arrived).await;
        }
        let place = match self.reserve(&arrived).await? {
            Ok(place) => place,
            Err(duplicate) => return Ok(duplicate),
        };
        self.store(arrived, payload, place).await
    }
}
