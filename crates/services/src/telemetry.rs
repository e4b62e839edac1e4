//! OpenTelemetry: traces and metrics, sent to the owner's collector by OTLP/HTTP in JSON
//! (opentelemetry.io/docs/specs/otlp). Ended spans wait in a queue of limited size, so requests and turns never
//! wait for the collector. Without `telemetry.otlp_endpoint`, nothing is recorded and no task runs.

mod check;
mod exporter;
mod exposition;
mod health;
mod measure;
mod otlp;
mod queue;
mod sender;

pub(crate) use check::check;
pub(crate) use measure::DatabaseMeasured;

use crate::Services;
use exporter::Exporter;
use futures_util::future::BoxFuture;
use gatehouse_domain::trace::Tracer;
use gatehouse_domain::{Clock, Random, Timestamp};
use health::Health;
use otlp::Resource;
use queue::SpanQueue;
use sender::Sender;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use url::Url;

/// Measures and renders the metrics of this process in Prometheus' text format.
pub type RenderMetrics = Arc<dyn Fn() -> BoxFuture<'static, String> + Send + Sync>;

/// The queue and the exporter for a collector, if one is configured.
#[derive(Debug, Default)]
pub struct Telemetry(Option<Arc<Export>>);

#[derive(Debug)]
struct Export {
    endpoint: Url,
    queue: Arc<SpanQueue>,
    tracer: Tracer,
    health: Health,
    /// A random ID for each start.
    instance: String,
    started_at: Timestamp,
}

impl Telemetry {
    pub(crate) fn new(
        endpoint: Option<Url>,
        clock: &Arc<dyn Clock>,
        random: &Arc<dyn Random>,
    ) -> Self {
        Self(endpoint.map(|endpoint| {
            let queue = Arc::new(SpanQueue::default());
            let waiting = Arc::clone(&queue);
            let sink = move |span| waiting.push(span);
            Arc::new(Export {
                endpoint,
                queue,
                tracer: Tracer::new(Arc::clone(clock), Arc::clone(random), sink),
                health: Health::default(),
                instance: format!("{:032x}", u128::from_le_bytes(random.bytes())),
                started_at: clock.now(),
            })
        }))
    }

    /// Returns the tracer, which is off without a collector.
    pub(crate) fn tracer(&self) -> Tracer {
        self.0
            .as_ref()
            .map(|it| it.tracer.clone())
            .unwrap_or_default()
    }
}

impl Services {
    /// Sends traces until `shutdown`, and metrics if `render` is set. Then sends the remaining ones. Does nothing
    /// without a collector.
    pub fn export_telemetry(
        &self,
        render: Option<RenderMetrics>,
        shutdown: CancellationToken,
        tasks: &TaskTracker,
    ) {
        let Some(export) = self.telemetry.0.clone() else {
            return;
        };
        let exporter = Exporter {
            resource: Resource {
                version: self.build.version,
                instance: export.instance.clone(),
            },
            sender: Sender {
                outbound: self.outbound.clone(),
                clock: Arc::clone(&self.clock),
                random: Arc::clone(&self.random),
                shutdown,
            },
            clock: Arc::clone(&self.clock),
            render,
            export,
        };
        tasks.spawn(exporter.run());
    }
}
