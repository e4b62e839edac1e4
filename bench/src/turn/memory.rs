//! The memory of many idle sessions, and of one long session while turns run in it.

use super::model::Plan;
use super::{Compared, Site};
use crate::figures::mebibytes;
use crate::gateway::Server;
use crate::table::{Goal, Report};
use anyhow::{Context, Result};
use gatehouse_domain::id::{MessageId, SessionId, TurnId};
use gatehouse_domain::{Clock, SystemClock, SystemRandom};
use gatehouse_store::{ChatMessageRow, Store, StoreError};
use serde_json::json;
use std::sync::Arc;
use tokio::task::JoinSet;

/// Connections that create sessions.
const CONNECTIONS: usize = 16;
/// Number of sessions that warm up the gateway and are not measured.
const WARM: usize = 100;
/// Turns of the seeded session that are stored in one transaction.
const GROUP: usize = 500;
/// Turns that run in the long session.
const TURNS: usize = 20;

/// Measures the growth of memory while sessions with one answered message are created.
pub async fn idle(site: &Site, sessions: usize, report: &mut Report) -> Result<()> {
    let gateway = site.start()?;
    create(site, &gateway, WARM).await?;
    let before = gateway.resident_bytes()?;
    create(site, &gateway, sessions).await?;
    let grown = gateway.resident_bytes()?.saturating_sub(before);
    let what = format!("memory of {sessions} idle sessions");
    report.value(what, Goal::Reported, mebibytes(grown), (1, "MiB"));
    gateway.stop()
}

async fn create(site: &Site, gateway: &Server, sessions: usize) -> Result<()> {
    let mut tasks = JoinSet::new();
    let cookie: Arc<str> = site.installation.cookie().into();
    for number in 0..CONNECTIONS {
        let (mut client, cookie) = (gateway.connect().await?, Arc::clone(&cookie));
        let mine = (number..sessions).step_by(CONNECTIONS).count();
        tasks.spawn(async move {
            let params = json!({ "text": Plan::Ping.text() });
            let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "chat.send_sync",
                "params": params });
            let headers = [("cookie", &*cookie)];
            let body = call.to_string();
            let ask = crate::http1::request("POST", "/api/rpc", &headers, Some(&body));
            for _ in 0..mine {
                let answer = client.exchange(&ask).await?;
                answer.expect_ok()?;
                let answer: serde_json::Value = serde_json::from_slice(answer.body)?;
                answer.get("result").with_context(|| answer.to_string())?;
            }
            anyhow::Ok(())
        });
    }
    while let Some(done) = tasks.join_next().await {
        done??;
    }
    Ok(())
}

/// Measures the growth of memory, and the time to the first token, while turns run in a session with many messages.
pub async fn long(site: &Site, messages: usize, report: &mut Report) -> Result<()> {
    let gateway = site.start()?;
    let session = site.sessions(&gateway, 1).await?.pop();
    let session = session.context("no session")?;
    gateway.stop()?;
    seed(site, &session, messages).await?;
    let gateway = site.start()?;
    let mut chat = site.chat(&gateway).await?;
    let mut direct = site.direct().await?;
    for other in &site.sessions(&gateway, TURNS).await? {
        chat.turn(other, Plan::Ping).await?;
    }
    let before = gateway.resident_bytes()?;
    let mut compared = Compared::default();
    // The first turn summarizes the messages that do not fit into the model's context.
    for number in 0..=TURNS {
        let theirs = direct.ask(Plan::Ping).await?;
        let ours = chat.turn(&session, Plan::Ping).await?;
        if number > 0 {
            compared.theirs.push(theirs.first_token);
            compared.ours.push(ours.first_token);
        }
    }
    let page = json!({ "session": session, "limit": 500 });
    site.installation
        .rpc(&gateway, "chat.history", page)
        .await?;
    let grown = gateway.resident_bytes()?.saturating_sub(before);
    let what = format!("memory of a session with {messages} messages, {TURNS} turns in it");
    report.value(what, Goal::Reported, mebibytes(grown), (1, "MiB"));
    let what = format!("first token in a session with {messages} messages");
    compared.report(report, &what, Goal::Reported);
    gateway.stop()
}

/// Stores turns that each have a question and an answer.
async fn seed(site: &Site, session: &str, messages: usize) -> Result<()> {
    let store = Store::open(&crate::prepare::location(site.installation.data_dir())).await?;
    let session = SessionId::from_text(session);
    let turns = messages / 2;
    for group in (0..turns).step_by(GROUP) {
        let (session, count) = (session.clone(), GROUP.min(turns - group));
        let write = store.write(move |conn| {
            let session = session.clone();
            Box::pin(async move {
                let clock = SystemClock::new();
                for _ in 0..count {
                    let turn = TurnId::generate(&clock, &SystemRandom);
                    let claimed = conn.claim_chat_turn(&session, "default").await?;
                    let number = claimed.unwrap_or_default();
                    for (role, origin) in [("user", "owner"), ("assistant", "model")] {
                        let id = MessageId::generate(&clock, &SystemRandom);
                        let (session, turn, now) = (session.clone(), turn.clone(), clock.now());
                        let row = ChatMessageRow::new(session, turn, id, role, origin, now);
                        let row = ChatMessageRow {
                            turn_no: number,
                            content: "A sentence of ordinary length. ".repeat(8),
                            ..row
                        };
                        conn.insert_chat_message(&row).await?;
                    }
                }
                Ok::<_, StoreError>(())
            })
        });
        write.await?;
    }
    store.close().await;
    Ok(())
}
