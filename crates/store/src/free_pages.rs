//! Returns free pages of the database file to the file system, in small steps. PostgreSQL does so automatically.

use crate::dialect::Engine;
use crate::sql::{FromRow, Row, query};
use crate::{Conn, StoreError};

/// The value of `PRAGMA auto_vacuum` for `INCREMENTAL`. SQLite sets it only in a new database, so files of
/// earlier versions have 0 until they are rebuilt with `VACUUM`.
const INCREMENTAL: i64 = 2;
/// The minimum number of free pages that are kept for new rows: 4 MiB.
const KEPT: i64 = 1024;

/// A row of `PRAGMA incremental_vacuum`. The pragma returns one row per released page. Its values are not used.
struct Released;

impl FromRow for Released {
    fn from_row(_: &Row<'_>) -> Result<Self, StoreError> {
        Ok(Self)
    }
}

impl Conn {
    /// Releases up to `limit` free pages and returns their number. Keeps free pages for new rows, at least a
    /// quarter of the used pages. Otherwise the file would alternately shrink and grow under a steady load.
    pub async fn release_free_pages(&mut self, limit: i64) -> Result<i64, StoreError> {
        if self.engine() != Engine::Sqlite
            || self.number(query("PRAGMA auto_vacuum")).await? != INCREMENTAL
        {
            return Ok(0);
        }
        let free = self.number(query("PRAGMA freelist_count")).await?;
        let pages = self.number(query("PRAGMA page_count")).await?;
        let kept = KEPT.max(pages.saturating_sub(free) / 4);
        let surplus = free.saturating_sub(kept).min(limit);
        if surplus <= 0 {
            return Ok(0);
        }
        let release = query(format!("PRAGMA incremental_vacuum({surplus})"));
        self.list::<Released>(release).await?;
        Ok(surplus)
    }
}

#[cfg(test)]
mod tests {
    use crate::sql::query;
    use crate::testing;

    #[tokio::test]
    async fn a_file_shrinks_after_much_was_deleted_and_keeps_some_free_pages() {
        let database = testing::sqlite();
        let store = database.open().await;
        let (full, released, left) = store
            .write(|conn| {
                Box::pin(async move {
                    conn.run(query("CREATE TABLE heap (text TEXT)")).await?;
                    let fill = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
                        INSERT INTO heap SELECT hex(zeroblob(2000)) FROM n";
                    conn.run(query(fill)).await?;
                    let pages = conn.number(query("PRAGMA page_count")).await?;
                    conn.run(query("DELETE FROM heap")).await?;
                    let mut released = 0;
                    loop {
                        match conn.release_free_pages(256).await? {
                            0 => break,
                            more => released += more,
                        }
                    }
                    let left = conn.number(query("PRAGMA page_count")).await?;
                    Ok::<_, crate::StoreError>((pages, released, left))
                })
            })
            .await
            .unwrap();
        assert!(released > 3000, "{full} {released} {left}");
        assert!(left <= full - released, "{full} {released} {left}");
        store.close().await;
    }
}
