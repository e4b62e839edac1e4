//! The time from process start to the first response, and the memory of an idle gateway.

use super::Site;
use crate::figures::{mebibytes, median, millis};
use crate::gateway::{Server, binary};
use crate::table::{Goal, Report};
use anyhow::Result;
use std::path::Path;
use std::time::Duration;

const STARTS: usize = 9;
/// The time after a start in which all background loading completes.
const SETTLED: Duration = Duration::from_secs(2);

/// Measures a gateway that is set up and idle.
pub fn idle(data_dir: &Path, report: &mut Report) -> Result<()> {
    let size = mebibytes(binary()?.metadata()?.len());
    report.value(
        "size of the stripped binary",
        Goal::AtMost(25.0),
        size,
        (1, "MiB"),
    );
    let server = Server::gateway(data_dir, &[])?;
    std::thread::sleep(SETTLED);
    let resident = mebibytes(server.resident_bytes()?);
    report.value(
        "resident memory, idle",
        Goal::AtMost(20.0),
        resident,
        (1, "MiB"),
    );
    server.stop()
}

/// Measures the start and the memory of a gateway with many stored credentials.
pub fn many(site: &Site, report: &mut Report) -> Result<()> {
    let mut times = Vec::with_capacity(STARTS);
    for _ in 0..STARTS {
        let server = site.gateway()?;
        times.push(server.started_in);
        server.stop()?;
    }
    let what = format!("start to /health, 10,000 sessions stored (median of {STARTS})");
    report.value(
        what,
        Goal::AtMost(40.0),
        millis(median(&mut times)),
        (1, "ms"),
    );
    let server = site.gateway()?;
    std::thread::sleep(SETTLED);
    let resident = mebibytes(server.resident_bytes()?);
    report.value(
        "resident memory, idle, 10,000 sessions",
        Goal::Reported,
        resident,
        (1, "MiB"),
    );
    server.stop()
}
