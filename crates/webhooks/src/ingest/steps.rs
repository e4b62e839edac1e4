//! The steps of ingest after the body is read.

mod permit;
mod proof;
mod row;

use super::batch::{Entry, Stored};
use super::intake::{Intake, Phase};
use super::outcome::{IngestError, Ingested};
use super::refusals::Kind;
use crate::forward::kept::Original;
use crate::limits::Reservation;
use crate::metrics;
use gatehouse_domain::{DeliveryId, DeliveryStatus};
use gatehouse_sources::event::Event;
use gatehouse_sources::payload::Payload;
use gatehouse_sources::payload_filter::Condition;
use gatehouse_sources::summary;
use gatehouse_store::{NewDelivery, PREVIEW_BYTES};
use http::HeaderMap;
pub(crate) use row::preview;
use std::sync::Arc;

/// A verified and parsed request.
pub(super) struct Arrived<'a> {
    pub(super) headers: &'a HeaderMap,
    pub(super) body: &'a [u8],
    pub(super) event: Event,
    /// SHA-256 of the verified bytes, if the replay guard is `bytes`.
    pub(super) bytes_key: Option<String>,
    /// The request itself, if a client forwards the webhook's deliveries.
    pub(super) original: Option<Original>,
}

impl Intake {
    /// Records a refusal before verification. The metrics count every refusal; a row is stored within the client's
    /// limit.
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
