//! The operations, and how often each is drawn. Every operation makes sense in every state: a number
//! picks among what is there, modulo its count. So a sequence stays valid when it is shrunk.

use proptest::prelude::*;

/// How many nodes there are.
pub const NODES: usize = 2;
/// How many webhooks there are at a time.
pub const WEBHOOKS: usize = 3;
/// How many sessions there are.
pub const SESSIONS: usize = 5;

/// One operation.
#[derive(Clone, Copy, Debug)]
pub enum Op {
    /// A delivery is stored for a webhook and a session. `queued` is false for one that was stored and
    /// never queued.
    Accept {
        webhook: usize,
        session: usize,
        queued: bool,
    },
    /// A node claims. `answered` is false when the answer does not reach the node.
    Claim {
        node: usize,
        limit: usize,
        answered: bool,
    },
    /// A run ends.
    End { node: usize, run: usize, how: End },
    /// A node renews its leases and drops the runs that it lost.
    Renew { node: usize },
    /// A node dies and starts again under a new owner name.
    Crash { node: usize },
    /// A node reads all leases.
    SeeLeases { node: usize },
    /// A node returns the leases of others that it has read before, if nobody renewed them since.
    ReturnLost { node: usize },
    /// A node reads which parked deliveries nothing holds back.
    SeeStranded { node: usize },
    /// A node gives a place to those that it has read before.
    Revive { node: usize },
    /// A node reads what waits for the vault.
    SeeBehindVault { node: usize },
    /// A node gives a place to those that it has read before, unless the vault is sealed.
    Release { node: usize },
    /// The time of day moves by so many seconds.
    Clock { seconds: i64 },
    /// The vault is sealed or opened.
    Seal { sealed: bool },
    /// A webhook is disabled or enabled.
    Enable { webhook: usize, enabled: bool },
    /// A webhook is deleted; another takes its place.
    Delete { webhook: usize },
    /// Some rows of deleted webhooks are removed.
    Sweep { rows: i64 },
    /// A delivery runs once more, as a delivery of its own.
    Replay { delivery: usize },
    /// The owner cancels a delivery.
    Cancel { delivery: usize },
    /// Some old deliveries that have ended are removed.
    Retain,
    /// The transaction is rolled back.
    RollBack,
}

/// How a run ends.
#[derive(Clone, Copy, Debug)]
pub enum End {
    /// It is done.
    Completed,
    /// It failed for good.
    Failed,
    /// It is tried again after so many seconds.
    Retry(i64),
    /// It needs the vault.
    NeedsVault,
    /// It was stopped before anything was sent.
    NotBegun,
    /// It was stopped after something may have been sent.
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

/// One operation. Those that move deliveries on are drawn more often than those that disturb.
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
