//! The time to the first token of turns that begin at the same moment. Each turn has its own session. One socket
//! observes all of them.

use super::model::Plan;
use super::timing::Chat;
use super::{Compared, Site};
use crate::gateway::Server;
use crate::http1::request;
use crate::table::{Goal, Report};
use anyhow::{Context, Result};
use serde_json::json;
use std::collections::HashMap;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// Measures rounds, alternately through the gateway and directly.
pub async fn measure(
    site: &Site,
    (at_once, rounds): (usize, usize),
    report: &mut Report,
) -> Result<()> {
    let gateway = site.start()?;
    let mut chat = site.chat(&gateway).await?;
    let sessions = site.sessions(&gateway, at_once).await?;
    let mut compared = Compared::default();
    let before = gateway.processor_time()?;
    for round in 0..=rounds {
        let theirs = directly(site, at_once).await?;
        let ours = through(site, &gateway, &mut chat, &sessions).await?;
        // The first round warms up connections.
        if round > 0 {
            compared.theirs.extend(theirs);
            compared.ours.extend(ours);
        }
    }
    let used = gateway.processor_time()?.saturating_sub(before);
    let what = format!("first token of {at_once} turns at once");
    // No goal: the delay depends mostly on the processor time of the turns, which is reported below.
    compared.report(report, &what, Goal::Reported);
    let turns = u32::try_from(at_once * (rounds + 1))?;
    let each = used.as_secs_f64() * 1e3 / f64::from(turns.max(1));
    let what = "processor time of a turn";
    report.value(what, Goal::Reported, each, (2, "ms"));
    gateway.stop()
}

async fn directly(site: &Site, at_once: usize) -> Result<Vec<Duration>> {
    let mut connections = Vec::with_capacity(at_once);
    for _ in 0..at_once {
        connections.push(site.direct().await?);
    }
    let mut tasks = JoinSet::new();
    for mut connection in connections {
        tasks.spawn(async move { connection.ask(Plan::Ping).await });
    }
    let mut firsts = Vec::with_capacity(at_once);
    while let Some(done) = tasks.join_next().await {
        firsts.push(done??.first_token);
    }
    Ok(firsts)
}

async fn through(
    site: &Site,
    gateway: &Server,
    chat: &mut Chat,
    sessions: &[String],
) -> Result<Vec<Duration>> {
    let cookie = site.installation.cookie();
    let mut ready = Vec::with_capacity(sessions.len());
    for session in sessions {
        let params = json!({ "session": session, "text": Plan::Ping.text() });
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "chat.send", "params": params });
        let ask = request(
            "POST",
            "/api/rpc",
            &[("cookie", cookie)],
            Some(&call.to_string()),
        );
        ready.push((session.clone(), gateway.connect().await?, ask));
    }
    let mut tasks = JoinSet::new();
    for (session, mut client, ask) in ready {
        tasks.spawn(async move {
            let begun = Instant::now();
            client.exchange(&ask).await?.expect_ok()?;
            anyhow::Ok((session, begun))
        });
    }
    let (mut first, mut done) = (HashMap::new(), 0);
    while done < sessions.len() {
        let (event, now) = chat.next().await?;
        if let Some(session) = event.session_of("chat.delta") {
            first.entry(session.to_owned()).or_insert(now);
        } else if event.session_of("chat.done").is_some() {
            event.expect_answer()?;
            done += 1;
        }
    }
    let mut took = Vec::with_capacity(sessions.len());
    while let Some(sent) = tasks.join_next().await {
        let (session, begun) = sent??;
        let first = first.get(&session).context("a turn without a token")?;
        took.push(first.saturating_duration_since(begun));
    }
    Ok(took)
}
