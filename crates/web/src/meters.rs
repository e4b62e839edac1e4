//! The request metrics of each route.

use http::Method;
use metrics::{Counter, Histogram};
use std::sync::OnceLock;
use std::time::Duration;

/// The known methods. Clients can send any method, so all others have a common label. The label
/// `method` is thereby bounded.
const METHODS: [&str; 8] = [
    "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "other",
];
const STATUS_CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];

/// Index in `METHODS`.
fn method_place(method: &Method) -> usize {
    let known = METHODS.iter().position(|name| *name == method.as_str());
    known.unwrap_or(METHODS.len() - 1)
}

fn status_place(status: u16) -> usize {
    usize::from(status / 100).clamp(1, STATUS_CLASSES.len()) - 1
}

fn name(names: &[&'static str], place: usize) -> &'static str {
    names.get(place).copied().unwrap_or_default()
}

/// Returns the value of the label `method`.
pub(crate) fn method_label(method: &Method) -> &'static str {
    name(&METHODS, method_place(method))
}

/// The metrics of every route. Each is looked up in the recorder only once.
pub(crate) struct Meters {
    /// One entry per row of the table, and one for requests without a matching row.
    routes: Vec<RouteMeters>,
}

#[derive(Default)]
struct RouteMeters {
    seconds: OnceLock<Histogram>,
    requests: [[OnceLock<Counter>; STATUS_CLASSES.len()]; METHODS.len()],
}

impl Meters {
    /// Creates the meters for a table of this many routes.
    pub(crate) fn new(routes: usize) -> Self {
        Self {
            routes: (0..=routes).map(|_| RouteMeters::default()).collect(),
        }
    }

    /// Counts a response. `place` is the row of the route in the table, `route` its pattern.
    pub(crate) fn count(
        &self,
        place: Option<usize>,
        method: &Method,
        status: u16,
        elapsed: Duration,
        route: &'static str,
    ) {
        let meters = match place {
            Some(place) => self.routes.get(place),
            None => self.routes.last(),
        };
        let Some(meters) = meters else {
            return;
        };
        let seconds = meters
            .seconds
            .get_or_init(|| metrics::histogram!("http_request_duration_seconds", "route" => route));
        seconds.record(elapsed);
        let (method, class) = (method_place(method), status_place(status));
        if let Some(requests) = meters.requests.get(method).and_then(|row| row.get(class)) {
            let (method, status) = (name(&METHODS, method), name(&STATUS_CLASSES, class));
            let labels = [("route", route), ("method", method), ("status", status)];
            requests
                .get_or_init(|| metrics::counter!("http_requests_total", &labels))
                .increment(1);
        }
    }
}
