//! Operations on the whole queue: comparison with the model, and draining at the end.

use super::calls::{self, Seen};
use super::model::{Delivery, ModelState, Problem, State, ensure};
use super::node::{claim, end};
use super::ops::{End, NODES};
use super::upkeep;
use gatehouse_store::Conn;

type Done = Result<(), Problem>;

/// Compares every visible delivery with the model.
pub async fn compare(model_state: &ModelState, conn: &mut Conn) -> Done {
    let seen = calls::everything(conn).await?;
    let expected: Vec<Seen> = model_state
        .deliveries
        .iter()
        .map(|(number, one)| Seen {
            number: *number,
            status: match &one.state {
                State::Waiting(_) => "open",
                State::Running { .. } => "processing",
                State::Completed => "completed",
                State::Failed => "failed",
            },
            attempts: one.attempts,
            owner: match &one.state {
                State::Running { owner, .. } => Some(owner.clone()),
                _ => None,
            },
        })
        .collect();
    let differs = seen.iter().zip(&expected).find(|(a, b)| a != b);
    ensure!(
        differs.is_none() && seen.len() == expected.len(),
        "the rows differ from the model: {} and {}; first {differs:?}",
        seen.len(),
        expected.len()
    );
    Ok(())
}

/// Restarts the nodes and does all periodic work once. Returns whether any delivery is still open.
pub async fn settle(model_state: &mut ModelState, conn: &mut Conn) -> Result<bool, Problem> {
    for node in 0..NODES {
        upkeep::crash(model_state, conn, node).await?;
        upkeep::see_leases(model_state, conn, node).await?;
        upkeep::return_lost(model_state, conn, node).await?;
        upkeep::sweep(model_state, conn, 1000).await?;
        let stranded = calls::stranded(conn).await?;
        upkeep::give_places(model_state, conn, &stranded).await?;
        if model_state.ghosts.is_empty() {
            model_state.stranded.clear();
        }
        upkeep::see_behind_vault(model_state, conn, node).await?;
        upkeep::release(model_state, conn, node).await?;
        claim(model_state, conn, node, 1000, true).await?;
        while !model_state.nodes[node].running.is_empty() {
            end(model_state, conn, node, 0, End::Completed).await?;
        }
    }
    Ok(model_state.deliveries.values().any(Delivery::is_open))
}
