//! Walks over deliveries, newest first. A walk reads an index in the order of IDs. A page of a list merges one or
//! more walks. If rows must also be checked, a walk reads the index in slices and stops when the page has used up
//! its budget. The page is then shorter than requested, or empty, and has a next page. A small table is always read
//! to its end.

mod pages;

use crate::deliveries::{COLUMNS, DeliveryRow};
use crate::sql::{Query, query};
use std::time::Duration;

/// A page of deliveries, newest first.
#[derive(Clone, Debug)]
pub struct DeliveryPage {
    pub rows: Vec<DeliveryRow>,
    /// The value of [`before`](crate::DeliveryFilter::before) for the next page, if there may be one.
    pub next: Option<String>,
}

/// Index entries per slice. The statements of a slice read the same rows, which should fit into the page cache of a
/// SQLite connection (2 MiB).
pub(crate) const SLICE: usize = 500;
/// Index entries per slice and walk if a page merges several walks.
const SLICE_OF_SEVERAL: usize = 100;

/// Limits for one page. When one is reached, no further slice begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// The time limit does not apply until a page has read more index entries than this.
    pub(crate) at_least: usize,
    /// Maximum number of index entries. A page may exceed it by less than a slice.
    pub(crate) entries: usize,
    pub(crate) time: Duration,
}

pub(crate) const PAGE: Budget = Budget {
    at_least: 2_000,
    entries: 20_000,
    time: Duration::from_millis(12),
};

impl Budget {
    fn allows(&self, scanned: usize, elapsed: Duration) -> bool {
        scanned < self.entries && (scanned <= self.at_least || elapsed < self.time)
    }
}

/// The deliveries to find with one index. Its parameters are `$1` (the exclusive upper limit of the ID), `$2` (the
/// inclusive lower limit) and, from `$3` on, the values of `index` followed by the values of `rows`.
#[derive(Clone, Debug)]
pub(crate) struct Walk {
    before: String,
    from: String,
    /// Conditions that the index answers.
    index: Vec<String>,
    /// Conditions that are checked for each row. They name columns in expressions such as `status || ''`, so that
    /// the database uses no other index.
    rows: Vec<String>,
    values: Vec<String>,
    /// Number of `values` that belong to `index`.
    indexed: usize,
    /// Whether all rows of the index are read at once. True for an index with few rows that is not in the order of
    /// IDs.
    is_short: bool,
    /// Number of rows found.
    found: usize,
    /// Whether the walk has found all deliveries, or enough for the page.
    is_done: bool,
}

impl Walk {
    /// Walks from `before` (exclusive) down to `from` (inclusive).
    pub(crate) fn new(before: String, from: String) -> Self {
        Self {
            before,
            from,
            index: Vec::new(),
            rows: Vec::new(),
            values: Vec::new(),
            indexed: 0,
            is_short: false,
            found: 0,
            is_done: false,
        }
    }

    /// Reads all deliveries of the index at once.
    pub(crate) fn at_once(mut self) -> Self {
        self.is_short = true;
        self
    }

    /// Adds a value and returns the number of its parameter.
    pub(crate) fn value(&mut self, value: impl Into<String>) -> usize {
        self.values.push(value.into());
        self.values.len() + 2
    }

    /// Adds a condition that the index answers, with the values added so far. Must not follow [`Self::check`].
    pub(crate) fn with_index(&mut self, condition: impl Into<String>) {
        self.index.push(condition.into());
        self.indexed = self.values.len();
    }

    /// Adds a condition that rows are checked for.
    pub(crate) fn check(&mut self, condition: impl Into<String>) {
        self.rows.push(condition.into());
    }

    const fn is_sliced(&self) -> bool {
        !self.is_short && !self.rows.is_empty()
    }

    /// Returns the expression to compare and to sort by.
    const fn id(&self) -> &'static str {
        if self.is_short { "id || ''" } else { "id" }
    }

    fn conditions(&self, others: &[&[String]]) -> String {
        let id = self.id();
        let bounds = format!("{id} < $1 AND {id} >= $2");
        let others = others.iter().flat_map(|all| all.iter().cloned());
        let all: Vec<String> = std::iter::once(bounds).chain(others).collect();
        all.join(" AND ")
    }

    /// Selects the last ID of the next slice. Returns no row if less than a slice is left.
    fn end(&self, slice: usize) -> Query<'static> {
        let sql = format!(
            "SELECT id FROM webhook_deliveries WHERE {} ORDER BY id DESC LIMIT 1 OFFSET {}",
            self.conditions(&[&self.index]),
            slice.saturating_sub(1)
        );
        let values = self.values.iter().take(self.indexed);
        bound(sql, [&self.before, &self.from].into_iter().chain(values))
    }

    /// Selects up to `limit + 1` deliveries, newest first, down to `end` (inclusive).
    fn find(&self, end: Option<&String>, limit: i64) -> Query<'static> {
        let sql = format!(
            "SELECT {COLUMNS} FROM webhook_deliveries WHERE {} ORDER BY {} DESC LIMIT {}",
            self.conditions(&[&self.index, &self.rows]),
            self.id(),
            limit.saturating_add(1)
        );
        let limits = [&self.before, end.unwrap_or(&self.from)];
        bound(sql, limits.into_iter().chain(&self.values))
    }

    /// Returns the statements of a slice for an `EXPLAIN`, with literals instead of parameters.
    #[cfg(test)]
    pub(crate) fn statements(&self) -> Vec<String> {
        let end = self.is_sliced().then(|| self.end(SLICE));
        let all = end.into_iter().chain([self.find(None, 50)]);
        all.map(|statement| crate::plan::with_values(&statement))
            .collect()
    }

    /// Continues after a slice in which `count` deliveries were found.
    fn advance(&mut self, end: Option<String>, count: usize, limit: i64) {
        self.found = self.found.saturating_add(count);
        match end {
            Some(end) if !is_over(self.found, limit) => self.before = end,
            _ => self.is_done = true,
        }
    }
}

/// Returns whether there are more deliveries than fit on a page.
fn is_over(count: usize, limit: i64) -> bool {
    i64::try_from(count).is_ok_and(|count| count > limit)
}

fn bound<'v>(sql: String, values: impl Iterator<Item = &'v String>) -> Query<'static> {
    values.fold(query(sql), |query, value| query.bind(value.clone()))
}

#[cfg(test)]
mod tests;
