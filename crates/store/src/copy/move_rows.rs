//! Copies all rows of a database into another one, in small transactions, and compares both at the end.

use super::{Cell, Import, ImportError, Snapshot, Table};
use crate::Location;
use sha2::{Digest, Sha256};

/// The operations of [`move_rows()`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoveStep {
    Copy,
    Compare,
}

/// A table that was copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MovedTable {
    pub name: String,
    pub rows: u64,
    /// Sum of the hashes of all rows. It does not depend on their order, which differs between engines.
    pub sum: u128,
}

/// Copies all rows from one database into another. The target must be empty, or contain a part of these rows from
/// an earlier call. Compares the rows of an earlier call before writing any row. After the copy, reads both
/// databases and compares every row. No server can open the target until the comparison succeeds. The source is not
/// changed, and must not change during the call: a difference is an error. Returns the tables. `progress` gets the
/// number of completed rows of a step and the total.
///
/// Blocks the thread while it reads or writes SQLite.
pub async fn move_rows(
    from: &Location,
    to: &Location,
    mut progress: impl FnMut(MoveStep, u64, u64),
) -> Result<Vec<MovedTable>, ImportError> {
    let mut source = Snapshot::open(from).await?;
    let mut target = Import::begin_move(to, source.version()).await?;
    // From this commit on, servers refuse to open the target.
    target.save().await?;
    let tables = source.tables().to_vec();
    ensure_begun_from(&mut source, to).await?;
    let mut total = 0;
    for table in &tables {
        total += u64::try_from(source.count(table).await?).unwrap_or_default();
    }
    let mut done = 0;
    for table in &tables {
        let report = |rows| progress(MoveStep::Copy, done + rows, total);
        done += copy_table(&mut source, &mut target, table, report).await?;
    }
    // A new snapshot also sees rows that were written to the source after the first snapshot.
    let mut source = Snapshot::open(from).await?;
    let mut copy = Snapshot::open_unfinished(to).await?;
    let mut moved = Vec::new();
    let mut done = 0;
    for table in source.tables().to_vec() {
        let report = |rows| progress(MoveStep::Compare, done + rows, total);
        let expected = sum(&mut source, &table, u64::MAX, report).await?;
        let own = copy.tables().iter().find(|own| own.name == table.name);
        let found = match own.cloned() {
            Some(own) => Some(sum(&mut copy, &own, u64::MAX, |_| ()).await?),
            None => None,
        };
        if found.as_ref() != Some(&expected) {
            return Err(differs(&table));
        }
        done += expected.rows;
        moved.push(expected);
    }
    drop(copy);
    target.finish().await?;
    Ok(moved)
}

/// Fails if the rows of the target are not the first rows of this source. They then come from another source.
async fn ensure_begun_from(source: &mut Snapshot, to: &Location) -> Result<(), ImportError> {
    let mut copy = Snapshot::open_unfinished(to).await?;
    for table in source.tables().to_vec() {
        let own = copy.tables().iter().find(|own| own.name == table.name);
        let Some(own) = own.cloned() else {
            continue;
        };
        let found = sum(&mut copy, &own, u64::MAX, |_| ()).await?;
        let is_begun = found.rows > 0;
        if is_begun && sum(source, &table, found.rows, |_| ()).await? != found {
            return Err(differs(&table));
        }
    }
    Ok(())
}

fn differs(table: &Table) -> ImportError {
    ImportError::Differs {
        table: table.name.clone(),
    }
}

/// Copies the rows that the target does not have. Rows are written in the order in which the source returns them,
/// so an unfinished move has written the first rows. Returns the number of rows of the source.
async fn copy_table(
    source: &mut Snapshot,
    target: &mut Import,
    table: &Table,
    mut report: impl FnMut(u64),
) -> Result<u64, ImportError> {
    let own = target.table(&table.name, &table.columns)?;
    let present = target.count(&own).await?;
    let (mut read, mut after) = (0, None);
    loop {
        let page = source.read(table, after).await?;
        let skipped = usize::try_from(present.saturating_sub(read)).unwrap_or(usize::MAX);
        let missing = page.rows.get(skipped..).unwrap_or_default();
        if !missing.is_empty() {
            target.insert(&own, missing).await?;
            target.save().await?;
        }
        read += page.rows.len() as u64;
        report(read);
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    if present > read {
        return Err(differs(table));
    }
    Ok(read)
}

/// Reads a table and adds up the hashes of its rows, or of its first `limit` rows.
async fn sum(
    snapshot: &mut Snapshot,
    table: &Table,
    limit: u64,
    mut report: impl FnMut(u64),
) -> Result<MovedTable, ImportError> {
    // The order of the columns depends on the database.
    let mut order: Vec<usize> = (0..table.columns.len()).collect();
    order.sort_by_key(|&place| table.columns.get(place).map(|column| &column.name));
    let mut moved = MovedTable {
        name: table.name.clone(),
        rows: 0,
        sum: 0,
    };
    let mut after = None;
    loop {
        let page = snapshot.read(table, after).await?;
        let left = usize::try_from(limit.saturating_sub(moved.rows)).unwrap_or(usize::MAX);
        for row in page.rows.iter().take(left) {
            let cells = order.iter().filter_map(|&place| row.get(place));
            moved.sum = moved.sum.wrapping_add(hash(cells));
            moved.rows += 1;
        }
        report(moved.rows);
        after = page.next;
        if after.is_none() || moved.rows >= limit {
            return Ok(moved);
        }
    }
}

/// Returns the first 16 bytes of the SHA-256 of a row. Each value is preceded by its type and its length.
fn hash<'c>(cells: impl Iterator<Item = &'c Cell>) -> u128 {
    let mut hash = Sha256::new();
    for cell in cells {
        let number;
        let (kind, bytes): (u8, &[u8]) = match cell {
            Cell::Null => (0, &[]),
            Cell::Integer(value) => {
                number = value.to_le_bytes();
                (1, &number)
            }
            Cell::Text(text) => (2, text.as_bytes()),
            Cell::Blob(bytes) => (3, bytes),
        };
        hash.update([kind]);
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    }
    let hash = hash.finalize();
    let mut first = [0; 16];
    for (to, from) in first.iter_mut().zip(hash) {
        *to = from;
    }
    u128::from_le_bytes(first)
}
