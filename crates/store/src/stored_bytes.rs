//! Files in a column `data`, read in parts.

use crate::sql::{FromRow, Row, query};
use crate::{Conn, StoreError};

struct Bytes(Vec<u8>);

impl FromRow for Bytes {
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        // SQLite's `substr` returns NULL for an empty range.
        let bytes: Option<Vec<u8>> = row.try_get(0)?;
        Ok(Self(bytes.unwrap_or_default()))
    }
}

impl Conn {
    /// Reads bytes of a row's `data` from an offset, counted from 0. Returns fewer bytes at the end.
    pub(crate) async fn find_data_part(
        &mut self,
        table: &'static str,
        id: &str,
        (from, length): (i64, i64),
    ) -> Result<Option<Vec<u8>>, StoreError> {
        // Both engines count from 1; PostgreSQL expects 32-bit integers.
        let query = query(format!(
            "SELECT substr(data, CAST($2 AS INTEGER), CAST($3 AS INTEGER)) FROM {table} WHERE id = $1"
        ));
        let query = query.bind(id).bind(from.saturating_add(1)).bind(length);
        let found: Option<Bytes> = self.find(query).await?;
        Ok(found.map(|Bytes(data)| data))
    }
}
