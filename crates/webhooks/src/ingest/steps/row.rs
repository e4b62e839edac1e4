//! The row of a delivery.

use super::Arrived;
use crate::ingest::intake::{Intake, Phase};
use crate::trace;
use gatehouse_domain::DeliveryStatus;
use gatehouse_sources::{event, verify};
use gatehouse_store::{NewDelivery, PREVIEW_BYTES};
use http::HeaderMap;
use std::borrow::Cow;

/// Returns the beginning of a body as text that every engine can store. Invalid bytes are replaced. The last
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
    /// Returns the headers without those used for verification. Otherwise the secret could be stored as an event
    /// type or a key, if the owner configures its header for that purpose.
    pub(in crate::ingest) fn without_proof<'h>(
        &self,
        headers: &'h HeaderMap,
    ) -> Cow<'h, HeaderMap> {
        let auth = &self.webhook.auth;
        let names = verify::proof_headers(auth.mode, auth.header.as_deref());
        event::without(headers, &names)
    }

    /// Returns a row without event, payload and configuration, as for a refused delivery. The preview is the
    /// beginning of `body`.
    pub(in crate::ingest) fn row(
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
        let ids = verify::id_headers(webhook.auth.mode);
        safe.extend(event::named_headers(ids, &headers));
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

    /// Returns the row of a delivery. The preview is the beginning of `previewed`.
    pub(super) fn row_of(
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
}
