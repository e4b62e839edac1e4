//! Compares unlocking with a single run of Argon2id. Measures the rotation of many secrets while the service
//! answers requests.

use super::{PASSWORD, Site};
use crate::figures::{greatest, median, millis};
use crate::gateway::Server;
use crate::http1::{Client, request};
use crate::prepare::{self, VARIABLES};
use crate::table::{Goal, Report};
use anyhow::{Result, anyhow};
use argon2::{Algorithm, Argon2, Params, Version};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

const UNSEALS: usize = 9;

/// Measures unlocking and rotation.
pub async fn measure(site: &Site, report: &mut Report) -> Result<()> {
    unseal(site, report).await?;
    prepare::add_variables(&site.data_dir).await?;
    rotate(site, report).await
}

fn bare_argon2id() -> Result<Duration> {
    let params = Params::new(64 * 1024, 3, 1, Some(32)).map_err(|error| anyhow!("{error}"))?;
    let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
    let mut key = [0; 32];
    let begun = Instant::now();
    argon2
        .hash_password_into(PASSWORD.as_bytes(), &[7; 16], &mut key)
        .map_err(|error| anyhow!("{error}"))?;
    Ok(begun.elapsed())
}

fn post(site: &Site, path: &str, body: &str) -> Vec<u8> {
    request("POST", path, &[("cookie", &site.cookie(0))], Some(body))
}

fn with_password() -> String {
    serde_json::json!({ "password": PASSWORD }).to_string()
}

async fn timed(client: &mut Client, request: &[u8]) -> Result<Duration> {
    let begun = Instant::now();
    let answer = client.exchange(request).await?;
    let elapsed = begun.elapsed();
    answer.expect_ok()?;
    Ok(elapsed)
}

async fn unseal(site: &Site, report: &mut Report) -> Result<()> {
    let gateway = site.gateway()?;
    let mut client = gateway.connect().await?;
    let unlock = post(site, "/api/auth/vault/unlock", &with_password());
    let seal = post(site, "/api/auth/vault/seal", "{}");
    timed(&mut client, &unlock).await?;
    let (mut unseals, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..UNSEALS {
        timed(&mut client, &seal).await?;
        bare.push(bare_argon2id()?);
        unseals.push(timed(&mut client, &unlock).await?);
    }
    let (unsealed, bare) = (median(&mut unseals), median(&mut bare));
    let above = (unsealed.as_secs_f64() / bare.as_secs_f64() - 1.0) * 100.0;
    report.value(
        "unsealing, above one bare Argon2id run",
        Goal::AtMost(15.0),
        above,
        (1, "%"),
    );
    report.value(
        "unsealing (POST unlock)",
        Goal::Reported,
        millis(unsealed),
        (1, "ms"),
    );
    report.value(
        "one bare Argon2id run",
        Goal::Reported,
        millis(bare),
        (1, "ms"),
    );
    gateway.stop()
}

/// Repeats a request until `stop` is set. Returns the duration of each response.
async fn ask(mut client: Client, request: Vec<u8>, stop: Arc<AtomicBool>) -> Result<Vec<Duration>> {
    let mut times = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        times.push(timed(&mut client, &request).await?);
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    Ok(times)
}

async fn rotate(site: &Site, report: &mut Report) -> Result<()> {
    let gateway = site.gateway()?;
    let mut client = gateway.connect().await?;
    let unlock = post(site, "/api/auth/vault/unlock", &with_password());
    let migrated = timed(&mut client, &unlock).await?;
    report.value(
        format!("first unseal, which encrypts {VARIABLES} variables"),
        Goal::Reported,
        millis(migrated),
        (0, "ms"),
    );
    let rotation = post(site, "/api/auth/vault/rotate", &with_password());
    let asked = [
        ("GET /health", request("GET", "/health", &[], None)),
        (
            "GET /api/auth/passkeys, which reads the database",
            request(
                "GET",
                "/api/auth/passkeys",
                &[("cookie", &site.cookie(1))],
                None,
            ),
        ),
    ];
    let stop = Arc::new(AtomicBool::new(false));
    let mut tasks = JoinSet::new();
    for (name, request) in asked {
        let asking = ask(connect(&gateway).await?, request, Arc::clone(&stop));
        tasks.spawn(async move { anyhow::Ok((name, asking.await?)) });
    }
    let rotated = timed(&mut client, &rotation).await?;
    stop.store(true, Ordering::Relaxed);
    let what = format!("rotation of {VARIABLES} variables");
    report.value(what, Goal::AtMost(2000.0), millis(rotated), (0, "ms"));
    while let Some(done) = tasks.join_next().await {
        let (name, times) = done??;
        let what = format!("longest answer meanwhile, {name} ({} of them)", times.len());
        report.value(what, Goal::Reported, millis(greatest(&times)), (1, "ms"));
    }
    gateway.stop()
}

async fn connect(gateway: &Server) -> Result<Client> {
    gateway.connect().await
}
