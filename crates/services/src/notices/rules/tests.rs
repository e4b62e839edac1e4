//! Which failures and refusals are reported, and when.

use super::*;
use gatehouse_store::Store;
use gatehouse_store::testing::{TestDatabase, databases, run_sql};

const MINUTE: i64 = 60_000;
const TOGETHER_MS: i64 = 15 * MINUTE;
const AGAIN_MS: i64 = 24 * 60 * MINUTE;

fn at(ms: i64) -> Timestamp {
    Timestamp::from_millis(1_795_000_000_000 + ms)
}

/// A database with a webhook, and the number of the next delivery.
struct Rules {
    database: TestDatabase,
    store: Store,
    number: u32,
}

impl Rules {
    async fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for database in databases().await {
            let store = database.open().await;
            let webhook = "INSERT INTO webhooks (id, public_id, name, config, enabled, created_at, updated_at)
                           VALUES ('hook_1', 'p', 'n', '{}', 1, 0, 0)";
            run_sql(&database.location, webhook).await;
            all.push(Self {
                database,
                store,
                number: 0,
            });
        }
        all
    }

    /// Returns the failures or refusals from this number on.
    fn failures(&self, kind: Kind, first: u32) -> Failures {
        let id = |number: u32| DeliveryId::from_text(format!("del_{number:04}"));
        Failures {
            webhook_id: WebhookId::from_text("hook_1"),
            status: match kind {
                Kind::Failed => DeliveryStatus::Failed,
                Kind::Refused => DeliveryStatus::Rejected,
            },
            count: i64::from(self.number - first + 1),
            first: id(first),
            last: id(self.number),
        }
    }

    /// Like [`Self::note`], for all refusals from this number to the next one.
    async fn note_since(&mut self, first: u32) -> Option<(i64, String)> {
        self.number += 1;
        let noted = self.failures(Kind::Refused, first);
        let write = self.store.write(move |conn| {
            Box::pin(async move { note(conn, Kind::Refused, &noted, at(0)).await })
        });
        let noted: Result<_, StoreError> = write.await;
        noted.unwrap().as_ref().map(shown)
    }

    /// Returns the count and the number of the last delivery, if a message is due.
    async fn note(&mut self, kind: Kind, ms: i64) -> Option<(i64, String)> {
        self.number += 1;
        let noted = self.failures(kind, self.number);
        let write = self
            .store
            .write(move |conn| Box::pin(async move { note(conn, kind, &noted, at(ms)).await }));
        let noted: Result<_, StoreError> = write.await;
        noted.unwrap().as_ref().map(shown)
    }

    async fn note_for_later(&mut self, kind: Kind) {
        self.number += 1;
        let noted = self.failures(kind, self.number);
        let write = self.store.write(move |conn| {
            Box::pin(async move { note_for_later(conn, kind, &noted, at(0)).await })
        });
        let written: Result<(), StoreError> = write.await;
        written.unwrap();
    }

    async fn due(&self, ms: i64) -> Vec<(i64, String)> {
        let write = self
            .store
            .write(move |conn| Box::pin(async move { due(conn, at(ms)).await }));
        let due: Result<Vec<Notice>, StoreError> = write.await;
        due.unwrap().iter().map(shown).collect()
    }

    async fn accept(&mut self, replay_of: &str) {
        self.number += 1;
        let insert = format!(
            "INSERT INTO webhook_deliveries
                 (id, webhook_id, status, replay_of, session_key, received_at, headers, body_size, body_preview)
             VALUES ('del_{:04}', 'hook_1', 'completed', {replay_of}, '', 0, '{{}}', 0, '')",
            self.number
        );
        run_sql(&self.database.location, &insert).await;
    }
}

fn shown(notice: &Notice) -> (i64, String) {
    (notice.count, notice.delivery.to_string())
}

fn sent(count: i64, number: u32) -> (i64, String) {
    (count, format!("del_{number:04}"))
}

