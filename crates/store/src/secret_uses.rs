//! Table `secret_uses`: when each stored secret was last used.

use crate::sql::{Value, columns, query};
use crate::{Conn, StoreError};
use gatehouse_domain::Timestamp;

/// The last use of a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretUseRow {
    pub name: String,
    pub used_at: Timestamp,
}

columns! { SecretUseRow: name, used_at }

/// The table of each kind of secret, and the column with the secret's name.
const SECRETS: [(&str, &str, &str); 4] = [
    ("channel", "channel_accounts", "id"),
    ("env", "env_variables", "key"),
    (PROVIDER, "provider_keys", "id"),
    ("ssh", "ssh_keys", "name"),
];
const PROVIDER: &str = "provider";

/// Returns the statement that stores the last use of a secret. If the secret has a row in a table, the row must
/// still exist and be older than the use.
fn set(table: Option<(&str, &str)>) -> String {
    let condition = match table {
        Some((table, name)) => {
            format!("EXISTS (SELECT 1 FROM {table} WHERE {name} = $2 AND created_at <= $3)")
        }
        None => "TRUE".to_owned(),
    };
    format!(
        "INSERT INTO secret_uses (kind, name, used_at) SELECT $1, $2, $3 WHERE {condition}
         ON CONFLICT (kind, name) DO UPDATE SET used_at = excluded.used_at
             WHERE secret_uses.used_at < excluded.used_at"
    )
}

impl Conn {
    /// Returns the last uses of all secrets of a kind.
    pub async fn list_secret_uses(&mut self, kind: &str) -> Result<Vec<SecretUseRow>, StoreError> {
        let sql = "SELECT name, used_at FROM secret_uses WHERE kind = $1 ORDER BY name";
        self.list(query(sql).bind(kind)).await
    }

    /// Stores the last uses of secrets, given as kind, name and time. Keeps the later one of the stored and the
    /// given time. Stores nothing for a secret whose row was deleted. Provider keys have rows only if
    /// `has_provider_rows` is true.
    pub async fn update_secret_uses(
        &mut self,
        uses: &[(&'static str, String, Timestamp)],
        has_provider_rows: bool,
    ) -> Result<(), StoreError> {
        // Sorted, so that two nodes lock the rows in the same order.
        let mut sorted: Vec<_> = uses.iter().collect();
        sorted.sort();
        for (kind, table, column) in SECRETS {
            let rows: Vec<Vec<Value<'_>>> = sorted
                .iter()
                .filter(|(of, ..)| *of == kind)
                .map(|(kind, name, at)| vec![(*kind).into(), name.into(), at.as_millis().into()])
                .collect();
            let is_row = kind != PROVIDER || has_provider_rows;
            if !rows.is_empty() {
                self.run_each(&set(is_row.then_some((table, column))), &rows)
                    .await?;
            }
        }
        Ok(())
    }

    /// Deletes the last use of a secret.
    pub async fn delete_secret_use(&mut self, kind: &str, name: &str) -> Result<(), StoreError> {
        let query = query("DELETE FROM secret_uses WHERE kind = $1 AND name = $2");
        self.run(query.bind(kind).bind(name)).await.map(drop)
    }
}
