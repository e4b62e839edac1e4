//! Table `preferences`: what users save in the web UI.

use crate::sql::{columns, query};
use crate::{Conn, StoreError};

/// A row of `preferences`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreferenceRow {
    pub kind: String,
    /// Unique within the kind.
    pub name: String,
    pub value: String,
}

columns! { PreferenceRow: kind, name, value }

impl Conn {
    /// Lists all entries by kind and name.
    pub async fn list_preferences(&mut self) -> Result<Vec<PreferenceRow>, StoreError> {
        let mut all: Vec<PreferenceRow> = self.list(query("SELECT * FROM preferences")).await?;
        // Sorted here because the collations of the engines differ.
        all.sort_by(|a, b| (&a.kind, &a.name).cmp(&(&b.kind, &b.name)));
        Ok(all)
    }

    /// Counts the entries of a kind with other names.
    pub async fn count_other_preferences(
        &mut self,
        kind: &str,
        name: &str,
    ) -> Result<i64, StoreError> {
        let query = query(
            "SELECT CAST(COUNT(*) AS BIGINT) FROM preferences WHERE kind = $1 AND name <> $2",
        );
        self.number(query.bind(kind).bind(name)).await
    }

    /// Inserts an entry, or replaces the one with the same kind and name.
    pub async fn update_preference(&mut self, row: &PreferenceRow) -> Result<(), StoreError> {
        let query = query(
            "INSERT INTO preferences (kind, name, value) VALUES ($1, $2, $3)
             ON CONFLICT (kind, name) DO UPDATE SET value = excluded.value",
        );
        let query = query.bind(&row.kind).bind(&row.name);
        self.run(query.bind(&row.value)).await.map(drop)
    }

    /// Deletes an entry. Returns `false` if it does not exist.
    pub async fn delete_preference(&mut self, kind: &str, name: &str) -> Result<bool, StoreError> {
        let query = query("DELETE FROM preferences WHERE kind = $1 AND name = $2");
        Ok(self.run(query.bind(kind).bind(name)).await? > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::databases;

    fn row(kind: &str, name: &str, value: &str) -> PreferenceRow {
        PreferenceRow {
            kind: kind.to_owned(),
            name: name.to_owned(),
            value: value.to_owned(),
        }
    }

    #[tokio::test]
    async fn an_entry_replaces_only_the_one_with_its_kind_and_name() {
        for database in databases().await {
            let store = database.open().await;
            let work = store.write(|conn| {
                Box::pin(async move {
                    for (kind, name, value) in [
                        ("prompts", "b", "one"),
                        ("prompts", "B", "two"),
                        ("filters", "b", "three"),
                        ("prompts", "b", "four"),
                    ] {
                        conn.update_preference(&row(kind, name, value)).await?;
                    }
                    let kept = [
                        row("filters", "b", "three"),
                        row("prompts", "B", "two"),
                        row("prompts", "b", "four"),
                    ];
                    assert_eq!(conn.list_preferences().await?, kept);
                    assert_eq!(conn.count_other_preferences("prompts", "b").await?, 1);
                    assert_eq!(conn.count_other_preferences("prompts", "c").await?, 2);
                    assert!(conn.delete_preference("prompts", "b").await?);
                    assert!(!conn.delete_preference("prompts", "b").await?);
                    assert_eq!(conn.list_preferences().await?, kept[..2]);
                    Ok::<_, StoreError>(())
                })
            });
            work.await.unwrap();
            store.close().await;
        }
    }
}
