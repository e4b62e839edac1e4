//! Ingest: turns a request into a stored delivery. The order of the steps is part of the API contract. This module
//! does not depend on an HTTP server: the web crate passes headers and body.
//!
//! Database access is limited to the batches and one lookup. The lookup runs if a limit would refuse the request,
//! or if another node may have just created the webhook.

pub(crate) mod batch;
mod begin;
mod gather;
pub(crate) mod guesses;
mod hold;
mod hub;
mod intake;
pub(crate) mod outcome;
pub(crate) mod refusals;
mod repeat;
mod steps;
mod test_delivery;

pub use intake::Intake;
use intake::Phase;
pub use outcome::{IngestError, Ingested};
pub(crate) use steps::preview;
pub use test_delivery::TestResult;

use crate::forward::kept::Original;
use crate::trace::{self, VerifiedAt};
use bytes::Bytes;
use gatehouse_sources::payload::Payload;
use gatehouse_sources::payload_filter;
use gatehouse_sources::verify;
use http::HeaderMap;

impl Intake {
    /// Returns the webhook's limit for bodies, in bytes.
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

    /// Checks that the profile is in use. Without it, deliveries of the webhook are not verified, held or accepted.
    fn check_profile(&self) -> Result<(), IngestError> {
        if self.webhook.lacks_profile {
            return Err(IngestError::ProfileMissing);
        }
        Ok(())
    }

    /// Like [`Intake::check_profile`]. Also records the refusal.
    fn require_profile(&self, headers: &HeaderMap) -> Result<(), IngestError> {
        self.check_profile()
            .inspect_err(|_| self.reject("profile_missing", headers, &[], 0))
    }

    /// Records that the body exceeds the limit and returns the error. `read` is the part of the body that was
    /// read; `size` is the announced or read size in bytes.
    pub fn too_large(&self, headers: &HeaderMap, read: &[u8], size: u64) -> IngestError {
        self.reject("body_too_large", headers, read, size);
        IngestError::TooLarge {
            max_bytes: self.webhook.config.max_body_bytes,
        }
    }

    /// Counts a body that was not received completely or in time.
    pub fn incomplete(&self) {
        crate::metrics::rejected("incomplete_body");
    }

    /// Counts a body for which there is currently no memory and returns the error with the time to wait.
    pub fn no_room(&self, wait_ms: u64) -> IngestError {
        crate::metrics::rate_limited(&self.webhook.id);
        IngestError::RateLimited { wait_ms }
    }

    /// Returns whether [`Intake::accept`] needs the URL.
    pub fn needs_url(&self) -> bool {
        let inner = &self.inner;
        matches!(self.phase, Phase::Hold)
            || verify::signs_url(self.webhook.auth.mode)
            || inner.originals.is_kept(&self.webhook.id, inner.now())
    }

    /// Verifies, filters and stores a request, or stores it encrypted while the vault is sealed. `url` is the
    /// URL that the sender requested. It may be empty if [`Intake::needs_url`] returns false.
    pub async fn accept(
        &self,
        headers: &HeaderMap,
        url: &str,
        body: &Bytes,
    ) -> Result<Ingested, IngestError> {
        // Samples of `webhooks.test` and held deliveries do not pass `begin_ingest`, which makes the same check.
        self.check_profile()?;
        if body.len() > self.max_body_bytes() {
            let size = u64::try_from(body.len()).unwrap_or(u64::MAX);
            let read = body.get(..self.max_body_bytes()).unwrap_or_default();
            return Err(self.too_large(headers, read, size));
        }
        if matches!(self.phase, Phase::Hold) {
            return self.hold(headers, url, body).await;
        }
        let mut verified_at = None;
        let outcome = self.take(headers, url, body, &mut verified_at).await;
        if self.inner.tracer.is_on() {
            let (headers, times) = (self.without_proof(headers), (self.received_at, verified_at));
            trace::received(&self.inner, &self.webhook, &headers, times, &outcome);
        }
        outcome
    }

    async fn take(
        &self,
        headers: &HeaderMap,
        url: &str,
        body: &Bytes,
        verified_at: &mut VerifiedAt,
    ) -> Result<Ingested, IngestError> {
        let began = self.inner.now();
        let (signed_id, bytes_key) = self.verify(headers, url, body).await?;
        *verified_at = Some((began, self.inner.now()));
        let payload = self.parse(headers, body)?;
        if let Some(reply) = self.handshake((headers, url, body), &payload) {
            return Ok(Ingested::Handshake(reply));
        }
        // If `url` is empty, the client began to forward while the request arrived. The request is then not kept.
        let originals = &self.inner.originals;
        let is_kept = !url.is_empty() && originals.is_kept(&self.webhook.id, self.inner.now());
        let original = is_kept.then(|| Original::of(headers, url, body));
        let headers = self.without_proof(headers);
        let mut event = gatehouse_sources::event::read(
            self.webhook.profile,
            self.webhook.config.event_header.as_deref(),
            &headers,
            &payload,
            body,
        );
        // A signed ID takes precedence over unsigned ones.
        if let Some(key) = signed_id
            .as_deref()
            .and_then(gatehouse_sources::event::signed_key)
        {
            event.delivery_key = Some(key);
        }
        let arrived = steps::Arrived {
            headers: &headers,
            body,
            event,
            bytes_key,
            original,
        };
        let reply = self.reply(arrived.event.event_type.as_deref());
        let outcome = self.decide(arrived, payload).await?;
        Ok(match reply {
            Some(reply) => Ingested::Answered(Box::new(outcome), reply),
            None => outcome,
        })
    }

    /// Filters, limits and stores a delivery.
    async fn decide(
        &self,
        arrived: steps::Arrived<'_>,
        payload: Payload,
    ) -> Result<Ingested, IngestError> {
        let config = &self.webhook.config;
        if !config.events.admits(arrived.event.event_type.as_deref()) {
            return self.filter(&arrived, None).await;
        }
        if let Some(unmet) = payload_filter::unmet(&config.payload_filter, &payload) {
            return self.filter(&arrived, Some(unmet)).await;
        }
        // A held delivery already has its permit.
        let place = match self.phase {
            Phase::Release(_) => None,
            _ => match self.reserve(&arrived).await? {
                Ok(place) => Some(place),
                Err(duplicate) => return Ok(duplicate),
            },
        };
        self.store(arrived, payload, place).await
    }

    /// Returns the response that the sender requires for this event, if any.
    fn reply(&self, event: Option<&str>) -> Option<serde_json::Value> {
        // The sender of a held delivery has already received its response.
        if matches!(self.phase, Phase::Release(_)) {
            return None;
        }
        let replies = self.webhook.profile.replies.iter();
        let mut fitting = replies.filter(|reply| Some(reply.event) == event);
        serde_json::from_str(fitting.next()?.json).ok()
    }
}
