//! Which versions of Gatehouse may write to a database that a newer version has migrated. Uses the column
//! `oldest_writer` of the applied migrations.

use crate::sql::{columns, query};
use crate::{Conn, Store, StoreError};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The subject of the change that a migration with [`Writers::With`] records. The migration must not change the
/// tables of changes and migrations, because earlier versions read both tables to detect the migration.
pub const SCHEMA_CHANGED: &str = "schema";
/// The migration that adds the column `oldest_writer`.
pub(crate) const FIRST_STATED: i64 = 73;

/// The versions that may write after a migration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writers {
    /// `-- expand`: all versions, including versions without the migration.
    Any,
    /// `-- contract N`: only versions that contain migration N.
    With(i64),
    /// The file does not state which versions may write. Only versions that contain the migration may write.
    Unstated,
}

impl Writers {
    /// Parses the first line of a migration file.
    pub(crate) fn of(sql: &str) -> Self {
        let first = sql.lines().next().unwrap_or_default();
        if first == "-- expand" {
            return Self::Any;
        }
        let oldest = first.strip_prefix("-- contract ");
        oldest
            .and_then(|version| version.parse().ok())
            .map_or(Self::Unstated, Self::With)
    }

    /// Returns the value of the column `oldest_writer`.
    pub(crate) const fn stored(self) -> Option<i64> {
        match self {
            Self::Any => Some(0),
            Self::With(oldest) => Some(oldest),
            Self::Unstated => None,
        }
    }
}

/// An applied migration.
struct AppliedRow {
    version: i64,
    oldest_writer: Option<i64>,
}

columns! { AppliedRow: version, oldest_writer }

/// The migrations in the database that this version does not contain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Unknown {
    /// The newest migration that this version does not contain.
    pub(crate) newest: Option<i64>,
    /// The first migration after which this version must not write.
    pub(crate) refusing: Option<i64>,
}

impl Unknown {
    fn among(applied: &[AppliedRow], is_known: impl Fn(i64) -> bool) -> Self {
        let unknown = || applied.iter().filter(|row| !is_known(row.version));
        let refuses = |row: &&AppliedRow| match row.oldest_writer {
            Some(0) => false,
            Some(oldest) => !is_known(oldest),
            None => true,
        };
        Self {
            newest: unknown().map(|row| row.version).max(),
            refusing: unknown().find(refuses).map(|row| row.version),
        }
    }
}

impl Conn {
    /// Compares the applied migrations below `end` with the migrations of this version.
    pub(crate) async fn find_unknown_migrations(
        &mut self,
        end: i64,
        is_known: impl Fn(i64) -> bool + Send,
    ) -> Result<Unknown, StoreError> {
        let stated = "SELECT COUNT(*) FROM _sqlx_migrations WHERE version = $1";
        let is_stated = self.number(query(stated).bind(FIRST_STATED)).await? > 0;
        let list = query(if is_stated {
            "SELECT version, oldest_writer FROM _sqlx_migrations WHERE version < $1 ORDER BY version"
        } else {
            "SELECT version, CAST(NULL AS BIGINT) AS oldest_writer FROM _sqlx_migrations
             WHERE version < $1 ORDER BY version"
        });
        let applied: Vec<AppliedRow> = self.list(list.bind(end)).await?;
        Ok(Unknown::among(&applied, is_known))
    }

    /// Notifies nodes of earlier versions, which may have to stop writing. Its time equals the time of the newest
    /// change.
    pub(crate) async fn insert_schema_change(&mut self) -> Result<(), StoreError> {
        let now = self
            .number(query("SELECT COALESCE(MAX(at), 0) FROM changes"))
            .await?;
        let insert = query(self.engine().insert_change());
        self.list::<String>(insert.bind(SCHEMA_CHANGED).bind(now))
            .await
            .map(drop)
    }
}

/// Whether another node has migrated the database to a schema that this version must not write to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outdated(Arc<AtomicBool>);

impl Outdated {
    /// Makes every later write fail. Returns whether writes already failed before.
    pub(crate) fn set(&self) -> bool {
        self.0.swap(true, Ordering::AcqRel)
    }

    /// Returns an error if this version is too old to write.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        if self.0.load(Ordering::Acquire) {
            Err(StoreError::Outdated)
        } else {
            Ok(())
        }
    }
}

impl Store {
    /// Returns whether another node has migrated the database to a schema that this version must not write to.
    /// Every write then fails with [`StoreError::Outdated`] until the process ends.
    pub fn is_outdated(&self) -> bool {
        self.outdated.check().is_err()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_of_a_migration_states_who_may_write() {
        for (sql, expected, stored) in [
            ("-- expand\nALTER", Writers::Any, Some(0)),
            ("-- contract 77\nALTER", Writers::With(77), Some(77)),
            ("-- contract\nALTER", Writers::Unstated, None),
            ("-- expands\nALTER", Writers::Unstated, None),
            ("ALTER\n-- expand", Writers::Unstated, None),
            ("", Writers::Unstated, None),
        ] {
            let writers = Writers::of(sql);
            assert_eq!((writers, writers.stored()), (expected, stored), "{sql}");
        }
    }

    #[test]
    fn a_version_may_write_while_no_unknown_migration_needs_another_unknown_one() {
        let known = |version| version <= 80;
        let row = |(version, oldest_writer)| AppliedRow {
            version,
            oldest_writer,
        };
        for (applied, newest, refusing) in [
            (vec![(79, None), (80, Some(80))], None, None),
            (vec![(81, Some(0))], Some(81), None),
            (vec![(81, Some(0)), (82, Some(80))], Some(82), None),
            (vec![(81, Some(0)), (82, Some(81))], Some(82), Some(82)),
            (vec![(81, None), (82, Some(0))], Some(82), Some(81)),
        ] {
            let rows: Vec<_> = applied.iter().copied().map(row).collect();
            let unknown = Unknown::among(&rows, known);
            assert_eq!(unknown, Unknown { newest, refusing }, "{applied:?}");
        }
    }
}
