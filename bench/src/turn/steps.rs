//! The cost of a tool step, in which the gateway runs `calc`, stores the call and its result, and sends the next
//! request to the model.

use super::model::Plan;
use super::{Compared, Site};
use crate::table::{Goal, Report};
use anyhow::Result;

/// Number of steps of a turn. By default, an agent takes at most 12.
const STEPS: u32 = 10;

/// Measures turns with steps and without, alternately.
pub async fn measure(site: &Site, steps: usize, report: &mut Report) -> Result<()> {
    let gateway = site.start()?;
    let mut chat = site.chat(&gateway).await?;
    let mut direct = site.direct().await?;
    let turns = steps.div_ceil(usize::try_from(STEPS)?);
    let sessions = site.sessions(&gateway, 1 + turns).await?;
    let plan = Plan::Steps(usize::try_from(STEPS)?);
    let mut compared = Compared::default();
    for (number, session) in sessions.iter().enumerate() {
        let without = chat.turn(session, Plan::Ping).await?;
        let with = chat.turn(session, plan).await?;
        let asked = direct.ask(Plan::Ping).await?;
        // The first turn warms up the tool and the connections.
        if number > 0 {
            let each = with.first_token.saturating_sub(without.first_token) / STEPS;
            compared.ours.push(each);
            compared.theirs.push(asked.whole);
        }
    }
    compared.report(report, "a tool step", Goal::AtMost(5.0));
    gateway.stop()
}
