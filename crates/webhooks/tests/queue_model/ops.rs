//! The operations and their frequencies. Every operation is valid in every state, because a number selects an
//! existing item, modulo the count. A sequence therefore stays valid when it is shrunk.

use proptest::prelude::*;

pub const NODES: usize = 2;
/// Number of webhooks at any time.
pub const WEBHOOKS: usize = 3;
pub const SESSIONS: usize = 5;

#[derive(Clone, Copy, Debug)]
pub enum Op {
    /// Stores a delivery for a webhook and a session. `queued` is false if it is stored but not queued.
    Accept {
        webhook: usize,
        session: usize,
        queued: bool,
    },
    /// A node claims deliveries. `answered` is false if the node does not receive the answer.
    Claim {
        node: usize,
        limit: usize,
        answered: bool,
    },
    /// A run ends.
    End { node: usize, run: usize, how: End },
    /// A node renews its leases and drops the runs that it lost.
    Renew { node: usize },
    /// A node dies and restarts with a new owner name.
    Crash { node: usize },
    /// A node reads all leases.
    SeeLeases { node: usize },
    /// A node returns the leases of other nodes that it has read, unless they were renewed in the meantime.
    ReturnLost { node: usize },
    /// A node reads the parked deliveries that have no reason to wait.
    SeeStranded { node: usize },
    /// A node makes the deliveries due that it read in `SeeStranded`.
    Revive { node: usize },
    /// A node reads the deliveries that wait for the vault.
    SeeBehindVault { node: usize },
    /// A node makes the deliveries due that it read in `SeeBehindVault`, unless the vault is sealed.
    Release { node: usize },
    /// The wall clock moves by this many seconds.
    Clock { seconds: i64 },
    /// The vault is sealed or unsealed.
    Seal { sealed: bool },
    /// A webhook is enabled or disabled.
    Enable { webhook: usize, enabled: bool },
    /// A webhook is deleted and replaced by another.
    Delete { webhook: usize },
    /// Removes some rows of deleted webhooks.
    Sweep { rows: i64 },
    /// A delivery is replayed as a new delivery.
    Replay { delivery: usize },
    /// The owner cancels a delivery.
    Cancel { delivery: usize },
    /// Removes some old deliveries that have ended.
    Retain,
    /// The transaction is rolled back.
    RollBack,
}

/// How a run ends.
#[derive(Clone, Copy, Debug)]
pub enum End {
    Completed,
    /// The run failed permanently.
    Failed,
    /// The run is retried after this many seconds.
    Retry(i64),
    /// The run needs the vault.
    NeedsVault,
    /// The run was stopped before anything was sent.
    NotBegun,
    /// The run was stopped after something may have been sent.
    Interrupted,
}

fn end() -> impl Strategy<Value = End> {
    prop_oneof![
        6 => Just(End::Completed),
        2 => Just(End::Failed),
        3 => (0..4000_i64).prop_map(End::Retry),
        2 => Just(End::NeedsVault),
        1 => Just(End::NotBegun),
        1 => Just(End::Interrupted),
    ]
}

fn clock() -> impl Strategy<Value = Op> {
    prop_oneof![
        8 => 0..120_i64,
        3 => 0..7200_i64,
        2 => -600..0_i64,
        1 => -400 * 86_400..400 * 86_400_i64,
    ]
    .prop_map(|seconds| Op::Clock { seconds })
}

/// Draws one operation. Operations that advance deliveries are more frequent than disturbances.
pub fn op() -> impl Strategy<Value = Op> {
    let work = prop_oneof![
        12 => (0..WEBHOOKS, 0..SESSIONS, prop::bool::weighted(0.9))
            .prop_map(|(webhook, session, queued)| Op::Accept { webhook, session, queued }),
        10 => (0..NODES, 1..5_usize, prop::bool::weighted(0.93))
            .prop_map(|(node, limit, answered)| Op::Claim { node, limit, answered }),
        14 => (0..NODES, any::<usize>(), end())
            .prop_map(|(node, run, how)| Op::End { node, run, how }),
    ];
    let upkeep = prop_oneof![
        2 => (0..NODES).prop_map(|node| Op::Renew { node }),
        2 => (0..NODES).prop_map(|node| Op::SeeLeases { node }),
        2 => (0..NODES).prop_map(|node| Op::ReturnLost { node }),
        1 => (0..NODES).prop_map(|node| Op::SeeStranded { node }),
        1 => (0..NODES).prop_map(|node| Op::Revive { node }),
        1 => (0..NODES).prop_map(|node| Op::SeeBehindVault { node }),
        1 => (0..NODES).prop_map(|node| Op::Release { node }),
    ];
    let trouble = prop_oneof![
        8 => clock(),
        2 => (0..NODES).prop_map(|node| Op::Crash { node }),
        3 => any::<bool>().prop_map(|sealed| Op::Seal { sealed }),
        2 => (0..WEBHOOKS, prop::bool::weighted(0.7))
            .prop_map(|(webhook, enabled)| Op::Enable { webhook, enabled }),
        1 => (0..WEBHOOKS).prop_map(|webhook| Op::Delete { webhook }),
        2 => (1..20_i64).prop_map(|rows| Op::Sweep { rows }),
        3 => any::<usize>().prop_map(|delivery| Op::Replay { delivery }),
        2 => any::<usize>().prop_map(|delivery| Op::Cancel { delivery }),
        1 => Just(Op::Retain),
        1 => Just(Op::RollBack),
    ];
    prop_oneof![ 6 => work, 2 => upkeep, 2 => trouble ]
}
