//! Completion rates with default settings: how fast a full queue drains, and whether the queue grows while
//! deliveries arrive at the target rate.

use super::site::{self, Receiver};
use crate::gateway::Server;
use crate::owner::Installation;
use crate::table::{Goal, Report};
use anyhow::Result;
use serde_json::json;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// Connections for filling the queue and for the sustained load.
const CONNECTIONS: usize = 64;
/// How long the queue is filled.
const FILLING: Duration = Duration::from_secs(3);
/// Timeout for draining. After the timeout, the rate is that of the completed deliveries.
const PATIENCE: Duration = Duration::from_mins(2);
/// Deliveries per second of the sustained load.
const PACE: u32 = 4_000;
const SUSTAINED: Duration = Duration::from_mins(1);

/// Measures the rates to the inbox and to an `http` channel.
pub async fn measure(report: &mut Report) -> Result<()> {
    let installation = Installation::set_up(&site::environment(Vec::new())).await?;
    let server = installation.start()?;
    let (_receiver, address) = Receiver::start().await?;
    site::channel(&installation, &server, "receiver", address).await?;
    for (what, more, aim) in [
        ("the inbox", json!({ "deliver_only": true }), 5_000.0),
        (
            "an http channel with a local receiver",
            json!({ "deliver_only": true, "deliver_to": "http:receiver" }),
            3_000.0,
        ),
    ] {
        let rate = drain(&installation, &server, more).await?;
        let what = format!("deliver-only completions a second to {what}, default settings");
        report.value(what, Goal::AtLeast(aim), rate, (0, ""));
    }
    server.stop()
}

/// Fills the queue and waits until it is empty. The rate is measured from the first delivery, so it includes
/// deliveries that are completed while the queue is filled.
#[expect(clippy::cast_precision_loss, reason = "counts of deliveries")]
pub(super) async fn drain(
    installation: &Installation,
    server: &Server,
    more: serde_json::Value,
) -> Result<f64> {
    let target = site::webhook(installation, server, more).await?;
    let flood = target
        .flood(server, CONNECTIONS, |_, elapsed| elapsed >= FILLING)
        .await?;
    let filled = site::waiting(installation, server).await?;
    let took = site::until_empty(installation, server, PATIENCE).await?;
    let left = site::waiting(installation, server).await?;
    let while_filling = (flood.took.len() as f64 - filled as f64) / flood.elapsed.as_secs_f64();
    let draining = filled.saturating_sub(left) as f64 / took.as_secs_f64();
    // If the queue never filled, the worker was as fast as the senders, and the rate is that of the senders.
    Ok(if filled < 1000 {
        while_filling
    } else {
        draining
    })
}

/// Accepts and completes deliveries at the target rate for a minute.
pub async fn sustained(report: &mut Report) -> Result<()> {
    let installation = Installation::set_up(&site::environment(Vec::new())).await?;
    let server = installation.start()?;
    let target = site::webhook(&installation, &server, json!({ "deliver_only": true })).await?;
    let begun = Instant::now();
    let mut tasks = JoinSet::new();
    let pause = Duration::from_secs(1) * u32::try_from(CONNECTIONS)? / PACE;
    for _ in 0..CONNECTIONS {
        let mut client = server.connect().await?;
        tasks.spawn(async move {
            let mut sent = 0;
            while begun.elapsed() < SUSTAINED {
                let due = pause * sent;
                if let Some(early) = due.checked_sub(begun.elapsed()) {
                    tokio::time::sleep(early).await;
                }
                target.send(&mut client).await?;
                sent += 1;
            }
            anyhow::Ok(sent)
        });
    }
    tokio::time::sleep(SUSTAINED / 4).await;
    let early = site::waiting(&installation, &server).await?;
    let mut sent = 0;
    while let Some(done) = tasks.join_next().await {
        sent += done??;
    }
    let rate = f64::from(sent) / begun.elapsed().as_secs_f64();
    let late = site::waiting(&installation, &server).await?;
    report.value(
        "accepted a second for 60 s while they are completed",
        Goal::AtLeast(f64::from(PACE) * 0.99),
        rate,
        (0, ""),
    );
    // Up to one second's worth of deliveries may be in progress at any time.
    report.fact(
        "deliveries that wait after 15 s and after 60 s",
        "no growth",
        late <= early.saturating_add(u64::from(PACE)),
        format!("{early} · {late}"),
    );
    server.stop()
}
