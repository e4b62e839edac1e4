//! The steps of ingest after the body is read.

use super::batch::{Entry, Stored};
use super::guesses::{Attempt, LONG_PER_MINUTE, SHORT_PER_MINUTE};
use super::intake::{Intake, Phase};
use super::outcome::{IngestError, Ingested};
use super::refusals::Kind;
use super::repeat::{self, Keys, Repeat};
use crate::forward::kept::Original;
use crate::limits::Reservation;
use crate::limits::per_minute::PerMinute;
use crate::metrics;
use crate::rules::OnLimit;
use crate::secret::SHORT_BYTES;
use crate::trace;
use gatehouse_domain::{DeliveryId, DeliveryStatus};
use gatehouse_sources::ReplayGuard;
use gatehouse_sources::event::{self, Event, HandshakeInput, HandshakeReply};
use gatehouse_sources::payload::Payload;
use gatehouse_sources::payload_filter::Condition;
use gatehouse_sources::summary;
use gatehouse_sources::verify::{self, Proof, VerifyInput};
use gatehouse_store::{NewDelivery, PREVIEW_BYTES, RateRefused, StoreError};
use http::HeaderMap;
use std::borrow::Cow;
use std::sync::Arc;

/// The headers, the URL that the sender called, and the body.
type Request<'a> = (&'a HeaderMap, &'a str, &'a [u8]);

/// A verified and parsed request.
pub(super) struct Arrived<'a> {
    pub(super) headers: &'a HeaderMap,
    pub(super) body: &'a [u8],
    pub(super) event: Event,
    /// SHA-256 of the verified bytes, if the replay guard is `bytes`.
    pub(super) bytes_key: Option<String>,
    /// The request itself, if someone forwards the webhook's deliveries.
    pub(super) original: Option<Original>,
}

/// Returns the beginning of a body as text that every engine can store. Invalid bytes are replaced; the last
/// character is complete.
pub(crate) fn preview(body: &[u8]) -> String {
    let start = body.get(..PREVIEW_BYTES).unwrap_or(body);
    // Omit a character that the limit cuts in two, but show invalid bytes as replacement characters.
    let cut = match std::str::from_utf8(start) {
        Err(error) if error.error_len().is_none() && start.len() < body.len() => {
            start.get(..error.valid_up_to()).unwrap_or(start)
        }
        _ => start,
    };
    if let Ok(text) = std::str::from_utf8(cut)
        && !cut.contains(&0)
    {
        return text.to_owned();
    }
    let mut preview = String::with_capacity(cut.len());
    for character in String::from_utf8_lossy(cut).chars() {
        // PostgreSQL cannot store NUL in text.
        let shown = if character == '\0' {
            char::REPLACEMENT_CHARACTER
        } else {
            character
        };
        if preview.len() + shown.len_utf8() > PREVIEW_BYTES {
            break;
        }
        preview.push(shown);
    }
    preview
}

