//! The latency of a cached spoken answer.

use super::Site;
use crate::figures::{median, millis, percentile};
use crate::table::{Goal, Report};
use anyhow::{Result, ensure};
use serde_json::{Value, json};
use std::time::Instant;

const SAMPLES: usize = 2_000;

/// Measures the latency.
pub async fn measure(site: &Site, report: &mut Report) -> Result<()> {
    let gateway = site.start()?;
    let mut client = gateway.connect().await?;
    let params = json!({ "text": "Your coffee is ready.", "format": "opus" });
    let mut took = Vec::with_capacity(SAMPLES);
    let mut bytes = 0;
    for number in 0..=SAMPLES {
        let begun = Instant::now();
        let method = "tts.convert";
        let answer = site
            .installation
            .rpc_on(&mut client, method, params.clone())
            .await?;
        if number == 0 {
            bytes = answer
                .get("size")
                .and_then(Value::as_u64)
                .unwrap_or_default();
            continue;
        }
        took.push(begun.elapsed());
        ensure!(
            answer.get("cached") == Some(&Value::Bool(true)),
            "it was not kept"
        );
    }
    ensure!(site.vendor.heard().len() == 1, "the vendor was asked again");
    let (p50, p99) = (median(&mut took), percentile(&mut took, 0.99));
    let what = |which: &str| format!("cache hit of {bytes} bytes over RPC, {which}");
    report.value(what("p50"), Goal::Reported, millis(p50), (2, "ms"));
    report.value(what("p99"), Goal::AtMost(3.0), millis(p99), (2, "ms"));
    gateway.stop()
}
