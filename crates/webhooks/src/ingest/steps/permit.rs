//! The rate limits, and duplicates that exceed them.

use super::Arrived;
use crate::ingest::intake::Intake;
use crate::ingest::outcome::{IngestError, Ingested};
use crate::ingest::repeat::{self, Keys, Repeat};
use crate::limits::Reservation;
use crate::limits::per_minute::PerMinute;
use crate::metrics;
use crate::rules::OnLimit;
use gatehouse_domain::DeliveryId;
use gatehouse_store::{RateRefused, StoreError};

impl Intake {
    /// Reserves a permit under the rate limits, or in the webhook's queue if it has one. If no permit is free,
    /// checks whether the delivery is a duplicate, which needs no permit.
    pub(in crate::ingest) async fn reserve(
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
    pub(in crate::ingest) async fn permit(
        &self,
    ) -> Result<Result<Reservation, RateRefused>, StoreError> {
        let config = &self.webhook.config;
        let global = self
            .inner
            .settings
            .load()
            .section
            .global_rate_limit_per_minute;
        let per_minute = PerMinute {
            webhook: config.rate_limit_per_minute,
            // A limit beyond the range of the counter cannot be reached within a minute, so the maximum has the
            // same effect.
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

    /// Returns the delivery that this one duplicates. Returns `None` if this one may run as a redelivery.
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
}
