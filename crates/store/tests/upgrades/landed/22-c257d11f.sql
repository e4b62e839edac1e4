-- main on 2026-11-23, commit c257d11f

-- When the next run of a schedule is due, in Unix milliseconds. A schedule without further runs has no row.
CREATE TABLE webhook_schedules (
    webhook_id TEXT NOT NULL PRIMARY KEY REFERENCES webhooks (id) ON DELETE CASCADE,
    due_at BIGINT NOT NULL
);
CREATE INDEX webhook_schedules_by_time ON webhook_schedules (due_at);
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (43, 'schedules', TRUE, BYTES(b35acbb28323f554552ec797b23675270cb6ced5300c42b2bdc27b46a2bb4f2b4f7c898328812f105ea3e95f3a05bf72), 0);

-- rows
INSERT INTO webhook_schedules VALUES ('wh_019ab0000002', 1795286400000);