impl Intake {
    /// Returns the headers without those used for verification. Otherwise the secret could become an event
    /// type or a key if the owner configures its header for that.
    pub(super) fn without_proof<'h>(&self, headers: &'h HeaderMap) -> Cow<'h, HeaderMap> {
        let auth = &self.webhook.auth;
        let names = verify::proof_headers(auth.mode, auth.header.as_deref());
        event::without(headers, &names)
    }

    /// Returns a row without event, payload and configuration, as for a refused delivery. Its preview is of `body`.
    pub(super) fn row(
        &self,
        status: DeliveryStatus,
        headers: &HeaderMap,
        body: &[u8],
        size: u64,
    ) -> NewDelivery {
        let webhook = &self.webhook;
        let headers = self.without_proof(headers);
        let event_header = webhook.config.event_header.as_deref();
        let mut safe = event::safe_headers(webhook.profile, event_header, &headers);
        if status != DeliveryStatus::Rejected {
            safe.extend(trace::recorded(webhook, &headers));
        }
        NewDelivery {
            id: match &self.phase {
                Phase::Release(id) => id.clone(),
                Phase::Live | Phase::Hold => self.inner.new_delivery_id(),
            },
            webhook_id: webhook.id.clone(),
            status,
            event_type: None,
            entity_key: None,
            delivery_key: None,
            unique_key: None,
            bytes_key: None,
            duplicate_of: None,
            replay_of: None,
            redelivery: None,
            session_key: String::new(),
            received_at: self.received_at,
            next_attempt_at: None,
            // A map of strings always serializes.
            headers: serde_json::to_string(&safe).unwrap_or_else(|_| "{}".to_owned()),
            body_size: i64::try_from(size).unwrap_or(i64::MAX),
            body_preview: preview(body),
            payload: None,
            config: None,
            target: None,
            error: None,
            summary: None,
        }
    }

    /// Returns the row of a delivery whose preview is of `previewed`.
    fn row_of(
        &self,
        status: DeliveryStatus,
        arrived: &Arrived<'_>,
        previewed: &[u8],
    ) -> NewDelivery {
        let size = u64::try_from(arrived.body.len()).unwrap_or(u64::MAX);
        NewDelivery {
            event_type: arrived.event.event_type.clone(),
            entity_key: arrived.event.entity_key.clone(),
            delivery_key: arrived.event.delivery_key.clone(),
            ..self.row(status, arrived.headers, previewed, size)
        }
    }

    /// Records a refusal before verification: always in the metrics, and as a row within the client's limit.
    pub(super) fn reject(&self, reason: &'static str, headers: &HeaderMap, body: &[u8], size: u64) {
        self.count_rejected(reason);
        if self.inner.refusals.is_noted(Kind::Early, self.from.client) {
            self.note_rejected(reason, headers, body, size, true);
        }
    }

    /// Like [`Intake::reject`], for a failed verification. Also logs it.
    pub(super) fn reject_unverified(&self, reason: &'static str, headers: &HeaderMap, body: &[u8]) {
        self.count_rejected(reason);
        let refusals = &self.inner.refusals;
        if !refusals.is_noted(Kind::Unverified, self.from.client) {
            return;
        }
        tracing::warn!(
            webhook = self.webhook.public_id,
            client = %self.from.client,
            reason,
            "a webhook delivery could not be verified"
        );
        let size = u64::try_from(body.len()).unwrap_or(u64::MAX);
        self.note_rejected(reason, headers, body, size, false);
    }

    fn count_rejected(&self, reason: &'static str) {
        metrics::rejected(reason);
        self.count_as(DeliveryStatus::Rejected, None);
    }

    fn note_rejected(
        &self,
        reason: &'static str,
        headers: &HeaderMap,
        body: &[u8],
        size: u64,
        is_early: bool,
    ) {
        // The caller stores the outcome of a held delivery.
        if matches!(self.phase, Phase::Release(_)) {
            return;
        }
        let row = NewDelivery {
            error: Some(reason.to_owned()),
            ..self.row(DeliveryStatus::Rejected, headers, body, size)
        };
        self.inner.batches.note_refusal(row, is_early);
    }

    /// Verifies the request. Returns the signed ID and, with the replay guard `bytes`, the hash of the
    /// verified bytes.
    pub(super) async fn verify(
        &self,
        headers: &HeaderMap,
        url: &str,
        body: &[u8],
    ) -> Result<(Option<String>, Option<String>), IngestError> {
        let secrets = self.webhook.secrets(self.received_at);
        let input = self.verify_input(&secrets, (headers, url, body));
        let proof = self.prove(&input).await.inspect_err(|error| {
            if let IngestError::Unverified(error) = error {
                self.reject_unverified(error.reason(), headers, body);
            }
        })?;
        let goes_by_bytes =
            self.webhook.config.replay_guard == ReplayGuard::Bytes && !body.is_empty();
        let bytes_key = goes_by_bytes.then(|| proof.digest(&input));
        Ok((proof.id().map(str::to_owned), bytes_key))
    }

    fn verify_input<'i>(
        &'i self,
        secrets: &'i [&'i str],
        (headers, url, body): Request<'i>,
    ) -> VerifyInput<'i> {
        let (auth, settings) = (&self.webhook.auth, self.inner.settings.load());
        VerifyInput {
            mode: auth.mode,
            header: auth.header.as_deref(),
            secrets,
            headers,
            body,
            url,
            now_ms: self.received_at.as_millis(),
            tracker_tolerance_seconds: settings.section.tracker_tolerance_seconds,
        }
    }

    /// Returns the response to a verified request that only verifies the URL. While several secrets are valid, it is
    /// made with the one that the sender uses.
    pub(super) fn handshake(
        &self,
        request: Request<'_>,
        payload: &Payload,
    ) -> Option<HandshakeReply> {
        self.webhook.profile.handshake.as_ref()?;
        let secrets = self.webhook.secrets(self.received_at);
        event::handshake(&HandshakeInput {
            profile: self.webhook.profile,
            mode: self.webhook.auth.mode,
            headers: request.0,
            payload,
            secret: match secrets.as_slice() {
                &[only] => Some(only),
                several => verify::proving_secret(&self.verify_input(several, request)),
            },
        })
    }

    /// Verifies a proof. Limits wrong tokens per client, but not signatures.
    async fn prove<'a>(&self, input: &VerifyInput<'a>) -> Result<Proof<'a>, IngestError> {
        let tokens = verify::offered_tokens(input);
        // The client of a held delivery does not learn the outcome, and the number of held deliveries is limited.
        if tokens == 0 || matches!(self.phase, Phase::Release(_)) {
            return Ok(verify::prove(input)?);
        }
        let is_short = |secret: &&str| secret.len() < SHORT_BYTES;
        let attempt = Attempt {
            webhook: self.webhook.id.clone(),
            client: self.from.client,
            tokens,
            per_minute: if input.secrets.iter().any(is_short) {
                SHORT_PER_MINUTE
            } else {
                LONG_PER_MINUTE
            },
        };
        let guesses = &self.inner.guesses;
        match guesses.compare(attempt, || verify::prove(input)).await {
            Ok(outcome) => Ok(outcome?),
            Err(wait_ms) => {
                metrics::rejected("too_many_wrong_secrets");
                metrics::rate_limited(&self.webhook.id);
                Err(IngestError::RateLimited { wait_ms })
            }
        }
    }

    pub(super) fn parse(&self, headers: &HeaderMap, body: &[u8]) -> Result<Payload, IngestError> {
        Payload::read(self.webhook.profile.body, body).map_err(|error| {
            self.count_rejected(error.reason());
            let refusals = &self.inner.refusals;
            if refusals.is_noted(Kind::Unreadable, self.from.client) {
                let size = u64::try_from(body.len()).unwrap_or(u64::MAX);
                self.note_rejected(error.reason(), headers, body, size, false);
            }
            IngestError::Unreadable(error)
        })
    }

    /// Stores a delivery that the event filter excludes, or that does not meet a condition of the payload filter. Waits
    /// for the commit because the response contains its ID.
    pub(super) async fn filter(
        &self,
        arrived: &Arrived<'_>,
        unmet: Option<&Condition>,
    ) -> Result<Ingested, IngestError> {
        let row = NewDelivery {
            error: unmet.map(|unmet| format!("The payload filter is not met: {unmet}.")),
            ..self.row_of(DeliveryStatus::Filtered, arrived, arrived.body)
        };
        let id = row.id.clone();
        self.inner.batches.store_filtered(row).await?;
        metrics::filtered(&self.webhook.id);
        self.count(DeliveryStatus::Filtered, &arrived.event);
        Ok(Ingested::Filtered(id))
    }

    fn count(&self, status: DeliveryStatus, event: &Event) {
        self.count_as(status, event.event_type.as_deref());
    }

    fn count_as(&self, status: DeliveryStatus, event_type: Option<&str>) {
        let webhook = &self.webhook;
        webhook.counters.count(&webhook.id, status, event_type);
    }

    /// Reserves a permit under the rate limits, or in the webhook's queue if it has one. If there is none,
    /// checks whether the delivery is a duplicate, which does not need a permit.
    pub(super) async fn reserve(
        &self,
        arrived: &Arrived<'_>,
    ) -> Result<Result<Reservation, Ingested>, IngestError> {
        let refused = match self.permit().await? {
            Ok(place) => return Ok(Ok(place)),
            Err(refused) => refused,
        };
        if let Some(first) = self.find_first(arrived).await? {
            return Ok(Err(self.duplicate(arrived, first)));
        }
        metrics::rate_limited(&self.webhook.id);
        Err(IngestError::RateLimited {
            wait_ms: refused.wait_ms,
        })
    }

    /// Reserves a permit under the rate limits, or in the webhook's queue if it has one.
    pub(super) async fn permit(&self) -> Result<Result<Reservation, RateRefused>, StoreError> {
        let config = &self.webhook.config;
        let global = self
            .inner
            .settings
            .load()
            .section
            .global_rate_limit_per_minute;
        let per_minute = PerMinute {
            webhook: config.rate_limit_per_minute,
            // If the counter cannot reach a limit within a minute, the limit has no effect.
            global: u32::try_from(global).unwrap_or(u32::MAX),
        };
        let (limits, id) = (&self.inner.limits, &self.webhook.id);
        let shared = |permit: Result<_, _>| permit.map(|permit| limits.shared(id, permit));
        let reserved = match (&self.inner.shared_limits, config.on_limit) {
            (Some(all), OnLimit::Refuse) => shared(all.take_decided(id, per_minute).await?),
            (Some(all), OnLimit::Queue) => shared(all.take(id, per_minute).await?),
            (None, OnLimit::Refuse) => limits.reserve_decided(id, per_minute).await,
            (None, OnLimit::Queue) => limits.reserve(id, per_minute),
        };
        Ok(match config.on_limit {
            OnLimit::Refuse => reserved,
            OnLimit::Queue => reserved.or_else(|_| limits.reserve_waiting(id, per_minute.webhook)),
        })
    }

    /// Returns the delivery that this one duplicates, unless this one may run as a redelivery.
    async fn find_first(&self, arrived: &Arrived<'_>) -> Result<Option<DeliveryId>, StoreError> {
        let keys = Keys {
            webhook: self.webhook.id.clone(),
            key: arrived.event.delivery_key.clone(),
            bytes: arrived.bytes_key.clone(),
        };
        if keys.key.is_none() && keys.bytes.is_none() {
            return Ok(None);
        }
        let redeliver = self.webhook.config.redeliver_failed;
        let read = self
            .inner
            .store
            .read(move |conn| Box::pin(async move { repeat::judge(conn, &keys, redeliver).await }));
        Ok(match read.await? {
            Repeat::Of(first) => Some(first),
            Repeat::Unknown | Repeat::MayRunAgain { .. } => None,
        })
    }

    /// Records a duplicate. The response contains the ID of the first delivery, so it does not wait for this
    /// row.
    fn duplicate(&self, arrived: &Arrived<'_>, first: DeliveryId) -> Ingested {
        if !matches!(self.phase, Phase::Release(_)) {
            let row = NewDelivery {
                duplicate_of: Some(first.clone()),
                ..self.row_of(DeliveryStatus::Deduplicated, arrived, arrived.body)
            };
            self.inner.batches.note_duplicate(row);
        }
        self.count(DeliveryStatus::Deduplicated, &arrived.event);
        Ingested::Deduplicated(first)
    }

    /// Stores the delivery for the worker and returns after the commit.
    pub(super) async fn store(
        &self,
        mut arrived: Arrived<'_>,
        payload: Payload,
        place: Option<Reservation>,
    ) -> Result<Ingested, IngestError> {
        // The store shows a payload of this size as the preview.
        let is_preview =
            arrived.body.len() <= PREVIEW_BYTES && payload.text().as_bytes() == arrived.body;
        let previewed: &[u8] = if is_preview { &[] } else { arrived.body };
        let row = self.row_of(DeliveryStatus::Queued, &arrived, previewed);
        let webhook = &self.webhook;
        let session_key = webhook.config.session_of(
            &webhook.public_id,
            &row.id,
            arrived.event.entity_key.as_deref(),
        );
        let id = row.id.clone();
        let event = arrived.event.event_type.as_deref();
        let row = NewDelivery {
            summary: summary::sentence(webhook.profile, event, &payload),
            unique_key: row.delivery_key.clone(),
            bytes_key: arrived.bytes_key.clone(),
            session_key,
            next_attempt_at: Some(self.received_at),
            payload: Some(payload.into_text()),
            config: Some(webhook.snapshot.clone()),
            target: Some(Arc::clone(&webhook.target)),
            ..row
        };
        let entry = Entry {
            row,
            redeliver: webhook.config.redeliver_failed,
        };
        // Before the commit, so that a client that sees the delivery also finds its request.
        let originals = &self.inner.originals;
        let is_kept = arrived.original.is_some();
        if let Some(original) = arrived.original.take() {
            originals.put(&webhook.id, id.clone(), original);
        }
        let stored = self.inner.batches.store(entry, place).await;
        if is_kept && !matches!(stored, Ok(Stored::New | Stored::Again(_))) {
            originals.take_back(&webhook.id, &id);
        }
        match stored? {
            Stored::New | Stored::Again(_) => {
                self.count(DeliveryStatus::Queued, &arrived.event);
                Ok(Ingested::Accepted(id))
            }
            Stored::Duplicate(first) => Ok(self.duplicate(&arrived, first)),
        }
    }
}

#[cfg(test)]
mod tests;
