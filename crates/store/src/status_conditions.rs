//! Conditions of partial indexes on deliveries, as in migration 89. SQLite uses a partial index only if a query
//! repeats its condition literally. The conditions are comparisons and not lists: for a list of more than two
//! values, SQLite creates a temporary table per index and written row.

/// The delivery has not ended. `$table` is an alias with a dot, or empty.
macro_rules! is_open {
    () => {
        $crate::status_conditions::is_open!("")
    };
    ($table:literal) => {
        concat!(
            "(",
            $table,
            "status = 'received' OR ",
            $table,
            "status = 'queued' OR ",
            $table,
            "status = 'processing')"
        )
    };
}

/// The delivery ended with a status other than completed.
macro_rules! is_not_done {
    () => {
        "(status = 'rejected' OR status = 'filtered' OR status = 'deduplicated' OR status = 'failed')"
    };
}

pub(crate) use {is_not_done, is_open};
