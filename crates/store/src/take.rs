//! Callbacks that receive the rows of statements.

use crate::StoreError;
use crate::sql::Row;

/// Receives a row of a query. Returns true if no further rows are needed; they are then not read.
pub(crate) type TakeRow<'a> = dyn FnMut(&Row<'_>) -> Result<bool, StoreError> + Send + 'a;
/// Receives the first row of each run of a statement, in the order of the runs.
pub(crate) type TakeFirst<'a> = dyn FnMut(Option<&Row<'_>>) -> Result<(), StoreError> + Send + 'a;
/// Receives the rows of several queries, with the index of the query.
pub(crate) type TakeRowOf<'a> = dyn FnMut(usize, &Row<'_>) -> Result<(), StoreError> + Send + 'a;
/// The first row of each run, for two statements.
pub(crate) type FoundTwo<A, B> = (Vec<Option<A>>, Vec<Option<B>>);
