//! Searches for deliveries by text. No index supports these searches, so a page of results reads a limited number
//! of deliveries.

use crate::delivery_walk::Walk;
use crate::dialect::Engine;
use crate::letter_case::lower_case;

/// The searched columns. A preview that equals the payload is not stored.
const SEARCHED: [&str; 6] = [
    "event_type",
    "entity_key",
    "summary",
    "outcome",
    "error",
    "CASE WHEN body_preview = '' THEN payload ELSE body_preview END",
];

/// Restricts a walk to the deliveries that contain a text.
pub(crate) fn contains(walk: &mut Walk, engine: Engine, text: &str) {
    let (text_at, lower_at) = (walk.value(text), walk.value(lower_case(text)));
    let matches = SEARCHED.map(|column| engine.contains(column, text_at, lower_at));
    walk.check(format!("({})", matches.join(" OR ")));
}

#[cfg(test)]
mod tests {
    use crate::delivery_walk::{Budget, PAGE, SLICE};
    use crate::testing::{TestDatabase, databases, run_sql};
    use crate::{DeliveryFilter, DeliveryPage, Store, StoreError};
    use gatehouse_domain::DeliveryStatus;
    use std::ops::RangeInclusive;
    use std::time::Duration;

    /// Two slices per page, however long they take.
    const TWO: Budget = Budget {
        entries: 2 * SLICE,
        time: Duration::MAX,
        ..PAGE
    };
    /// The budget on a machine so slow that the time is always used up.
    const SLOW: Budget = Budget {
        time: Duration::ZERO,
        ..PAGE
    };

    async fn search(store: &Store, text: &str, before: Option<String>, limit: i64) -> DeliveryPage {
        let filter = DeliveryFilter {
            before,
            ..with_text(text)
        };
        page_within(store, filter, limit, TWO).await
    }

    fn with_text(text: &str) -> DeliveryFilter {
        DeliveryFilter {
            text: Some(text.to_owned()),
            ..DeliveryFilter::default()
        }
    }

    async fn page_within(
        store: &Store,
        filter: DeliveryFilter,
        limit: i64,
        budget: Budget,
    ) -> DeliveryPage {
        let read = store.read(move |conn| {
            Box::pin(async move {
                let walks = conn.walks_of(&filter).await?;
                conn.walk_deliveries(walks, limit, budget).await
            })
        });
        let page: Result<DeliveryPage, StoreError> = read.await;
        page.unwrap()
    }

    /// Returns the numbers of all deliveries with a text, page by page.
    async fn all(store: &Store, text: &str, limit: i64) -> Vec<usize> {
        let (mut numbers, mut before) = (Vec::new(), None);
        loop {
            let page = search(store, text, before, limit).await;
            let shown = usize::try_from(limit).unwrap();
            assert!(page.rows.len() <= shown, "{}", page.rows.len());
            numbers.extend(page.rows.iter().map(|row| {
                let id = row.id.as_str().trim_start_matches("del_");
                id.parse::<usize>().unwrap()
            }));
            before = page.next;
            if before.is_none() {
                return numbers;
            }
        }
    }

