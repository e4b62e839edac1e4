//! Runs each operation against the store, as the worker would, and against the model.

use super::calls::{self, Requeue, Run};
use super::model::{Delivery, Hold, MAX_ATTEMPTS, Problem, State, Webhook, World, ensure};
use super::ops::{End, Op, WEBHOOKS};
use super::upkeep;
use gatehouse_store::Conn;

/// How long a delivery waits if it needed the vault, and the vault was unsealed before it was returned.
const VAULT_PAUSE: i64 = 5;

type Done = Result<(), Problem>;

/// Creates the webhooks and starts the nodes.
pub async fn begin(world: &mut World, conn: &mut Conn) -> Done {
    for place in 0..WEBHOOKS {
        add_webhook(world, conn, place).await?;
    }
    Ok(())
}

async fn add_webhook(world: &mut World, conn: &mut Conn, place: usize) -> Done {
    world.next_webhook += 1;
    let id = format!("hook_{}", world.next_webhook);
    calls::create_webhook(conn, &id).await?;
    let webhook = Webhook { id, enabled: true };
    if let Some(old) = world.webhooks.get_mut(place) {
        *old = webhook;
    } else {
        world.webhooks.push(webhook);
    }
    Ok(())
}

pub async fn apply(world: &mut World, conn: &mut Conn, op: Op) -> Done {
    match op {
        Op::Accept {
            webhook,
            session,
            queued,
        } => accept(world, conn, webhook, session, queued).await,
        Op::Claim {
            node,
            limit,
            answered,
        } => claim(world, conn, node, limit, answered).await,
        Op::End { node, run, how } => end(world, conn, node, run, how).await,
        Op::Renew { node } => upkeep::renew(world, conn, node).await,
        Op::Crash { node } => upkeep::crash(world, conn, node).await,
        Op::SeeLeases { node } => upkeep::see_leases(world, conn, node).await,
        Op::ReturnLost { node } => upkeep::return_lost(world, conn, node).await,
        Op::SeeStranded { node } => {
            world.nodes[node].stranded = calls::stranded(conn).await?;
            Ok(())
        }
        Op::Revive { node } => upkeep::revive(world, conn, node).await,
        Op::SeeBehindVault { node } => upkeep::see_behind_vault(world, conn, node).await,
        Op::Release { node } => upkeep::release(world, conn, node).await,
        Op::Clock { seconds } => {
            // Not before the webhooks were created, and within the range of a timestamp.
            world.now = (world.now + seconds).clamp(-50 * 365 * 86_400, 50 * 365 * 86_400);
            Ok(())
        }
        Op::Seal { sealed } => {
            world.sealed = sealed;
            Ok(())
        }
        Op::Enable { webhook, enabled } => {
            let one = &mut world.webhooks[webhook];
            one.enabled = enabled;
            let found = calls::enable_webhook(conn, &one.id, enabled).await?;
            ensure!(found, "webhook {} is not there", one.id);
            Ok(())
        }
        Op::Delete { webhook } => {
            let id = world.webhooks[webhook].id.clone();
            let found = calls::delete_webhook(conn, &id, world.now).await?;
            ensure!(found, "webhook {id} is not there");
            world.delete(&id);
            add_webhook(world, conn, webhook).await
        }
        Op::Sweep { rows } => upkeep::sweep(world, conn, rows).await,
        Op::Replay { delivery } => replay(world, conn, delivery).await,
        Op::Cancel { delivery } => cancel(world, conn, delivery).await,
        Op::Retain => upkeep::retain(world, conn).await,
        Op::RollBack => Err(Problem::RollBack),
    }
}

/// Adds a delivery to the store and the model.
async fn store(world: &mut World, conn: &mut Conn, new: Delivery, replay_of: Option<u32>) -> Done {
    let number = world.next_number;
    world.next_number += 1;
    let accept = calls::Accept {
        number,
        webhook: &new.webhook,
        session: &new.session,
        queued: new.state != State::Waiting(Hold::Unqueued),
        replay_of,
        now: world.now,
    };
    ensure!(
        calls::accept(conn, accept).await?,
        "delivery {number} was not stored"
    );
    world.deliveries.insert(number, new);
    Ok(())
}

async fn accept(
    world: &mut World,
    conn: &mut Conn,
    webhook: usize,
    session: usize,
    queued: bool,
) -> Done {
    // A disabled webhook responds with 404.
    if !world.webhooks[webhook].enabled {
        return Ok(());
    }
    let session = world.session(webhook, session);
    let hold = if queued {
        Hold::Since(world.now)
    } else {
        Hold::Unqueued
    };
    let new = Delivery {
        webhook: world.webhooks[webhook].id.clone(),
        session,
        state: State::Waiting(hold),
        attempts: 0,
    };
    store(world, conn, new, None).await
}

