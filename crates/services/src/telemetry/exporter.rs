//! The task that sends spans and metrics, one request after the other.

use super::health::{Signal, State};
use super::otlp::Resource;
use super::queue::{BATCH, count_dropped};
use super::sender::{Accepted, Sender};
use super::{Export, RenderMetrics, exposition};
use gatehouse_domain::Clock;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

/// How often spans are sent if no batch is full.
const SPANS_EVERY: Duration = Duration::from_secs(5);
/// How often metrics are sent.
const METRICS_EVERY: Duration = Duration::from_mins(1);

pub(super) struct Exporter {
    pub(super) export: Arc<Export>,
    pub(super) resource: Resource,
    pub(super) sender: Sender,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) render: Option<RenderMetrics>,
}

impl Exporter {
    pub(super) async fn run(self) {
        let timer = |every| {
            let mut timer = interval_at(Instant::now() + every, every);
            timer.set_missed_tick_behavior(MissedTickBehavior::Delay);
            timer
        };
        let (mut spans, mut metrics) = (timer(SPANS_EVERY), timer(METRICS_EVERY));
        let shutdown = self.sender.shutdown.clone();
        loop {
            tokio::select! {
                biased;
                () = shutdown.cancelled() => break,
                _ = metrics.tick() => self.send_metrics().await,
                _ = spans.tick() => self.send_spans().await,
                () = self.export.queue.has_batch.notified() => self.send_spans().await,
            }
        }
        // Sends spans that ended during the shutdown. The caller limits how long this takes.
        self.send_spans().await;
        self.send_metrics().await;
    }

    /// Sends the waiting spans.
    async fn send_spans(&self) {
        loop {
            let spans = self.export.queue.take();
            if spans.is_empty() {
                return;
            }
            let count = u64::try_from(spans.len()).unwrap_or(u64::MAX);
            let body = self.resource.traces(&spans);
            match self.send(Signal::Traces, &body).await {
                None => count_dropped(count, "not_accepted"),
                Some(accepted) if accepted.rejected > 0 => {
                    count_dropped(accepted.rejected, "rejected");
                }
                Some(_) => {}
            }
            if spans.len() < BATCH {
                return;
            }
        }
    }

    /// Sends all metrics. They are cumulative, so the next request includes values that were lost.
    async fn send_metrics(&self) {
        let Some(render) = &self.render else { return };
        let families = exposition::read(&render().await);
        let times = (self.export.started_at, self.clock.now());
        let body = self.resource.metrics(&families, times);
        self.send(Signal::Metrics, &body).await;
    }

    /// Sends a body. Returns `None` if the collector does not accept it.
    async fn send(&self, signal: Signal, body: &Value) -> Option<Accepted> {
        let health = &self.export.health;
        match self
            .sender
            .send(&self.export.endpoint, signal, body, health)
            .await
        {
            Ok(accepted) => {
                health.note(signal, State::Accepted);
                if accepted.rejected > 0 || !accepted.message.is_empty() {
                    health.warn(signal, accepted.rejected, &accepted.message);
                }
                Some(accepted)
            }
            Err(reason) => {
                health.note(signal, State::Refused(reason));
                None
            }
        }
    }
}
