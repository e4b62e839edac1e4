//! One reading of the database clock.

use super::{LARGEST_DIVERGENCE_MS, LONGEST_AGE_MS, LONGEST_ROUND_TRIP_MS, NodeTime};
use crate::sql::query;
use crate::{Conn, StoreError};
use gatehouse_domain::{Clock, Timestamp};

/// One answer of the server, compared with the clocks of this node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "the unit belongs to the name")]
pub(super) struct Reading {
    pub(super) round_trip_ms: u64,
    /// When the server answered, on the monotonic clock.
    pub(super) answered_ms: u64,
    /// The server's time, in Unix milliseconds, at the origin of this node's monotonic clock.
    pub(super) origin_ms: i64,
    /// How far the wall clock of this node is ahead.
    pub(super) ahead_ms: i64,
}

impl Reading {
    /// Compares the server's time with the times of the query and of its answer on this node. The server is assumed to
    /// read its clock in the middle of the round trip.
    pub(super) fn new((asked, answered): (NodeTime, NodeTime), server_ms: i64) -> Self {
        let monotonic_ms = answered.monotonic_ms.saturating_sub(asked.monotonic_ms);
        // The monotonic clock does not count the time in which the host was suspended; the wall clock does.
        let wall_ms = answered.wall.as_millis().abs_diff(asked.wall.as_millis());
        let server_ms = server_ms.saturating_add(signed(monotonic_ms / 2));
        Self {
            round_trip_ms: monotonic_ms.max(wall_ms),
            answered_ms: answered.monotonic_ms,
            origin_ms: server_ms.saturating_sub(signed(answered.monotonic_ms)),
            ahead_ms: answered.wall.as_millis().saturating_sub(server_ms),
        }
    }

    pub(super) const fn is_exact(&self) -> bool {
        self.round_trip_ms <= LONGEST_ROUND_TRIP_MS
    }

    /// Returns whether the reading is recent, and the clocks of this node have not diverged since the reading.
    pub(super) fn is_valid_at(&self, now: NodeTime) -> bool {
        let age_ms = now.monotonic_ms.saturating_sub(self.answered_ms);
        let wall_origin_ms = self.origin_ms.saturating_add(self.ahead_ms);
        let divergence_ms = now.wall_origin_ms().abs_diff(wall_origin_ms);
        age_ms <= LONGEST_AGE_MS && divergence_ms <= LARGEST_DIVERGENCE_MS
    }

    pub(super) fn server_time(&self, now: NodeTime) -> Timestamp {
        Timestamp::from_millis(self.origin_ms.saturating_add(signed(now.monotonic_ms)))
    }
}

pub(super) fn signed(ms: u64) -> i64 {
    i64::try_from(ms).unwrap_or(i64::MAX)
}

pub(super) async fn read_clock(
    conn: &mut Conn,
    sql: &'static str,
    clock: &dyn Clock,
) -> Result<Reading, StoreError> {
    let asked = NodeTime::of(clock);
    let server_ms = conn.number(query(sql)).await?;
    Ok(Reading::new((asked, NodeTime::of(clock)), server_ms))
}
