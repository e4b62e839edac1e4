//! Table `auth_setup_code`: the current setup code and the count of wrong guesses.

use crate::sql::{columns, query};
use crate::{Conn, StoreError};
use gatehouse_domain::Timestamp;

/// The row of `auth_setup_code`.
#[derive(Clone, PartialEq, Eq)]
pub struct SetupCodeRow {
    /// Six digits.
    pub code: String,
    /// Wrong guesses of this code.
    pub wrong_tries: i64,
    /// Number of codes created since the last restart or command because of wrong guesses, including this one.
    pub codes_made: i64,
    /// When wrong guesses last led to a new code.
    pub replaced_at: Option<Timestamp>,
    /// When this code was created.
    pub created_at: Timestamp,
}

columns! { SetupCodeRow: code, wrong_tries, codes_made, replaced_at, created_at }

impl Conn {
    pub async fn find_setup_code(&mut self) -> Result<Option<SetupCodeRow>, StoreError> {
        self.find(query("SELECT * FROM auth_setup_code WHERE id = 1"))
            .await
    }

    /// Replaces the current code.
    pub async fn update_setup_code(&mut self, row: &SetupCodeRow) -> Result<(), StoreError> {
        let query = query(
            "INSERT INTO auth_setup_code (id, code, wrong_tries, codes_made, replaced_at, created_at)
             VALUES (1, $1, $2, $3, $4, $5)
             ON CONFLICT (id) DO UPDATE SET code = excluded.code, wrong_tries = excluded.wrong_tries,
                 codes_made = excluded.codes_made, replaced_at = excluded.replaced_at,
                 created_at = excluded.created_at",
        );
        self.run(
            query
                .bind(&row.code)
                .bind(row.wrong_tries)
                .bind(row.codes_made)
                .bind(row.replaced_at.map(Timestamp::as_millis))
                .bind(row.created_at.as_millis()),
        )
        .await
        .map(drop)
    }

    /// Deletes the code when setup is complete.
    pub async fn delete_setup_code(&mut self) -> Result<(), StoreError> {
        self.run(query("DELETE FROM auth_setup_code"))
            .await
            .map(drop)
    }
}
