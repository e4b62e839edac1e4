-- When the next run of a schedule is due, in Unix milliseconds. A schedule without further runs has no row.
CREATE TABLE webhook_schedules (
    webhook_id TEXT NOT NULL PRIMARY KEY REFERENCES webhooks (id) ON DELETE CASCADE,
    due_at BIGINT NOT NULL
);
CREATE INDEX webhook_schedules_by_time ON webhook_schedules (due_at);
