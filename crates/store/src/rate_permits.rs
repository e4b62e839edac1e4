//! Table `rate_permits`: permits under rate limits that the nodes of a database share.

use crate::sql::{columns, query};
use crate::{Conn, StoreError};
use gatehouse_domain::Timestamp;

/// The length of a slot in milliseconds. A permit may become free early by up to this time.
const SLOT_MS: i64 = 100;
/// The shortest window, in slots: one minute. A row expires this long after its slot. The permits of longer windows
/// have later slots, so that all rows expire by the same rule.
const WINDOW: i64 = 600;

/// A request for permits.
#[derive(Clone, Copy, Debug)]
pub struct RateRequest {
    pub wanted: u32,
    /// The maximum number of permits in any window.
    pub limit: u32,
    /// The length of the window in milliseconds, at least a minute.
    pub window_ms: u32,
}

/// The permits that the database granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLease {
    /// At most the requested number. Granted permits count in the window even if they are never used.
    pub granted: u32,
    /// When to retry if nothing was granted. The oldest permits become free at this time.
    pub next_at: Timestamp,
}

struct TakenPermits {
    sum: i64,
    oldest: i64,
}

columns! { TakenPermits: sum, oldest }

const fn slot_of(time: Timestamp) -> i64 {
    time.as_millis().div_euclid(SLOT_MS)
}

/// Returns the slot of permits that are taken at `now`. Its row expires at the end of the window.
fn permit_slot(now: Timestamp, window_ms: u32) -> i64 {
    let longer = i64::from(window_ms) / SLOT_MS - WINDOW;
    slot_of(now).saturating_add(longer.max(0))
}

impl Conn {
    /// Takes up to `wanted` permits of a limit. Call it in `Store::write_limits`, which excludes other nodes.
    pub async fn lease_rate(
        &mut self,
        name: &str,
        request: RateRequest,
        now: Timestamp,
    ) -> Result<RateLease, StoreError> {
        let passed = slot_of(now) - WINDOW;
        self.run_later(
            "DELETE FROM rate_permits WHERE slot <= $1",
            vec![passed.into()],
        )?;
        let slot = permit_slot(now, request.window_ms);
        let TakenPermits { sum, oldest } = self.find_taken(name, slot).await?;
        let free = i64::from(request.limit).saturating_sub(sum).max(0);
        let granted = u32::try_from(free).unwrap_or(u32::MAX).min(request.wanted);
        if granted > 0 {
            self.add_permits(name, slot, i64::from(granted))?;
        }
        Ok(RateLease {
            granted,
            next_at: Timestamp::from_millis((oldest + WINDOW).saturating_mul(SLOT_MS)),
        })
    }

    /// Returns unused permits that were taken at `leased_at`. Does nothing if they have expired.
    pub async fn return_rate(
        &mut self,
        name: &str,
        count: u32,
        leased_at: Timestamp,
        window_ms: u32,
    ) -> Result<(), StoreError> {
        let query = query(
            "UPDATE rate_permits SET taken = taken - $3 WHERE name = $1 AND slot = $2 AND taken >= $3",
        );
        let slot = permit_slot(leased_at, window_ms);
        self.run(query.bind(name).bind(slot).bind(i64::from(count)))
            .await
            .map(drop)
    }

    fn add_permits(&mut self, name: &str, slot: i64, count: i64) -> Result<(), StoreError> {
        let add = "INSERT INTO rate_permits (name, slot, taken) VALUES ($1, $2, $3)
             ON CONFLICT (name, slot) DO UPDATE SET taken = rate_permits.taken + $3";
        self.run_later(add, vec![name.into(), slot.into(), count.into()])
    }

    /// Returns the permits that currently count. If the clock was set back, earlier permits would count until the
    /// clock reaches their slots. Therefore they count only for one window from now.
    async fn find_taken(&mut self, name: &str, slot: i64) -> Result<TakenPermits, StoreError> {
        let future =
            query("DELETE FROM rate_permits WHERE name = $1 AND slot > $2 RETURNING taken")
                .bind(name)
                .bind(slot + WINDOW);
        let window = || {
            let window = query(
                "SELECT CAST(COALESCE(SUM(taken), 0) AS BIGINT) AS sum, COALESCE(MIN(slot), $2) AS oldest
                 FROM rate_permits WHERE name = $1 AND taken > 0",
            );
            window.bind(name).bind(slot)
        };
        let (moved, taken) = self
            .lists::<i64, TakenPermits>(&future, &[window()])
            .await?;
        let taken = if moved.is_empty() {
            taken.into_iter().flatten().next()
        } else {
            self.add_permits(name, slot, moved.iter().sum())?;
            self.find(window()).await?
        };
        taken.ok_or(StoreError::Damaged {
            what: "rate permits",
        })
    }
}
