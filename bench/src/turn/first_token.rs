//! The time to the first token of turns that run one after the other, alternately through the gateway and directly.

use super::model::Plan;
use super::{Compared, Site};
use crate::table::{Goal, Report};
use anyhow::Result;

/// Number of sessions. The turns use them in rotation, so that no session becomes long.
const SESSIONS: usize = 20;

/// Measures the first token.
pub async fn measure(site: &Site, turns: usize, report: &mut Report) -> Result<()> {
    let gateway = site.start()?;
    let sessions = site.sessions(&gateway, SESSIONS).await?;
    let mut chat = site.chat(&gateway).await?;
    let mut direct = site.direct().await?;
    let mut compared = Compared::default();
    // The first turn of each session warms up caches and connections.
    for (number, session) in sessions.iter().cycle().take(SESSIONS + turns).enumerate() {
        let theirs = direct.ask(Plan::Ping).await?;
        let ours = chat.turn(session, Plan::Ping).await?;
        if number >= SESSIONS {
            compared.theirs.push(theirs.first_token);
            compared.ours.push(ours.first_token);
        }
    }
    compared.report(report, "first token", Goal::AtMost(3.0));
    gateway.stop()
}
