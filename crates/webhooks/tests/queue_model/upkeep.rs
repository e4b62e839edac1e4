//! A node's periodic work: leases, parked deliveries, and retention.

use super::calls::{self, LONGEST_WAIT_SECONDS, Requeue, Run};
use super::model::{Delivery, Hold, Lease, MAX_ATTEMPTS, Problem, State, World, ensure};
use gatehouse_store::Conn;

/// How long a delivery waits after its worker has died twice.
const AFTER_CRASH: i64 = 10;

type Done = Result<(), Problem>;

/// Renews as the worker does: drops runs whose lease was lost, and returns leases that have no run.
pub async fn renew(world: &mut World, conn: &mut Conn, node: usize) -> Done {
    let (owner, until) = (world.owner(node), world.now + calls::LEASE_SECONDS);
    let mut mine = calls::renew(conn, &owner, world.now).await?;
    mine.retain(|number| !world.is_ghost(*number));
    mine.sort_unstable();
    let expected =
        world.numbers(|one| matches!(&one.state, State::Running { owner: of, .. } if *of == owner));
    ensure!(
        mine == expected,
        "{owner} renewed {mine:?}, not {expected:?}"
    );
    for number in &mine {
        let owner = owner.clone();
        world.set(*number, State::Running { owner, until });
    }
    world.nodes[node].running.retain(|one| mine.contains(one));
    let running = world.nodes[node].running.clone();
    let orphans = calls::leases(conn).await?;
    let orphans = orphans.into_iter().filter(|lease| {
        lease.owner == owner && mine.contains(&lease.number) && !running.contains(&lease.number)
    });
    for lease in orphans {
        return_one(world, conn, &lease).await?;
    }
    Ok(())
}

pub async fn crash(world: &mut World, conn: &mut Conn, node: usize) -> Done {
    let life = world.nodes[node].life + 1;
    world.nodes[node] = super::model::Node {
        life,
        ..super::model::Node::default()
    };
    calls::start(conn, world.now).await?;
    for number in world.numbers(|one| one.state == State::Waiting(Hold::Unqueued)) {
        world.set(number, State::Waiting(Hold::Since(world.now)));
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

pub async fn see_leases(world: &mut World, conn: &mut Conn, node: usize) -> Done {
    let mut leases = calls::leases(conn).await?;
    leases.retain(|lease| !world.is_ghost(lease.number));
    let all = world.deliveries.iter();
    let expected: Vec<Lease> = all.filter_map(|(n, one)| lease(*n, one)).collect();
    ensure!(leases == expected, "leases {leases:?}, not {expected:?}");
    world.nodes[node].leases = leases;
    Ok(())
}

pub async fn return_lost(world: &mut World, conn: &mut Conn, node: usize) -> Done {
    let owner = world.owner(node);
    let current = calls::leases(conn).await?;
    for lease in std::mem::take(&mut world.nodes[node].leases) {
        if lease.owner != owner && current.contains(&lease) {
            return_one(world, conn, &lease).await?;
        }
    }
    Ok(())
}

/// Takes over the delivery of an expired lease.
async fn return_one(world: &mut World, conn: &mut Conn, of: &Lease) -> Done {
    let number = of.number;
    let now = world.now;
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
    if world.is_ghost(number) {
        return Ok(());
    }
    ensure!(done, "the lease {of:?} could not be returned");
    ensure!(
        world.is_own(number, &of.owner),
        "two runners: {of:?} was returned and is {:?}",
        world.deliveries.get(&number)
    );
    let state = if failed {
        State::Failed
    } else {
        State::Waiting(Hold::Until(now + wait))
    };
    world.set(number, state);
    if failed {
        world.wake_next(number);
    }
    Ok(())
}

pub async fn revive(world: &mut World, conn: &mut Conn, node: usize) -> Done {
    let stranded = std::mem::take(&mut world.nodes[node].stranded);
    give_places(world, conn, &stranded).await
}

pub async fn give_places(world: &mut World, conn: &mut Conn, stranded: &[u32]) -> Done {
    let now = world.now;
    calls::revive(conn, stranded, now).await?;
    for (number, one) in &mut world.deliveries {
        let State::Waiting(hold) = &mut one.state else {
            continue;
        };
        if stranded.contains(number) {
            *hold = Hold::Until(now);
        }
        match *hold {
            Hold::Until(at)
                if at > now && (one.attempts == 0 || at > now + LONGEST_WAIT_SECONDS) =>
            {
                *hold = Hold::Until(now);
            }
            Hold::Since(at) if at > now => *hold = Hold::Since(now),
            _ => {}
        }
    }
    Ok(())
}

pub async fn see_behind_vault(world: &mut World, conn: &mut Conn, node: usize) -> Done {
    let mut waiting = calls::behind_vault(conn).await?;
    waiting.retain(|number| !world.is_ghost(*number));
    let expected = world.numbers(|one| one.state == State::Waiting(Hold::Vault));
    ensure!(
        waiting == expected,
        "behind the vault are {waiting:?}, not {expected:?}"
    );
    world.nodes[node].behind_vault = waiting;
    Ok(())
}

pub async fn release(world: &mut World, conn: &mut Conn, node: usize) -> Done {
    if world.sealed {
        return Ok(());
    }
    for number in std::mem::take(&mut world.nodes[node].behind_vault) {
        let released = calls::release(conn, number, world.now).await?;
        if world.is_ghost(number) {
            continue;
        }
        let state = world.deliveries.get(&number).map(|one| one.state.clone());
        let waits = state == Some(State::Waiting(Hold::Vault));
        ensure!(
            released == waits,
            "delivery {number} was released: {released}, and it is {state:?}"
        );
        if released {
            world.set(number, State::Waiting(Hold::Until(world.now)));
        }
    }
    Ok(())
}

pub async fn sweep(world: &mut World, conn: &mut Conn, rows: i64) -> Done {
    for webhook in world.removed.clone() {
        calls::sweep(conn, &webhook, rows).await?;
    }
    let left = calls::forget_removed(conn).await?;
    world.forget_all_but(&left);
    Ok(())
}

pub async fn retain(world: &mut World, conn: &mut Conn) -> Done {
    for number in calls::retain(conn, world.now).await? {
        if world.is_ghost(number) {
            continue;
        }
        let gone = world.deliveries.remove(&number);
        ensure!(
            gone.as_ref().is_some_and(|one| !one.is_open()),
            "lost: retention removed {number}, which is {gone:?}"
        );
    }
    Ok(())
}
