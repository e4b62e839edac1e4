//! The latency of a healthy webhook while the channel of another webhook hangs, and while agents have turns that
//! take a minute.

use super::site::{self, Receiver};
use crate::figures::{greatest, median, millis};
use crate::owner::Installation;
use crate::table::{Goal, Report};
use anyhow::{Result, ensure};
use axum::Router;
use axum::response::IntoResponse;
use axum::routing::post;
use serde_json::json;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;

/// Number of deliveries that wait for the hanging channel.
const HANGING: usize = 200;
/// Number of busy agents.
const AGENTS: usize = 4;
const TURN: Duration = Duration::from_mins(1);
/// Number of deliveries of the healthy webhook.
const SAMPLES: usize = 50;
const PATIENCE: Duration = Duration::from_secs(90);

/// Starts a model that takes a minute and then answers with one word.
async fn slow_model() -> Result<SocketAddr> {
    let answer = || async {
        tokio::time::sleep(TURN).await;
        let text = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Done.\"},\
            \"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
        ([("content-type", "text/event-stream")], text).into_response()
    };
    let router = Router::new().route("/v1/chat/completions", post(answer));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok(address)
}

/// Measures both cases.
pub async fn measure(report: &mut Report) -> Result<()> {
    let model = slow_model().await?;
    let provider = [
        ("SERVICE_MODELS__DEFAULT", "slow/m".to_owned()),
        ("SERVICE_MODELS__PROVIDERS__SLOW__KIND", "openai".to_owned()),
        (
            "SERVICE_MODELS__PROVIDERS__SLOW__BASE_URL",
            format!("http://{model}/v1"),
        ),
    ];
    for (what, hangs) in [
        ("another's channel hangs", true),
        ("four agents take a minute each", false),
    ] {
        let installation = Installation::set_up(&site::environment(provider.to_vec())).await?;
        let mut delays = beside(&installation, hangs).await?;
        report.value(
            format!("a healthy webhook's delay while {what}, longest of {SAMPLES}"),
            Goal::AtMost(50.0),
            millis(greatest(&delays)),
            (1, "ms"),
        );
        report.value(
            "the same, p50",
            Goal::Reported,
            millis(median(&mut delays)),
            (1, "ms"),
        );
    }
    Ok(())
}

/// Measures the time from sending a delivery until its message arrives.
async fn beside(installation: &Installation, hangs: bool) -> Result<Vec<Duration>> {
    let server = installation.start()?;
    // Accepts connections and never responds.
    let silence = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let (receiver, address) = Receiver::start().await?;
    site::channel(installation, &server, "silent", silence.local_addr()?).await?;
    site::channel(installation, &server, "receiver", address).await?;
    let (more, count) = if hangs {
        let more = json!({ "deliver_only": true, "deliver_to": "http:silent" });
        (more, HANGING)
    } else {
        (json!({}), AGENTS)
    };
    let troubled = site::webhook(installation, &server, more).await?;
    let healthy = json!({ "deliver_only": true, "deliver_to": "http:receiver" });
    let healthy = site::webhook(installation, &server, healthy).await?;
    let mut client = server.connect().await?;
    for _ in 0..count {
        troubled.send(&mut client).await?;
    }
    // These deliveries must be in progress before the others arrive.
    tokio::time::sleep(Duration::from_secs(2)).await;
    let mut delays = Vec::new();
    for number in 0..SAMPLES {
        let begun = Instant::now();
        healthy.send(&mut client).await?;
        let came = loop {
            if let Some(came) = receiver.at(number) {
                break came;
            }
            ensure!(
                begun.elapsed() < PATIENCE,
                "a healthy webhook waits forever"
            );
            tokio::time::sleep(Duration::from_millis(1)).await;
        };
        delays.push(came.saturating_duration_since(begun));
        if begun.elapsed() > TURN / 2 {
            // The hanging deliveries block the healthy webhook. One sample proves it.
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    server.kill()?;
    Ok(delays)
}
