//! All rows of a database, before and after an upgrade.

use data_encoding::HEXLOWER;
use gatehouse_store::Snapshot;
use gatehouse_store::testing::TestDatabase;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// The columns of a row, by name.
pub(crate) type Row = BTreeMap<String, String>;
/// The rows of each table.
pub(crate) type Rows = BTreeMap<String, Vec<Row>>;

/// Reads all rows of all tables but `_sqlx_migrations`.
pub(crate) async fn rows(database: &TestDatabase) -> Rows {
    let mut snapshot = Snapshot::open(&database.location).await.unwrap();
    let mut all = Rows::new();
    for table in snapshot.tables().to_vec() {
        let mut rows = Vec::new();
        let mut next = None;
        loop {
            let page = snapshot.read(&table, next).await.unwrap();
            rows.extend(page.rows.iter().map(|cells| {
                let named = table.columns.iter().zip(cells);
                named
                    .map(|(column, cell)| (column.name.clone(), format!("{cell:?}")))
                    .collect()
            }));
            next = page.next;
            if next.is_none() {
                break;
            }
        }
        all.insert(table.name.clone(), rows);
    }
    all
}

/// Checks that every row still exists, with the same values in the columns that still exist.
pub(crate) fn assert_kept(before: &Rows, after: &Rows, what: &str) {
    for (table, rows) in before {
        // Migration 68 moves its rows.
        let is_moved = table == "inbound_messages" && !before.contains_key("received_messages");
        let is_moved = is_moved && after.contains_key("received_messages");
        let table = if is_moved { "received_messages" } else { table };
        let now = after
            .get(table)
            .unwrap_or_else(|| panic!("{what}: {table} is gone"));
        let (Some(old), Some(new)) = (rows.first(), now.first()) else {
            assert!(rows.is_empty(), "{what}: {table} is empty");
            continue;
        };
        let same: Vec<&String> = old.keys().filter(|it| new.contains_key(*it)).collect();
        let values =
            |row: &Row| -> Vec<String> { same.iter().map(|it| row[*it].clone()).collect() };
        let now: BTreeSet<_> = now.iter().map(values).collect();
        for row in rows {
            assert!(
                now.contains(&values(row)),
                "{what}: {table} has lost {row:?}"
            );
        }
    }
}

/// Returns the number of tables and rows of `before`, and the SHA-256 of the values of these tables and columns in
/// `after`. The result is the same on both engines.
pub(crate) fn digest(before: &Rows, after: &Rows) -> String {
    let mut hash = Sha256::new();
    for (table, rows) in before {
        let columns: BTreeSet<&String> = rows.iter().flat_map(BTreeMap::keys).collect();
        let now = after.get(table).into_iter().flatten();
        let mut lines: Vec<String> = now
            .map(|row| {
                let kept = row.iter().filter(|(column, _)| columns.contains(column));
                let cells: Vec<_> = kept.map(|(name, cell)| format!("{name}={cell}")).collect();
                format!("{table} {}\n", cells.join(" "))
            })
            .collect();
        lines.sort_unstable();
        for line in lines {
            hash.update(line);
        }
    }
    let count: usize = before.values().map(Vec::len).sum();
    let hash = HEXLOWER.encode(&hash.finalize());
    format!("{} tables {count} rows {hash}", before.len())
}
