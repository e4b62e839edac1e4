//! Query plans, for tests that check which indexes are used.

mod statements;

use crate::sql::{FromRow, Query, Row, Value, query};
use crate::{Store, StoreError};

/// A step of SQLite's query plan.
struct Step(String);

impl FromRow for Step {
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        Ok(Self(row.try_get(3)?))
    }
}

/// Returns SQLite's plan for a query without parameters, one step per line.
pub(crate) async fn plan_of(store: &Store, sql: &str) -> String {
    let explain = format!("EXPLAIN QUERY PLAN {sql}");
    let steps = store.read(|conn| Box::pin(async move { conn.list::<Step>(query(explain)).await }));
    let steps = steps.await.unwrap();
    steps.into_iter().map(|step| step.0 + "\n").collect()
}

/// Returns the text of a statement with its values in place of the parameters.
pub(crate) fn with_values(statement: &Query<'_>) -> String {
    let values = statement.values.iter().enumerate().rev();
    values.fold(statement.text.to_string(), |sql, (place, value)| {
        let value = match value {
            Value::Integer(Some(number)) => number.to_string(),
            Value::Text(Some(text)) => format!("'{}'", text.replace('\'', "''")),
            Value::Integer(None) | Value::Text(None) | Value::Blob(_) => "NULL".to_owned(),
        };
        sql.replace(&format!("${}", place + 1), &value)
    })
}
