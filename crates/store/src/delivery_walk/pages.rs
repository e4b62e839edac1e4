//! Pages of deliveries that one or more walks find.

use super::{Budget, DeliveryPage, SLICE, SLICE_OF_SEVERAL, Walk, is_over};
use crate::deliveries::DeliveryRow;
use crate::delivery_unreadable::Shown;
use crate::sql::{FromRow, Query};
use crate::{Conn, StoreError};
use std::time::Instant;

impl Conn {
    /// Returns a page of the deliveries that any of the walks finds.
    pub(crate) async fn walk_deliveries(
        &mut self,
        mut walks: Vec<Walk>,
        limit: i64,
        budget: Budget,
    ) -> Result<DeliveryPage, StoreError> {
        let began = Instant::now();
        let slice = if walks.len() > 1 {
            SLICE_OF_SEVERAL
        } else {
            SLICE
        };
        let (mut rows, mut scanned) = (Vec::new(), 0);
        loop {
            rows.extend(self.walk_on(&mut walks, slice, limit).await?);
            let open = walks.iter().filter(|walk| !walk.is_done);
            let reached: Vec<_> = open.map(|walk| walk.before.as_str()).collect();
            // A walk that has not finished has read a whole slice.
            scanned += slice * reached.len();
            // All deliveries from this ID on have been found.
            let searched_to = reached.into_iter().max();
            let known = |row: &&DeliveryRow| searched_to.is_none_or(|to| row.id.as_str() >= to);
            let is_full = is_over(rows.iter().filter(known).count(), limit);
            if is_full || searched_to.is_none() || !budget.allows(scanned, began.elapsed()) {
                let searched_to = searched_to.map(str::to_owned);
                return Ok(page_of(rows, limit, searched_to));
            }
        }
    }

    /// Reads a slice of each walk.
    async fn walk_on(
        &mut self,
        walks: &mut [Walk],
        slice: usize,
        limit: i64,
    ) -> Result<Vec<DeliveryRow>, StoreError> {
        let mut open: Vec<_> = walks.iter_mut().filter(|walk| !walk.is_done).collect();
        let sliced = open.iter().filter(|walk| walk.is_sliced());
        let ends: Vec<_> = sliced.map(|walk| walk.end(slice)).collect();
        let mut ends = self.list_all::<String>(ends).await?.into_iter();
        let mut ends_of_open = Vec::with_capacity(open.len());
        for walk in &open {
            let found = walk.is_sliced().then(|| ends.next()).flatten();
            ends_of_open.push(found.and_then(|ids| ids.into_iter().next()));
        }
        let finds = open.iter().zip(&ends_of_open);
        let finds: Vec<_> = finds
            .map(|(walk, end)| walk.find(end.as_ref(), limit))
            .collect();
        let found = self.list_all::<Shown>(finds).await?;
        let mut rows = Vec::new();
        for ((walk, end), found) in open.iter_mut().zip(ends_of_open).zip(found) {
            walk.advance(end, found.len(), limit);
            rows.extend(found.into_iter().map(|shown| shown.0));
        }
        Ok(rows)
    }

    /// Runs queries in one round trip. Returns the rows of each.
    async fn list_all<T: FromRow>(
        &mut self,
        queries: Vec<Query<'_>>,
    ) -> Result<Vec<Vec<T>>, StoreError> {
        let mut queries = queries.into_iter();
        let Some(first) = queries.next() else {
            return Ok(Vec::new());
        };
        let others: Vec<_> = queries.collect();
        if others.is_empty() {
            // Prepares the statements again if one is outdated.
            return Ok(vec![self.list(first).await?]);
        }
        let (first, others) = self.lists::<T, T>(&first, &others).await?;
        let mut all = vec![first];
        all.extend(others);
        Ok(all)
    }
}

/// Builds a page from rows in any order. Ignores rows that are older than `searched_to`.
fn page_of(mut rows: Vec<DeliveryRow>, limit: i64, searched_to: Option<String>) -> DeliveryPage {
    if let Some(to) = &searched_to {
        rows.retain(|row| row.id.as_str() >= to.as_str());
    }
    rows.sort_by(|one, other| other.id.cmp(&one.id));
    // Two walks can find a delivery whose status changes between their statements.
    rows.dedup_by(|one, other| one.id == other.id);
    DeliveryPage::of(rows, limit, searched_to)
}
