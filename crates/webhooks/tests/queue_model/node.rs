//! Runs each operation against the store, like the worker, and against the model.

use super::calls::{self, Requeue, Run};
use super::model::{Delivery, Hold, MAX_ATTEMPTS, ModelState, Problem, State, Webhook, ensure};
use super::ops::{End, Op, WEBHOOKS};
use super::upkeep;
use gatehouse_store::Conn;

/// How long a delivery waits if it needed the vault, and the vault was unsealed before the delivery was returned.
const VAULT_PAUSE: i64 = 5;

type Done = Result<(), Problem>;

/// Creates the webhooks and starts the nodes.
pub async fn begin(model_state: &mut ModelState, conn: &mut Conn) -> Done {
    for place in 0..WEBHOOKS {
        add_webhook(model_state, conn, place).await?;
    }
    Ok(())
}

async fn add_webhook(model_state: &mut ModelState, conn: &mut Conn, place: usize) -> Done {
    model_state.next_webhook += 1;
    let id = format!("hook_{}", model_state.next_webhook);
    calls::create_webhook(conn, &id).await?;
    let webhook = Webhook { id, enabled: true };
    if let Some(old) = model_state.webhooks.get_mut(place) {
        *old = webhook;
    } else {
        model_state.webhooks.push(webhook);
    }
    Ok(())
}

pub async fn apply(model_state: &mut ModelState, conn: &mut Conn, op: Op) -> Done {
    match op {
        Op::Accept {
            webhook,
            session,
            queued,
        } => accept(model_state, conn, webhook, session, queued).await,
        Op::Claim {
            node,
            limit,
            answered,
        } => claim(model_state, conn, node, limit, answered).await,
        Op::End { node, run, how } => end(model_state, conn, node, run, how).await,
        Op::Renew { node } => upkeep::renew(model_state, conn, node).await,
        Op::Crash { node } => upkeep::crash(model_state, conn, node).await,
        Op::SeeLeases { node } => upkeep::see_leases(model_state, conn, node).await,
        Op::ReturnLost { node } => upkeep::return_lost(model_state, conn, node).await,
        Op::SeeStranded { node } => {
            model_state.nodes[node].stranded = calls::stranded(conn).await?;
            Ok(())
        }
        Op::Revive { node } => upkeep::revive(model_state, conn, node).await,
        Op::SeeBehindVault { node } => upkeep::see_behind_vault(model_state, conn, node).await,
        Op::Release { node } => upkeep::release(model_state, conn, node).await,
        Op::Clock { seconds } => {
            // The time must not be before the creation of the webhooks, and must be in the range of a timestamp.
            model_state.now =
                (model_state.now + seconds).clamp(-50 * 365 * 86_400, 50 * 365 * 86_400);
            Ok(())
        }
        Op::Seal { sealed } => {
            model_state.sealed = sealed;
            Ok(())
        }
        Op::Enable { webhook, enabled } => {
            let one = &mut model_state.webhooks[webhook];
            one.enabled = enabled;
            let found = calls::enable_webhook(conn, &one.id, enabled).await?;
            ensure!(found, "webhook {} is not there", one.id);
            Ok(())
        }
        Op::Delete { webhook } => {
            let id = model_state.webhooks[webhook].id.clone();
            let found = calls::delete_webhook(conn, &id, model_state.now).await?;
            ensure!(found, "webhook {id} is not there");
            model_state.delete(&id);
            add_webhook(model_state, conn, webhook).await
        }
        Op::Sweep { rows } => upkeep::sweep(model_state, conn, rows).await,
        Op::Replay { delivery } => replay(model_state, conn, delivery).await,
        Op::Cancel { delivery } => cancel(model_state, conn, delivery).await,
        Op::Retain => upkeep::retain(model_state, conn).await,
        Op::RollBack => Err(Problem::RollBack),
    }
}

/// Adds a delivery to the store and the model.
async fn store(
    model_state: &mut ModelState,
    conn: &mut Conn,
    new: Delivery,
    replay_of: Option<u32>,
) -> Done {
    let number = model_state.next_number;
    model_state.next_number += 1;
    let accept = calls::Accept {
        number,
        webhook: &new.webhook,
        session: &new.session,
        queued: new.state != State::Waiting(Hold::Unqueued),
        replay_of,
        now: model_state.now,
    };
    ensure!(
        calls::accept(conn, accept).await?,
        "delivery {number} was not stored"
    );
    model_state.deliveries.insert(number, new);
    Ok(())
}