    /// Stores deliveries with these numbers. Each text contains the number. Every 350th text contains the needle.
    async fn fill(database: &TestDatabase, numbers: RangeInclusive<usize>) {
        let (first, last) = numbers.into_inner();
        let sql = format!(
            "INSERT INTO webhook_deliveries (id, webhook_id, status, session_key, received_at, attempts,
                 headers, body_size, body_preview, payload, response_actions)
             WITH RECURSIVE numbers(n) AS (SELECT {first} UNION ALL SELECT n + 1 FROM numbers WHERE n < {last})
             SELECT 'del_' || substr('0000000' || n, length('0000000' || n) - 6), 'hook_1', 'completed', '', n, 1,
                 '{{}}', 2, CASE WHEN n % 2 = 0 THEN '' ELSE 'text ' || n || ';' END,
                 CASE WHEN n % 350 = 0 THEN 'A Needle 50%_ Ä in ' ELSE '' END || 'text ' || n || ';', '[]'
             FROM numbers"
        );
        run_sql(&database.location, &sql).await;
    }

    #[tokio::test]
    async fn a_search_finds_everything_once_in_pages_of_any_size() {
        for database in databases().await {
            let store = database.open().await;
            fill(&database, 1..=2 * SLICE + 1).await;
            let needles = vec![700, 350];
            assert_eq!(all(&store, "nEEDLE 50%_ ä", 1).await, needles);
            assert_eq!(all(&store, "nEEDLE 50%_ ä", 100).await, needles);
            let every: Vec<usize> = (1..=2 * SLICE + 1).rev().collect();
            assert_eq!(all(&store, "TEXT", 700).await, every);
            for number in [1, SLICE, SLICE + 1, SLICE + 2, 2 * SLICE, 2 * SLICE + 1] {
                assert_eq!(all(&store, &format!(" {number};"), 1).await, [number]);
            }
            assert_eq!(all(&store, "nothing contains this", 100).await, [0; 0]);
            store.close().await;
        }
    }

    #[tokio::test]
    async fn a_search_finds_the_summary_and_the_outcome_of_a_delivery() {
        for database in databases().await {
            let store = database.open().await;
            fill(&database, 1..=3).await;
            for set in [
                "summary = 'Ada pushed to main.' WHERE id = 'del_0000001'",
                "outcome = 'The build is green.' WHERE id = 'del_0000002'",
            ] {
                let sql = format!("UPDATE webhook_deliveries SET {set}");
                run_sql(&database.location, &sql).await;
            }
            assert_eq!(all(&store, "ada PUSHED", 10).await, [1]);
            assert_eq!(all(&store, "is green", 10).await, [2]);
            store.close().await;
        }
    }

    #[tokio::test]
    async fn a_small_table_is_searched_in_one_page_on_the_slowest_machine() {
        for database in databases().await {
            let store = database.open().await;
            let most = PAGE.at_least + SLICE - 1;
            for (numbers, is_last) in [(1..=most, true), (most + 1..=most + 1, false)] {
                fill(&database, numbers).await;
                let page = page_within(&store, with_text(" 1;"), 10, SLOW).await;
                assert_eq!((page.rows.len(), page.next.is_none()), (1, is_last));
            }
            store.close().await;
        }
    }

    #[tokio::test]
    async fn a_small_table_with_several_statuses_is_searched_in_one_page_on_the_slowest_machine() {
        for database in databases().await {
            let store = database.open().await;
            fill(&database, 1..=PAGE.at_least).await;
            let end = "UPDATE webhook_deliveries
                 SET status = CASE WHEN received_at % 2 = 0 THEN 'failed' ELSE 'filtered' END";
            run_sql(&database.location, end).await;
            let filter = DeliveryFilter {
                statuses: vec![DeliveryStatus::Failed, DeliveryStatus::Filtered],
                ..with_text(" 1;")
            };
            let page = page_within(&store, filter, 10, SLOW).await;
            assert_eq!((page.rows.len(), page.next), (1, None));
            store.close().await;
        }
    }

    #[tokio::test]
    async fn a_page_scans_at_most_its_number_of_deliveries() {
        for database in databases().await {
            let store = database.open().await;
            fill(&database, 1..=2 * SLICE).await;
            let page = search(&store, " 1;", None, 10).await;
            assert_eq!((page.rows.len(), page.next.is_some()), (1, true));
            let page = search(&store, " 1;", page.next, 10).await;
            assert_eq!((page.rows.len(), page.next), (0, None));
            fill(&database, 2 * SLICE + 1..=2 * SLICE + 1).await;
            let page = search(&store, " 1;", None, 10).await;
            assert_eq!((page.rows.len(), page.next.is_some()), (0, true));
            let page = search(&store, " 1;", page.next, 10).await;
            assert_eq!((page.rows.len(), page.next), (1, None));
            store.close().await;
        }
    }
}
