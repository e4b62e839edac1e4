//! The bytes written to disk for a delivery of 1 MiB, from its arrival to its completion.

use super::site;
use crate::crash::sign;
use crate::figures::mebibytes;
use crate::http1::request;
use crate::owner::{Installation, text};
use crate::table::{Goal, Report};
use anyhow::{Result, ensure};
use serde_json::json;
use std::time::Duration;

/// Number of deliveries. Enough for several checkpoints of the write-ahead log.
const DELIVERIES: u64 = 64;
/// Size of a body. Slightly less than the 1 MiB that a webhook accepts by default.
const BODY_BYTES: usize = 1_048_576 - 64;

/// Measures the bytes per delivery.
pub async fn measure(report: &mut Report) -> Result<()> {
    let installation = Installation::set_up(&site::environment(Vec::new())).await?;
    let server = installation.start()?;
    let params = json!({
        "name": "large", "source_profile": "codehost_a", "deliver_only": true,
        "rate_limit_per_minute": 1_000_000, "prompt_template": "{ref}",
    });
    let made = installation.rpc(&server, "webhooks.create", params).await?;
    let path = format!("/api/webhooks/ingest/{}", text(&made, "public_id")?);
    let body = json!({ "ref": "refs/heads/main", "text": "x".repeat(BODY_BYTES - 64) }).to_string();
    let signature = sign(&text(&made, "secret")?, &body)?;
    let mut client = server.connect().await?;
    let before = server.written_bytes()?;
    for number in 0..DELIVERIES {
        let key = format!("large-{number}");
        let headers = [
            ("x-github-event", "push"),
            ("x-hub-signature-256", signature.as_str()),
            ("x-github-delivery", key.as_str()),
        ];
        let answer = client
            .exchange(&request("POST", &path, &headers, Some(&body)))
            .await?;
        ensure!(answer.status == 202, "answered {}", answer.status);
    }
    site::until_empty(&installation, &server, Duration::from_mins(2)).await?;
    // Waits for the completion of the last delivery and for a running checkpoint.
    tokio::time::sleep(Duration::from_secs(2)).await;
    let written = (server.written_bytes()? - before) / DELIVERIES;
    report.value(
        "written to the disk for a delivery of 1 MiB, to its end",
        Goal::AtMost(2.5),
        mebibytes(written),
        (2, "MiB"),
    );
    server.stop()
}