async fn accept(
    model_state: &mut ModelState,
    conn: &mut Conn,
    webhook: usize,
    session: usize,
    queued: bool,
) -> Done {
    // A disabled webhook responds with 404.
    if !model_state.webhooks[webhook].enabled {
        return Ok(());
    }
    let session = model_state.session(webhook, session);
    let hold = if queued {
        Hold::Since(model_state.now)
    } else {
        Hold::Unqueued
    };
    let new = Delivery {
        webhook: model_state.webhooks[webhook].id.clone(),
        session,
        state: State::Waiting(hold),
        attempts: 0,
        has_error: false,
    };
    store(model_state, conn, new, None).await
}

async fn replay(model_state: &mut ModelState, conn: &mut Conn, pick: usize) -> Done {
    let ended = model_state.numbers(|one| !one.is_open());
    if ended.is_empty() {
        return Ok(());
    }
    let number = ended[pick % ended.len()];
    let Some(first) = model_state.deliveries.get(&number) else {
        return Ok(());
    };
    let again = Delivery {
        state: State::Waiting(Hold::Since(model_state.now)),
        attempts: 0,
        has_error: false,
        ..first.clone()
    };
    store(model_state, conn, again, Some(number)).await
}

async fn cancel(model_state: &mut ModelState, conn: &mut Conn, pick: usize) -> Done {
    let all = model_state.numbers(|_| true);
    if all.is_empty() {
        return Ok(());
    }
    let number = all[pick % all.len()];
    let Some(cancelled) = calls::cancel(conn, number, model_state.now).await? else {
        return Ok(());
    };
    let is_open = model_state
        .deliveries
        .get(&number)
        .is_some_and(Delivery::is_open);
    ensure!(
        cancelled == is_open,
        "delivery {number} was cancelled: {cancelled}, and it was open: {is_open}"
    );
    if cancelled {
        model_state.set(number, State::Failed);
        model_state.wake_next(number);
    }
    Ok(())
}

pub async fn claim(
    model_state: &mut ModelState,
    conn: &mut Conn,
    node: usize,
    limit: usize,
    answered: bool,
) -> Done {
    let owner = model_state.owner(node);
    let (claimed, is_all) = calls::claim(
        conn,
        &owner,
        model_state.now,
        limit,
        &model_state.disabled(),
    )
    .await?;
    ensure!(
        claimed.len() <= limit,
        "{} were claimed, not {limit}",
        claimed.len()
    );
    let until = model_state.now + calls::LEASE_SECONDS;
    for one in &claimed {
        model_state.claim(node, one, until)?;
        let running = &mut model_state.nodes[node].running;
        // Replaces a run whose lost lease was not detected yet.
        running.retain(|old| *old != one.number);
        if answered {
            running.push(one.number);
        }
    }
    if is_all && claimed.len() < limit {
        model_state.ensure_all_claimed()?;
    }
    Ok(())
}

pub async fn end(
    model_state: &mut ModelState,
    conn: &mut Conn,
    node: usize,
    pick: usize,
    how: End,
) -> Done {
    let running = &mut model_state.nodes[node].running;
    if running.is_empty() {
        return Ok(());
    }
    let number = running.swap_remove(pick % running.len());
    let owner = model_state.owner(node);
    let (is_own, now) = (model_state.is_own(number, &owner), model_state.now);
    let attempts = model_state
        .deliveries
        .get(&number)
        .map_or(0, |one| one.attempts);
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
        End::NeedsVault if model_state.sealed => Some(back(None, true, true)),
        End::NeedsVault => Some(back(Some(now + VAULT_PAUSE), true, true)),
        End::NotBegun => Some(back(Some(now), true, false)),
        End::Interrupted => Some(back(Some(now), false, false)),
    };
    let completed = matches!(how, End::Completed);
    let was_own = match requeue {
        None => calls::finish(conn, run, now, completed).await?,
        Some(requeue) => calls::requeue(conn, run, requeue).await?,
    };
    if model_state.is_ghost(number) {
        return Ok(());
    }
    ensure!(
        was_own == is_own,
        "the end of {number} by {owner} was taken: {was_own}, and it should be {is_own}: {:?}",
        model_state.deliveries.get(&number)
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
            model_state.set(number, ended);
            model_state.wake_next(number);
        }
        Some(requeue) => {
            let hold = requeue.next.map_or(Hold::Vault, Hold::Until);
            model_state.set(number, State::Waiting(hold));
            if let Some(one) = model_state.deliveries.get_mut(&number) {
                one.attempts -= i64::from(requeue.uncount);
                one.has_error = true;
            }
        }
    }
    Ok(())
}
