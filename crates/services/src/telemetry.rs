//! OpenTelemetry: traces of deliveries, and the metrics, sent to a collector by OTLP/HTTP in JSON
//! (opentelemetry.io/docs/specs/otlp). Listens to events that are published anyway, so it delays no request.
//! Without an endpoint, nothing of this runs.

mod exposition;
mod otlp;
mod sender;
mod spans;

use crate::Services;
use sender::{Batch, Sender};
use spans::{Span, Spans};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use url::Url;

/// Renders the metrics in Prometheus' text format.
pub type RenderMetrics = Arc<dyn Fn() -> String + Send + Sync>;

/// How often spans are sent.
const SPANS_EVERY: Duration = Duration::from_secs(5);
/// Metrics are sent once per this number of intervals.
const METRICS_TICKS: u32 = 6;
/// The most spans that wait, and that are sent at once.
const MAX_SPANS: usize = 2048;
const BATCH: usize = 512;
/// The most batches that wait for the collector.
const MAX_BATCHES: usize = 4;

/// The part that collects.
struct Collector {
    services: Arc<Services>,
    spans: Spans,
    waiting: VecDeque<Span>,
    batches: mpsc::Sender<Batch>,
    render: Option<RenderMetrics>,
    started_at_ms: i64,
}

impl Services {
    /// Sends traces and metrics until `shutdown`, then what is left. Does nothing without an endpoint.
    pub fn send_telemetry(
        self: &Arc<Self>,
        render: Option<RenderMetrics>,
        shutdown: CancellationToken,
        tasks: &TaskTracker,
    ) {
        let resolved = self.config.resolved();
        let Some(endpoint) = resolved.settings.telemetry.otlp_endpoint.clone() else {
            return;
        };
        let (batches, queue) = mpsc::channel(MAX_BATCHES);
        let sender = Sender::new(self, &endpoint, shutdown.clone());
        tasks.spawn(sender.run(queue));
        let mut deliveries = self.webhooks.subscribe();
        let mut collector = Collector {
            services: Arc::clone(self),
            spans: Spans::default(),
            waiting: VecDeque::new(),
            batches,
            render,
            started_at_ms: self.clock.now().as_millis(),
        };
        tasks.spawn(async move {
            let mut timer = tokio::time::interval(SPANS_EVERY);
            timer.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
            let mut ticks: u32 = 0;
            loop {
                tokio::select! {
                    () = shutdown.cancelled() => break,
                    changed = deliveries.recv() => match changed {
                        Ok(changed) => collector.take(&changed),
                        Err(RecvError::Lagged(missed)) => dropped(missed),
                        Err(RecvError::Closed) => break,
                    },
                    _ = timer.tick() => {
                        collector.flush();
                        ticks = ticks.wrapping_add(1);
                        if ticks.is_multiple_of(METRICS_TICKS) {
                            collector.flush_metrics();
                        }
                    }
                }
            }
            loop {
                match deliveries.try_recv() {
                    Ok(changed) => collector.take(&changed),
                    Err(TryRecvError::Lagged(missed)) => dropped(missed),
                    Err(TryRecvError::Empty | TryRecvError::Closed) => break,
                }
            }
            collector.flush();
            collector.flush_metrics();
        });
    }
}

impl Collector {
    fn take(&mut self, changed: &gatehouse_webhooks::Delivery) {
        let now = self.services.clock.now();
        for span in self.spans.of(changed, now) {
            if self.waiting.len() >= MAX_SPANS {
                dropped(1);
            } else {
                self.waiting.push_back(span);
            }
        }
        if self.waiting.len() >= BATCH {
            self.flush();
        }
    }

    /// Hands all waiting spans to the sender. If it is still busy with earlier ones, they wait here.
    fn flush(&mut self) {
        while !self.waiting.is_empty() {
            let Ok(permit) = self.batches.try_reserve() else {
                return;
            };
            let count = self.waiting.len().min(BATCH);
            let spans: Vec<Span> = self.waiting.drain(..count).collect();
            permit.send(Batch::spans(&self.services, &spans));
        }
    }

    fn flush_metrics(&self) {
        let Some(render) = &self.render else {
            return;
        };
        // Metrics are cumulative: what is skipped now is in the next ones.
        if let Ok(permit) = self.batches.try_reserve() {
            permit.send(Batch::metrics(
                &self.services,
                &render(),
                self.started_at_ms,
            ));
        }
    }
}

/// Counts spans that are not sent.
fn dropped(count: u64) {
    metrics::counter!("telemetry_spans_dropped_total").increment(count);
}

/// The URL of a signal below the endpoint.
fn signal_url(endpoint: &Url, path: &str) -> String {
    format!("{}{path}", endpoint.as_str().trim_end_matches('/'))
}
