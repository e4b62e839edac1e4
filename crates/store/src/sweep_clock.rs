//! The clock that decides which rows a sweep deletes. Its last value, the mark, is stored in the table `settings`.

use crate::{Conn, Store, StoreError};
use gatehouse_domain::{Clock, SweepTime, Timestamp};
use serde_json::json;
use tokio::sync::Mutex;

/// The key of the mark, which is in Unix milliseconds.
const KEY: &str = "sweep_clock";
/// The mark is stored when it has advanced by this time: ten minutes.
const STORED_EVERY_MS: u64 = 600_000;

#[derive(Debug)]
struct State {
    time: SweepTime,
    stored: Option<Timestamp>,
}

/// The time before which a sweep may delete rows. See [`SweepTime`].
#[derive(Debug, Default)]
pub struct SweepClock(Mutex<Option<State>>);

impl SweepClock {
    /// Returns the current time for sweeps. The result is never later than the time of the clock. It is earlier
    /// after the clock jumped forward.
    pub async fn now(&self, store: &Store, clock: &dyn Clock) -> Result<Timestamp, StoreError> {
        let mut state = self.0.lock().await;
        if state.is_none() {
            let stored = store.read(|conn| Box::pin(async move { find_mark(conn).await }));
            let stored = stored.await?;
            let time = SweepTime::new(stored, clock);
            *state = Some(State { time, stored });
        }
        let Some(State { time, stored }) = &mut *state else {
            return Ok(Timestamp::default());
        };
        let was_doubted = time.doubts_the_clock();
        let now = time.now(clock);
        if time.doubts_the_clock() && !was_doubted {
            tracing::warn!(
                clock = %clock.now(), expected = %time.mark(),
                "the clock differs from the expected time; until it has differed for a day, old \
                 records are removed by the expected time"
            );
        }
        let mark = time.mark();
        let is_near =
            |stored: Timestamp| stored.as_millis().abs_diff(mark.as_millis()) < STORED_EVERY_MS;
        if !stored.is_some_and(is_near) {
            let written = store.write(move |conn| {
                Box::pin(async move {
                    conn.update_setting(KEY, &json!(mark.as_millis()), mark)
                        .await
                })
            });
            let written: Result<(), StoreError> = written.await;
            written?;
            *stored = Some(mark);
        }
        Ok(now)
    }
}

async fn find_mark(conn: &mut Conn) -> Result<Option<Timestamp>, StoreError> {
    let stored = conn.find_setting(KEY).await?;
    Ok(stored
        .and_then(|value| value.as_i64())
        .map(Timestamp::from_millis))
}
