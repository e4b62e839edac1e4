//! The cost of a token in a long answer, and the delay of a token in an answer at a model's pace.

use super::model::Plan;
use super::timing::Timing;
use super::{Compared, Site};
use crate::figures::{median, micros, percentile};
use crate::table::{Goal, Report};
use anyhow::Result;

/// Number of tokens of an answer at full speed.
const TOKENS: usize = 2_000;
/// Number of tokens of an answer at a model's pace.
const PACED: usize = 200;

/// Measures both.
pub async fn measure(site: &Site, rounds: usize, report: &mut Report) -> Result<()> {
    let gateway = site.start()?;
    let mut chat = site.chat(&gateway).await?;
    let mut direct = site.direct().await?;
    let sessions = site.sessions(&gateway, 1 + rounds).await?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let mut delays = Compared::default();
    for (number, session) in sessions.iter().enumerate() {
        let direct_timing = direct.ask(Plan::Tokens(TOKENS)).await?;
        let own_timing = chat.turn(session, Plan::Tokens(TOKENS)).await?;
        // The first round warms up.
        if number > 0 {
            theirs.push(micros_each(&direct_timing));
            ours.push(micros_each(&own_timing));
        }
    }
    for session in sessions.iter().take(rounds.min(5)) {
        delays
            .theirs
            .extend(direct.ask(Plan::Paced(PACED)).await?.delays);
        delays
            .ours
            .extend(chat.turn(session, Plan::Paced(PACED)).await?.delays);
    }
    let (own, direct) = (median(&mut ours), median(&mut theirs));
    let what = format!("a token, {TOKENS} at full speed");
    let aim = Goal::AtMost(50.0);
    report.value(format!("{what}, added"), aim, own - direct, (1, "µs"));
    report.value(
        format!("{what}, asked directly"),
        Goal::Reported,
        direct,
        (1, "µs"),
    );
    for (name, share) in [("p50", 0.5), ("p99", 0.99)] {
        let added = micros(percentile(&mut delays.ours, share))
            - micros(percentile(&mut delays.theirs, share));
        let what = format!("delay of a token, one every 5 ms, added, {name}");
        report.value(what, Goal::Reported, added, (0, "µs"));
    }
    gateway.stop()
}

/// Returns the time from the first token to the last one, divided by the number of tokens after the first.
#[expect(clippy::cast_precision_loss, reason = "a small count")]
fn micros_each(timing: &Timing) -> f64 {
    micros(timing.last_token.saturating_sub(timing.first_token)) / (TOKENS - 1) as f64
}