async fn replay(world: &mut World, conn: &mut Conn, pick: usize) -> Done {
    let ended = world.numbers(|one| !one.is_open());
    if ended.is_empty() {
        return Ok(());
    }
    let number = ended[pick % ended.len()];
    let Some(first) = world.deliveries.get(&number) else {
        return Ok(());
    };
    let again = Delivery {
        state: State::Waiting(Hold::Since(world.now)),
        attempts: 0,
        ..first.clone()
    };
    store(world, conn, again, Some(number)).await
}

async fn cancel(world: &mut World, conn: &mut Conn, pick: usize) -> Done {
    let all = world.numbers(|_| true);
    if all.is_empty() {
        return Ok(());
    }
    let number = all[pick % all.len()];
    let Some(cancelled) = calls::cancel(conn, number, world.now).await? else {
        return Ok(());
    };
    let is_open = world.deliveries.get(&number).is_some_and(Delivery::is_open);
    ensure!(
        cancelled == is_open,
        "delivery {number} was cancelled: {cancelled}, and it was open: {is_open}"
    );
    if cancelled {
        world.set(number, State::Failed);
        world.wake_next(number);
    }
    Ok(())
}

pub async fn claim(
    world: &mut World,
    conn: &mut Conn,
    node: usize,
    limit: usize,
    answered: bool,
) -> Done {
    let owner = world.owner(node);
    let (claimed, is_all) = calls::claim(conn, &owner, world.now, limit, &world.disabled()).await?;
    ensure!(
        claimed.len() <= limit,
        "{} were claimed, not {limit}",
        claimed.len()
    );
    let until = world.now + calls::LEASE_SECONDS;
    for one in &claimed {
        world.claim(node, one, until)?;
        let running = &mut world.nodes[node].running;
        // Replaces a run that lost its lease without noticing yet.
        running.retain(|old| *old != one.number);
        if answered {
            running.push(one.number);
        }
    }
    if is_all && claimed.len() < limit {
        world.ensure_all_claimed()?;
    }
    Ok(())
}

pub async fn end(world: &mut World, conn: &mut Conn, node: usize, pick: usize, how: End) -> Done {
    let running = &mut world.nodes[node].running;
    if running.is_empty() {
        return Ok(());
    }
    let number = running.swap_remove(pick % running.len());
    let owner = world.owner(node);
    let (is_own, now) = (world.is_own(number, &owner), world.now);
    let attempts = world.deliveries.get(&number).map_or(0, |one| one.attempts);
    let back = |next, uncount, needs_vault| Requeue {
        next,
        uncount,
        needs_vault,
    };
    let run = Run {
        number,
        owner: &owner,
        attempt: attempts,
    };
    let requeue = match how {
        End::Completed | End::Failed => None,
        End::Retry(_) if attempts >= MAX_ATTEMPTS => None,
        End::Retry(wait) => Some(back(Some(now + wait), false, false)),
        End::NeedsVault if world.sealed => Some(back(None, true, true)),
        End::NeedsVault => Some(back(Some(now + VAULT_PAUSE), true, true)),
        End::NotBegun => Some(back(Some(now), true, false)),
        End::Interrupted => Some(back(Some(now), false, false)),
    };
    let completed = matches!(how, End::Completed);
    let was_own = match requeue {
        None => calls::finish(conn, run, now, completed).await?,
        Some(requeue) => calls::requeue(conn, run, requeue).await?,
    };
    if world.is_ghost(number) {
        return Ok(());
    }
    ensure!(
        was_own == is_own,
        "the end of {number} by {owner} was taken: {was_own}, and it should be {is_own}: {:?}",
        world.deliveries.get(&number)
    );
    if !was_own {
        return Ok(());
    }
    match requeue {
        None => {
            let ended = if completed {
                State::Completed
            } else {
                State::Failed
            };
            world.set(number, ended);
            world.wake_next(number);
        }
        Some(requeue) => {
            let hold = requeue.next.map_or(Hold::Vault, Hold::Until);
            world.set(number, State::Waiting(hold));
            if requeue.uncount
                && let Some(one) = world.deliveries.get_mut(&number)
            {
                one.attempts -= 1;
            }
        }
    }
    Ok(())
}
