//! How the rows of statements are handed over.

use crate::StoreError;
use crate::sql::Row;

/// Takes the rows of a query. Returns true if it needs no further ones, which are then not read.
pub(crate) type TakeRow<'a> = dyn FnMut(&Row<'_>) -> Result<bool, StoreError> + Send + 'a;
/// Takes the first row of each run of a statement, in the order of the runs.
pub(crate) type TakeFirst<'a> = dyn FnMut(Option<&Row<'_>>) -> Result<(), StoreError> + Send + 'a;
/// Takes the rows of several queries, with the index of the query.
pub(crate) type TakeRowOf<'a> = dyn FnMut(usize, &Row<'_>) -> Result<(), StoreError> + Send + 'a;
/// The first rows of two statements, for each run.
pub(crate) type FoundTwo<A, B> = (Vec<Option<A>>, Vec<Option<B>>);
