//! Table `webhook_schedules`: when the next run of each schedule is due.

use crate::sql::{columns, query};
use crate::{Conn, StoreError};
use gatehouse_domain::{Timestamp, WebhookId};

/// The next run of a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleRow {
    pub webhook_id: WebhookId,
    pub due_at: Timestamp,
}

columns! { ScheduleRow: webhook_id, due_at }

impl Conn {
    /// Lists the next runs of enabled webhooks, the earliest first.
    pub async fn list_next_schedules(
        &mut self,
        limit: i64,
    ) -> Result<Vec<ScheduleRow>, StoreError> {
        let query = query(
            "SELECT s.webhook_id AS webhook_id, s.due_at AS due_at FROM webhook_schedules s
             JOIN webhooks w ON w.id = s.webhook_id
             WHERE w.enabled = 1 ORDER BY s.due_at, s.webhook_id LIMIT $1",
        );
        self.list(query.bind(limit)).await
    }

    /// Lists the next runs of all schedules.
    pub async fn list_schedules(&mut self) -> Result<Vec<ScheduleRow>, StoreError> {
        self.list(query("SELECT * FROM webhook_schedules")).await
    }

    /// Returns when the next run of a webhook is due.
    pub async fn find_schedule(&mut self, id: &str) -> Result<Option<ScheduleRow>, StoreError> {
        let query = query("SELECT * FROM webhook_schedules WHERE webhook_id = $1");
        self.find(query.bind(id)).await
    }

    /// Sets when the next run of a webhook is due. `None` if it has no further run.
    pub async fn update_schedule(
        &mut self,
        id: &WebhookId,
        due_at: Option<Timestamp>,
    ) -> Result<(), StoreError> {
        let Some(due_at) = due_at else {
            let query = query("DELETE FROM webhook_schedules WHERE webhook_id = $1");
            return self.run(query.bind(id.as_str())).await.map(drop);
        };
        let query = query(
            "INSERT INTO webhook_schedules (webhook_id, due_at) VALUES ($1, $2)
             ON CONFLICT (webhook_id) DO UPDATE SET due_at = excluded.due_at",
        );
        let query = query.bind(id.as_str()).bind(due_at.as_millis());
        self.run(query).await.map(drop)
    }

    /// Moves a schedule from one run to the next. Returns `false` if another node has moved it.
    pub async fn advance_schedule(
        &mut self,
        run: &ScheduleRow,
        next: Option<Timestamp>,
    ) -> Result<bool, StoreError> {
        let query = match next {
            Some(next) => query(
                "UPDATE webhook_schedules SET due_at = $3 WHERE webhook_id = $1 AND due_at = $2",
            )
            .bind(run.webhook_id.as_str())
            .bind(run.due_at.as_millis())
            .bind(next.as_millis()),
            None => query("DELETE FROM webhook_schedules WHERE webhook_id = $1 AND due_at = $2")
                .bind(run.webhook_id.as_str())
                .bind(run.due_at.as_millis()),
        };
        Ok(self.run(query).await? > 0)
    }
}
