//! Limits on the size of one deletion. Other writes wait for its transaction, and SQLite overwrites deleted data.

/// Maximum size of the files and recordings in one transaction, in bytes. A larger one is deleted alone.
pub(crate) const PIECE_BYTES: i64 = 8 * 1024 * 1024;
/// Maximum number of messages in one transaction. A longer conversation is deleted alone.
pub(crate) const PIECE_MESSAGES: i64 = 5_000;

/// Returns the first rows whose total size is within a limit, but at least one row.
pub(crate) fn first_within<T>(rows: Vec<T>, limit: i64, size: impl Fn(&T) -> i64) -> Vec<T> {
    let mut sum: i64 = 0;
    let fits = |row: &T| {
        let is_first = sum == 0;
        sum = sum.saturating_add(size(row).max(1));
        is_first || sum <= limit
    };
    rows.into_iter().take_while(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_has_at_least_one_row_and_at_most_its_limit() {
        for (sizes, count) in [
            (vec![], 0),
            (vec![11, 1], 1),
            (vec![9, 1, 1], 2),
            (vec![9, 2], 1),
            (vec![0; 12], 10),
            (vec![-1, i64::MAX, 1], 1),
        ] {
            assert_eq!(
                first_within(sizes.clone(), 10, |size| *size).len(),
                count,
                "{sizes:?}"
            );
        }
    }
}