#[tokio::test]
async fn the_first_failure_is_reported_at_once_and_later_ones_together() {
    for mut rules in Rules::all().await {
        assert_eq!(rules.note(Kind::Failed, 5).await, Some(sent(1, 1)));
        assert_eq!(rules.note(Kind::Failed, 6).await, None);
        assert_eq!(rules.note(Kind::Failed, 4 + TOGETHER_MS).await, None);
        assert_eq!(rules.due(4 + TOGETHER_MS).await, []);
        assert_eq!(rules.due(5 + TOGETHER_MS).await, [sent(2, 3)]);
        assert_eq!(rules.due(5 + TOGETHER_MS).await, [], "once");
        // The message about several failures starts the next period.
        assert_eq!(rules.note(Kind::Failed, 6 + TOGETHER_MS).await, None);
        let later = 5 + 2 * TOGETHER_MS;
        assert_eq!(rules.note(Kind::Failed, later).await, Some(sent(2, 5)));
        // After a period without failures, the next failure is reported immediately.
        assert_eq!(rules.due(later + TOGETHER_MS).await, []);
        assert_eq!(
            rules.note(Kind::Failed, later + TOGETHER_MS).await,
            Some(sent(1, 6))
        );
        // The rows of a deleted webhook are deleted.
        run_sql(&rules.database.location, "DELETE FROM webhooks").await;
        assert_eq!(rules.note(Kind::Failed, later + TOGETHER_MS).await, None);
        assert_eq!(rules.due(later + 2 * TOGETHER_MS).await, []);
        rules.store.close().await;
    }
}

#[tokio::test]
async fn the_tenth_refusal_in_a_row_is_reported_once_per_day() {
    for mut rules in Rules::all().await {
        for _ in 1..REFUSALS {
            assert_eq!(rules.note(Kind::Refused, 7).await, None);
        }
        assert_eq!(rules.note(Kind::Refused, 7).await, Some(sent(10, 10)));
        assert_eq!(rules.note(Kind::Refused, 6 + AGAIN_MS).await, None);
        assert_eq!(
            rules.note(Kind::Refused, 7 + AGAIN_MS).await,
            Some(sent(12, 12))
        );
        rules.store.close().await;
    }
}

#[tokio::test]
async fn an_accepted_request_ends_the_row_and_a_replay_does_not() {
    for mut rules in Rules::all().await {
        for _ in 1..REFUSALS {
            rules.note(Kind::Refused, 0).await;
        }
        rules.accept("'del_0000'").await;
        assert_eq!(rules.note(Kind::Refused, 0).await, Some(sent(10, 11)));
        rules.accept("NULL").await;
        for _ in 1..REFUSALS {
            assert_eq!(rules.note(Kind::Refused, 0).await, None);
        }
        assert_eq!(rules.note(Kind::Refused, 0).await, Some(sent(10, 22)));
        rules.store.close().await;
    }
}

#[tokio::test]
async fn failures_and_refusals_during_a_stop_are_reported_later() {
    for mut rules in Rules::all().await {
        rules.note_for_later(Kind::Failed).await;
        assert_eq!(rules.due(TOGETHER_MS - 1).await, []);
        assert_eq!(rules.due(TOGETHER_MS).await, [sent(1, 1)]);
        for _ in 1..REFUSALS {
            rules.note_for_later(Kind::Refused).await;
        }
        assert_eq!(rules.note(Kind::Refused, 0).await, Some(sent(10, 11)));
        rules.store.close().await;
    }
}

#[tokio::test]
async fn refusals_that_are_counted_together_are_not_more_than_those_in_a_row() {
    for mut rules in Rules::all().await {
        rules.number = 8;
        assert_eq!(rules.note_since(1).await, None, "nine");
        assert_eq!(rules.note_since(10).await, Some(sent(10, 10)));
        // At least one of these came after the accepted request.
        rules.number = 20;
        rules.accept("NULL").await;
        rules.number = 30;
        assert_eq!(rules.note_since(11).await, None);
        for _ in 2..REFUSALS {
            assert_eq!(rules.note(Kind::Refused, 0).await, None);
        }
        assert_eq!(rules.note(Kind::Refused, 0).await, Some(sent(10, 40)));
        rules.store.close().await;
    }
}
