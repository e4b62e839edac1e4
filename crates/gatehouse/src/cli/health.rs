//! `health`: reports as an exit code whether the server responds. For health checks in images that contain no other
//! program.

use super::client::Client;
use super::globals::Globals;
use super::output::{Output, field, line};
use anyhow::{Context, Result};
use std::process::ExitCode;
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(5);

/// Requests `/health` without a credential. Fails unless the server responds within 5 seconds.
pub async fn run(globals: &Globals, out: &Output) -> Result<ExitCode> {
    let layers = globals.layers()?;
    let client = Client::unverified(globals, &layers)?;
    let answer = tokio::time::timeout(TIMEOUT, client.get("/health"));
    let answer = answer
        .await
        .context("the server did not respond within 5 seconds")??;
    out.record(&answer, || line(field(&answer, "status")))?;
    Ok(ExitCode::SUCCESS)
}
