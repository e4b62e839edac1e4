//! Operations on the whole queue: comparison with the model, and draining at the end.

use super::calls::{self, Seen};
use super::model::{Delivery, Problem, State, World, ensure};
use super::node::{claim, end};
use super::ops::{End, NODES};
use super::upkeep;
use gatehouse_store::Conn;

type Done = Result<(), Problem>;

/// Compares every visible delivery with the model.
pub async fn compare(world: &World, conn: &mut Conn) -> Done {
    let seen = calls::everything(conn).await?;
    let expected: Vec<Seen> = world
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

/// Restarts the nodes and does all periodic work once. Returns whether anything is still open.
pub async fn settle(world: &mut World, conn: &mut Conn) -> Result<bool, Problem> {
    for node in 0..NODES {
        upkeep::crash(world, conn, node).await?;
        upkeep::see_leases(world, conn, node).await?;
        upkeep::return_lost(world, conn, node).await?;
        upkeep::sweep(world, conn, 1000).await?;
        let stranded = calls::stranded(conn).await?;
        upkeep::give_places(world, conn, &stranded).await?;
        if world.ghosts.is_empty() {
            world.stranded.clear();
        }
        upkeep::see_behind_vault(world, conn, node).await?;
        upkeep::release(world, conn, node).await?;
        claim(world, conn, node, 1000, true).await?;
        while !world.nodes[node].running.is_empty() {
            end(world, conn, node, 0, End::Completed).await?;
        }
    }
    Ok(world.deliveries.values().any(Delivery::is_open))
}
