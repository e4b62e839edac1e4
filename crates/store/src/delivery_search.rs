//! Searches for deliveries by text. No index serves them, so a page of results scans a limited number of deliveries.

use crate::deliveries::{COLUMNS, DeliveryRow};
use crate::delivery_list::{DeliveryPage, Rest, bound};
use crate::letter_case::lower_case;
use crate::{Conn, StoreError};
use std::time::{Duration, Instant};

/// Deliveries per statement. Both statements of a slice read the same rows, which should fit into the page cache of a
/// SQLite connection (2 MiB).
const SLICE: usize = 500;
/// Limits for the scan of one page. When either is used up, no further slice begins.
#[derive(Clone, Copy, Debug)]
struct Budget {
    deliveries: usize,
    time: Duration,
}

const PAGE: Budget = Budget {
    deliveries: 20_000,
    time: Duration::from_millis(12),
};

impl Budget {
    fn allows(&self, scanned: usize, elapsed: Duration) -> bool {
        scanned < self.deliveries && elapsed < self.time
    }
}

/// The searched columns. A preview that equals the payload is not stored.
const SEARCHED: [&str; 6] = [
    "event_type",
    "entity_key",
    "summary",
    "outcome",
    "error",
    "CASE WHEN body_preview = '' THEN payload ELSE body_preview END",
];

impl Conn {
    /// Returns a page of the deliveries that contain a text, newest first. It is shorter than `limit`, or empty, and
    /// has a next page if there are more deliveries than `PAGE` allows.
    pub(crate) async fn search_deliveries(
        &mut self,
        rest: Rest,
        text: &str,
        limit: i64,
    ) -> Result<DeliveryPage, StoreError> {
        self.search_within(rest, text, limit, PAGE).await
    }

    async fn search_within(
        &mut self,
        rest: Rest,
        text: &str,
        limit: i64,
        budget: Budget,
    ) -> Result<DeliveryPage, StoreError> {
        let began = Instant::now();
        let Rest {
            conditions,
            mut values,
        } = rest;
        let from = format!("FROM webhook_deliveries WHERE {conditions}");
        let last = format!(
            "SELECT id {from} ORDER BY id DESC LIMIT 1 OFFSET {}",
            SLICE - 1
        );
        let (down_to, text_at, lower_at) = (values.len() + 1, values.len() + 2, values.len() + 3);
        let matches = SEARCHED.map(|column| self.engine().contains(column, text_at, lower_at));
        let find = format!(
            "SELECT {COLUMNS} {from} AND id >= ${down_to} AND ({}) ORDER BY id DESC LIMIT {}",
            matches.join(" OR "),
            limit.saturating_add(1)
        );
        let (mut rows, mut scanned) = (Vec::new(), 0);
        loop {
            let end: Option<String> = self.find(bound(last.clone(), &values)).await?;
            let slice = [
                end.clone().unwrap_or_default(),
                text.to_owned(),
                lower_case(text),
            ];
            let slice = [values.as_slice(), slice.as_slice()].concat();
            let found: Vec<DeliveryRow> = self.list(bound(find.clone(), &slice)).await?;
            rows.extend(found);
            scanned += SLICE;
            let is_full = i64::try_from(rows.len()).is_ok_and(|count| count > limit);
            match end {
                Some(end) if !is_full && budget.allows(scanned, began.elapsed()) => {
                    if let Some(before) = values.first_mut() {
                        *before = end;
                    }
                }
                end => return Ok(DeliveryPage::of(rows, limit, end)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestDatabase, databases, run_sql};
    use crate::{DeliveryFilter, Store};
    use std::ops::RangeInclusive;

    #[test]
    fn a_page_is_searched_within_a_number_and_a_time() {
        let just = PAGE.time.saturating_sub(Duration::from_nanos(1));
        assert!(PAGE.allows(PAGE.deliveries - 1, just));
        assert!(!PAGE.allows(PAGE.deliveries, Duration::ZERO));
        assert!(!PAGE.allows(0, PAGE.time));
    }

    /// Two slices per page, however long they take.
    const TWO: Budget = Budget {
        deliveries: 2 * SLICE,
        time: Duration::MAX,
    };

    async fn search(store: &Store, text: &str, before: Option<String>, limit: i64) -> DeliveryPage {
        let filter = DeliveryFilter {
            before,
            ..DeliveryFilter::default()
        };
        let (rest, text) = (Rest::of(&filter), text.to_owned());
        let read = store.read(move |conn| {
            Box::pin(async move { conn.search_within(rest, &text, limit, TWO).await })
        });
        read.await.unwrap()
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

    /// Stores deliveries with these numbers. Their texts contain the number, and every 350th a needle.
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
