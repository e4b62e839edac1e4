//! A node's periodic work: leases, parked deliveries, and retention.

use super::calls::{self, LONGEST_WAIT_SECONDS, Requeue, Run};
use super::model::{Delivery, Hold, Lease, MAX_ATTEMPTS, ModelState, Problem, State, ensure};
use gatehouse_store::Conn;

/// How long a delivery waits after its worker has died twice.
const AFTER_CRASH: i64 = 10;

type Done = Result<(), Problem>;

/// Renews leases like the worker: drops runs whose lease was lost, and returns leases that have no run.
pub async fn renew(model_state: &mut ModelState, conn: &mut Conn, node: usize) -> Done {
    let (owner, until) = (
        model_state.owner(node),
        model_state.now + calls::LEASE_SECONDS,
    );
    let mut mine = calls::renew(conn, &owner, model_state.now).await?;
    mine.retain(|number| !model_state.is_ghost(*number));
    mine.sort_unstable();
    let expected = model_state
        .numbers(|one| matches!(&one.state, State::Running { owner: of, .. } if *of == owner));
    ensure!(
        mine == expected,
        "{owner} renewed {mine:?}, not {expected:?}"
    );
    for number in &mine {
        let owner = owner.clone();
        model_state.set(*number, State::Running { owner, until });
    }
    model_state.nodes[node]
        .running
        .retain(|one| mine.contains(one));
    let running = model_state.nodes[node].running.clone();
    let orphans = calls::leases(conn).await?;
    let orphans = orphans.into_iter().filter(|lease| {
        lease.owner == owner && mine.contains(&lease.number) && !running.contains(&lease.number)
    });
    for lease in orphans {
        return_one(model_state, conn, &lease).await?;
    }
    Ok(())
}

pub async fn crash(model_state: &mut ModelState, conn: &mut Conn, node: usize) -> Done {
    let life = model_state.nodes[node].life + 1;
    model_state.nodes[node] = super::model::Node {
        life,
        ..super::model::Node::default()
    };
    calls::start(conn, model_state.now).await?;
    for number in model_state.numbers(|one| one.state == State::Waiting(Hold::Unqueued)) {
        model_state.set(number, State::Waiting(Hold::Since(model_state.now)));
    }
    Ok(())
}

fn lease(number: u32, one: &Delivery) -> Option<Lease> {
    let State::Running { owner, until } = &one.state else {
        return None;
    };
    Some(Lease {
        number,
        owner: owner.clone(),
        until: *until,
        attempts: one.attempts,
    })
}

pub async fn see_leases(model_state: &mut ModelState, conn: &mut Conn, node: usize) -> Done {
    let mut leases = calls::leases(conn).await?;
    leases.retain(|lease| !model_state.is_ghost(lease.number));
    let all = model_state.deliveries.iter();
    let expected: Vec<Lease> = all.filter_map(|(n, one)| lease(*n, one)).collect();
    ensure!(leases == expected, "leases {leases:?}, not {expected:?}");
    model_state.nodes[node].leases = leases;
    Ok(())
}

pub async fn return_lost(model_state: &mut ModelState, conn: &mut Conn, node: usize) -> Done {
    let owner = model_state.owner(node);
    let current = calls::leases(conn).await?;
    for lease in std::mem::take(&mut model_state.nodes[node].leases) {
        if lease.owner != owner && current.contains(&lease) {
            return_one(model_state, conn, &lease).await?;
        }
    }
    Ok(())
}

