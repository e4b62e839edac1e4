//! Corrects next runs that were calculated while a clock was ahead. Without the correction, a schedule would not
//! run until the calculated time.

use super::{ON_TIME, RunError};
use crate::handle::Inner;
use crate::webhook::StoredConfig;
use gatehouse_domain::{Clock, Timestamp};
use gatehouse_store::{ScheduleRow, StoreError};
use std::sync::Arc;

/// Detects that the clock was set back.
#[derive(Debug)]
pub(super) struct ClockWatch {
    now: Timestamp,
    monotonic_ms: u64,
    /// Whether the schedules must be corrected. Initially `true`, because the clock may have been set back while no
    /// process ran.
    was_set_back: bool,
}

impl ClockWatch {
    pub(super) fn new(clock: &dyn Clock) -> Self {
        Self {
            now: clock.now(),
            monotonic_ms: clock.monotonic_ms(),
            was_set_back: true,
        }
    }

    /// Compares the clock with the last call. Returns whether the clock was set back by more than [`ON_TIME`] since
    /// the last call of [`Self::has_corrected`].
    pub(super) fn was_set_back(&mut self, clock: &dyn Clock) -> bool {
        let (now, monotonic_ms) = (clock.now(), clock.monotonic_ms());
        let elapsed_ms = monotonic_ms.saturating_sub(self.monotonic_ms);
        let elapsed_ms = i64::try_from(elapsed_ms).unwrap_or(i64::MAX);
        let expected_ms = self.now.as_millis().saturating_add(elapsed_ms);
        let tolerated_ms = i64::try_from(ON_TIME.as_millis()).unwrap_or(0);
        self.was_set_back |= expected_ms.saturating_sub(now.as_millis()) > tolerated_ms;
        (self.now, self.monotonic_ms) = (now, monotonic_ms);
        self.was_set_back
    }

    pub(super) const fn has_corrected(&mut self) {
        self.was_set_back = false;
    }
}

impl Inner {
    /// Corrects every next run that is much later than the first run from now on. A run that is already stored is
    /// not repeated, because its time is its delivery key.
    pub(super) async fn correct_next_runs(self: &Arc<Self>) -> Result<(), StoreError> {
        let read = self
            .store
            .read(|conn| Box::pin(async move { conn.list_schedules().await }));
        let schedules: Vec<ScheduleRow> = read.await?;
        for run in schedules {
            let webhook = run.webhook_id.clone();
            match self.correct_next_run(run).await {
                Ok(()) => {}
                Err(RunError::Store(error)) if error.is_unavailable() => return Err(error),
                Err(error) => {
                    let error: &dyn std::error::Error = &error;
                    tracing::warn!(error, %webhook, "the next run of a schedule was not checked");
                }
            }
        }
        Ok(())
    }

    async fn correct_next_run(self: &Arc<Self>, run: ScheduleRow) -> Result<(), RunError> {
        let now = self.now();
        if run.due_at <= now {
            return Ok(());
        }
        let id = run.webhook_id.clone();
        let read = self
            .store
            .read(move |conn| Box::pin(async move { conn.find_webhook(id.as_str()).await }));
        let Some(webhook) = read.await?.filter(|webhook| webhook.enabled) else {
            return Ok(());
        };
        let Some(schedule) = StoredConfig::of(&webhook)?.webhook.schedule else {
            return Ok(());
        };
        let calculate = tokio::task::spawn_blocking(move || schedule.first_run(now));
        let first = calculate.await.map_err(|_| RunError::BrokenOff)??;
        // A small difference can come from differences between the clocks of nodes.
        let is_late = |first: &Timestamp| now < *first && first.after(ON_TIME) < run.due_at;
        if let Some(first) = first.filter(is_late) {
            tracing::info!(
                webhook = %run.webhook_id, was = %run.due_at, next = %first,
                "the clock was set back; the next run of a schedule is earlier"
            );
            self.advance(&run, Some(first)).await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatehouse_domain::ManualClock;
    use std::time::Duration;

    const START: i64 = 1_795_000_000_000;

    fn watch() -> (ManualClock, ClockWatch) {
        let clock = ManualClock::at(Timestamp::from_millis(START));
        let mut watch = ClockWatch::new(&clock);
        assert!(watch.was_set_back(&clock), "at the start");
        watch.has_corrected();
        (clock, watch)
    }

    #[test]
    fn a_step_back_is_noticed_past_its_limit_until_it_is_corrected() {
        for (back_ms, is_noticed) in [(30_000, false), (30_001, true), (3_600_000, true)] {
            let (clock, mut watch) = watch();
            clock.set_wall(Timestamp::from_millis(START - back_ms));
            for _ in 0..2 {
                assert_eq!(watch.was_set_back(&clock), is_noticed, "{back_ms}");
            }
            watch.has_corrected();
            assert!(!watch.was_set_back(&clock), "{back_ms}");
        }
    }

    #[test]
    fn time_that_passes_and_a_step_ahead_are_no_step_back() {
        let (clock, mut watch) = watch();
        clock.advance(Duration::from_hours(2));
        assert!(!watch.was_set_back(&clock));
        clock.set_wall(Timestamp::from_millis(START + 86_400_000));
        assert!(!watch.was_set_back(&clock));
        // The clock returns to the correct time.
        clock.set_wall(Timestamp::from_millis(START + 7_200_000));
        assert!(watch.was_set_back(&clock));
    }
}
