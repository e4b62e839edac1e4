//! The requests that are kept in memory, and for how long. Bounded in number and size.

use crate::error::WebhooksError;
use bytes::Bytes;
use gatehouse_domain::{DeliveryId, ErrorCode, Problem, Timestamp, WebhookId};
use http::HeaderMap;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long requests are kept after the last call of `webhooks.forward`, in seconds.
pub const KEPT_SECONDS: u64 = 600;
/// Maximum number of webhooks whose requests are kept.
pub(super) const MAX_WEBHOOKS: usize = 16;
/// Maximum number of requests of one webhook. The oldest requests are dropped first.
pub(super) const MAX_REQUESTS: usize = 256;
/// Maximum size of the bodies and headers of one webhook, in bytes. A single larger request is still kept.
pub(super) const MAX_BYTES: usize = 8 * 1024 * 1024;

/// A request as its sender sent it.
pub(crate) struct Original {
    /// All headers, with signatures and secrets.
    pub(crate) headers: HeaderMap,
    pub(crate) query: Option<String>,
    pub(crate) body: Bytes,
}

/// Prints no values, because headers and body contain secrets.
impl std::fmt::Debug for Original {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Original").finish_non_exhaustive()
    }
}

impl Original {
    pub(crate) fn of(headers: &HeaderMap, url: &str, body: &Bytes) -> Self {
        Self {
            headers: headers.clone(),
            query: url.split_once('?').map(|(_, query)| query.to_owned()),
            // A copy, because the request's buffer counts against the memory budget until it is dropped.
            body: Bytes::copy_from_slice(body),
        }
    }

    fn bytes(&self) -> usize {
        let headers = self.headers.iter();
        let headers: usize = headers
            .map(|(name, value)| name.as_str().len() + value.len())
            .sum();
        headers + self.body.len() + self.query.as_deref().map_or(0, str::len)
    }
}

#[derive(Debug)]
struct KeptRequests {
    until: Timestamp,
    requests: VecDeque<(DeliveryId, Arc<Original>)>,
    bytes: usize,
}

/// The kept requests of all webhooks.
#[derive(Debug, Default)]
pub(crate) struct Originals(Mutex<HashMap<WebhookId, KeptRequests>>);

impl Originals {
    fn lock(&self) -> MutexGuard<'_, HashMap<WebhookId, KeptRequests>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts to keep the requests of a webhook. Returns until when they are kept.
    pub(super) fn keep(
        &self,
        webhook: &WebhookId,
        now: Timestamp,
    ) -> Result<Timestamp, WebhooksError> {
        let until = now.after(Duration::from_secs(KEPT_SECONDS));
        let mut all = self.lock();
        all.retain(|_, kept| now < kept.until);
        if all.len() >= MAX_WEBHOOKS && !all.contains_key(webhook) {
            let message = format!("At most {MAX_WEBHOOKS} webhooks can be forwarded at a time.");
            return Err(WebhooksError::Refused(Problem::new(
                ErrorCode::Conflict,
                message,
            )));
        }
        let kept = all.entry(webhook.clone()).or_insert(KeptRequests {
            until,
            requests: VecDeque::new(),
            bytes: 0,
        });
        kept.until = until;
        Ok(until)
    }

    pub(crate) fn forget(&self, webhook: &WebhookId) {
        self.lock().remove(webhook);
    }

    /// Deletes all requests. Called when the vault is sealed.
    pub(crate) fn forget_all(&self) {
        self.lock().clear();
    }

    /// Returns whether the webhook's requests are kept. Drops them if the time has passed.
    pub(crate) fn is_kept(&self, webhook: &WebhookId, now: Timestamp) -> bool {
        let mut all = self.lock();
        // The usual case: no client forwards deliveries.
        if all.is_empty() {
            return false;
        }
        all.retain(|_, kept| now < kept.until);
        all.contains_key(webhook)
    }

    pub(crate) fn put(&self, webhook: &WebhookId, delivery: DeliveryId, original: Original) {
        if let Some(kept) = self.lock().get_mut(webhook) {
            kept.bytes += original.bytes();
            kept.requests.push_back((delivery, Arc::new(original)));
            while kept.requests.len() > 1
                && (kept.requests.len() > MAX_REQUESTS || kept.bytes > MAX_BYTES)
            {
                if let Some((_, dropped)) = kept.requests.pop_front() {
                    kept.bytes = kept.bytes.saturating_sub(dropped.bytes());
                }
            }
        }
    }

    /// Drops a request whose delivery was not stored.
    pub(crate) fn take_back(&self, webhook: &WebhookId, delivery: &DeliveryId) {
        if let Some(kept) = self.lock().get_mut(webhook) {
            let place = kept.requests.iter().position(|(id, _)| id == delivery);
            if let Some((_, dropped)) = place.and_then(|place| kept.requests.remove(place)) {
                kept.bytes = kept.bytes.saturating_sub(dropped.bytes());
            }
        }
    }

    pub(super) fn find(
        &self,
        webhook: &WebhookId,
        delivery: &DeliveryId,
        now: Timestamp,
    ) -> Option<Arc<Original>> {
        let all = self.lock();
        let kept = all.get(webhook).filter(|kept| now < kept.until)?;
        let found = kept.requests.iter().find(|(id, _)| id == delivery);
        found.map(|(_, original)| Arc::clone(original))
    }
}

#[cfg(test)]
mod tests;
