-- main on 2026-11-22, commit c70ad858

-- Where a delivery goes: the channel target of one that is only delivered, empty for an agent's turn, NULL for one
-- that never runs. Open deliveries of an earlier version get theirs from their configuration at the next start.
ALTER TABLE webhook_deliveries ADD COLUMN target TEXT;
-- A line is what one webhook has waiting for one target. A claim asks line by line.
CREATE INDEX webhook_deliveries_lines ON webhook_deliveries (target, webhook_id, next_attempt_at, id)
    WHERE status IN ('received', 'queued') AND next_attempt_at IS NOT NULL AND target IS NOT NULL;
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (15, 'delivery_lines', TRUE, BYTES(d2a82acce56d1fc62879cc3b3c56ad6759273f5b7e02a7b7a817599e6ec72e568e71a74cff97908209e52becc7fc7617), 0);

-- rows
UPDATE webhook_deliveries SET target = '' WHERE id = 'del_019ab0000004';
