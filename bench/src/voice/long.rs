//! One request with a text of 100,000 characters. The response is a single recording of the whole text.

use super::Site;
use crate::table::{Goal, Report};
use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::fmt::Write;
use std::time::Instant;

const CHARACTERS: usize = 100_000;

/// Measures the request.
pub async fn measure(site: &Site, report: &mut Report) -> Result<()> {
    let text = prose()?;
    let gateway = site.start()?;
    let begun = Instant::now();
    let params = json!({ "text": text, "format": "opus" });
    let answer = site
        .installation
        .rpc(&gateway, "tts.convert", params)
        .await?;
    let seconds = begun.elapsed().as_secs_f64();
    let said = site.vendor.heard();
    let what = format!("{CHARACTERS} characters, in {} pieces", said.len());
    report.fact(
        what,
        "all said, in order",
        said.concat() == text,
        "compared",
    );
    let lasts = answer
        .get("durationMs")
        .and_then(Value::as_u64)
        .context("no duration")?;
    #[expect(clippy::cast_precision_loss, reason = "shown without digits")]
    let times = lasts as f64 / 1000.0 / seconds;
    report.value(
        "the same, spoken and encoded, times real time",
        Goal::Reported,
        times,
        (0, "×"),
    );
    gateway.stop()
}

fn prose() -> Result<String> {
    let mut text = String::with_capacity(CHARACTERS + 64);
    let mut number = 0;
    while text.len() < CHARACTERS {
        number += 1;
        write!(
            text,
            "Sentence number {number} tells of a river and of snow. "
        )?;
    }
    text.truncate(CHARACTERS - 1);
    text.push('.');
    Ok(text)
}
