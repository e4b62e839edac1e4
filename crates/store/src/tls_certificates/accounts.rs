//! Table `tls_accounts`: accounts at certificate authorities.

use crate::sql::{columns, query};
use crate::{Conn, StoreError};
use gatehouse_domain::Timestamp;

/// A row of `tls_accounts`.
#[derive(Clone, PartialEq, Eq)]
pub struct TlsAccountRow {
    /// The URL of the certificate authority's directory.
    pub directory: String,
    pub email: String,
    /// JSON with the account's private key.
    pub credentials: String,
    pub created_at: Timestamp,
}

columns! { TlsAccountRow: directory, email, credentials, created_at }

impl Conn {
    pub async fn find_tls_account(
        &mut self,
        directory: &str,
    ) -> Result<Option<TlsAccountRow>, StoreError> {
        let query = query("SELECT * FROM tls_accounts WHERE directory = $1");
        self.find(query.bind(directory)).await
    }

    /// Inserts or replaces the account at a directory.
    pub async fn update_tls_account(&mut self, row: &TlsAccountRow) -> Result<(), StoreError> {
        let query = query(
            "INSERT INTO tls_accounts (directory, email, credentials, created_at)
             VALUES ($1, $2, $3, $4)
             ON CONFLICT (directory) DO UPDATE SET email = excluded.email,
                 credentials = excluded.credentials, created_at = excluded.created_at",
        );
        let query = query
            .bind(&row.directory)
            .bind(&row.email)
            .bind(&row.credentials)
            .bind(row.created_at.as_millis());
        self.run(query).await.map(drop)
    }
}