/// Takes over the delivery of an expired lease.
async fn return_one(model_state: &mut ModelState, conn: &mut Conn, of: &Lease) -> Done {
    let number = of.number;
    let now = model_state.now;
    let wait = if of.attempts <= 1 { 0 } else { AFTER_CRASH };
    let failed = of.attempts >= MAX_ATTEMPTS;
    let run = Run {
        number,
        owner: &of.owner,
        attempt: of.attempts,
    };
    let done = if failed {
        calls::finish(conn, run, now, false).await?
    } else {
        let requeue = Requeue {
            next: Some(now + wait),
            uncount: false,
            needs_vault: false,
        };
        calls::requeue(conn, run, requeue).await?
    };
    if model_state.is_ghost(number) {
        return Ok(());
    }
    ensure!(done, "the lease {of:?} could not be returned");
    ensure!(
        model_state.is_own(number, &of.owner),
        "two runners: {of:?} was returned and is {:?}",
        model_state.deliveries.get(&number)
    );
    let state = if failed {
        State::Failed
    } else {
        State::Waiting(Hold::Until(now + wait))
    };
    model_state.set(number, state);
    if let Some(one) = model_state.deliveries.get_mut(&number) {
        one.has_error = true;
    }
    if failed {
        model_state.wake_next(number);
    }
    Ok(())
}

pub async fn revive(model_state: &mut ModelState, conn: &mut Conn, node: usize) -> Done {
    let stranded = std::mem::take(&mut model_state.nodes[node].stranded);
    give_places(model_state, conn, &stranded).await
}

pub async fn give_places(model_state: &mut ModelState, conn: &mut Conn, stranded: &[u32]) -> Done {
    let now = model_state.now;
    calls::revive(conn, stranded, now).await?;
    for (number, one) in &mut model_state.deliveries {
        let State::Waiting(hold) = &mut one.state else {
            continue;
        };
        if stranded.contains(number) {
            *hold = Hold::Until(now);
        }
        match *hold {
            Hold::Until(at)
                if at > now
                    && (one.attempts == 0 && !one.has_error || at > now + LONGEST_WAIT_SECONDS) =>
            {
                *hold = Hold::Until(now);
            }
            Hold::Since(at) if at > now => *hold = Hold::Since(now),
            _ => {}
        }
    }
    Ok(())
}

pub async fn see_behind_vault(model_state: &mut ModelState, conn: &mut Conn, node: usize) -> Done {
    let mut waiting = calls::behind_vault(conn).await?;
    waiting.retain(|number| !model_state.is_ghost(*number));
    let expected = model_state.numbers(|one| one.state == State::Waiting(Hold::Vault));
    ensure!(
        waiting == expected,
        "behind the vault are {waiting:?}, not {expected:?}"
    );
    model_state.nodes[node].behind_vault = waiting;
    Ok(())
}

pub async fn release(model_state: &mut ModelState, conn: &mut Conn, node: usize) -> Done {
    if model_state.sealed {
        return Ok(());
    }
    for number in std::mem::take(&mut model_state.nodes[node].behind_vault) {
        let released = calls::release(conn, number, model_state.now).await?;
        if model_state.is_ghost(number) {
            continue;
        }
        let state = model_state
            .deliveries
            .get(&number)
            .map(|one| one.state.clone());
        let waits = state == Some(State::Waiting(Hold::Vault));
        ensure!(
            released == waits,
            "delivery {number} was released: {released}, and it is {state:?}"
        );
        if released && let Some(one) = model_state.deliveries.get_mut(&number) {
            one.state = State::Waiting(Hold::Until(model_state.now));
            one.has_error = false;
        }
    }
    Ok(())
}

pub async fn sweep(model_state: &mut ModelState, conn: &mut Conn, rows: i64) -> Done {
    for webhook in model_state.removed.clone() {
        calls::sweep(conn, &webhook, rows).await?;
    }
    let left = calls::forget_removed(conn).await?;
    model_state.forget_all_but(&left);
    Ok(())
}

pub async fn retain(model_state: &mut ModelState, conn: &mut Conn) -> Done {
    for number in calls::retain(conn, model_state.now).await? {
        if model_state.is_ghost(number) {
            continue;
        }
        let gone = model_state.deliveries.remove(&number);
        ensure!(
            gone.as_ref().is_some_and(|one| !one.is_open()),
            "lost: retention removed {number}, which is {gone:?}"
        );
    }
    Ok(())
}
