-- main on 2026-11-22, commit 78274538

-- How many deliveries ended with each status, by the hour of their receipt (hours since 1970-01-01 UTC). Statistics
-- read these rows, and count the open deliveries, which are few. Deleting a delivery leaves its count.
CREATE TABLE delivery_counts (
    hour BIGINT NOT NULL,
    webhook_id TEXT NOT NULL,
    status TEXT NOT NULL,
    count BIGINT NOT NULL,
    PRIMARY KEY (hour, webhook_id, status)
);
INSERT INTO delivery_counts (hour, webhook_id, status, count)
    SELECT received_at / 3600000, webhook_id, status, COUNT(*) FROM webhook_deliveries
    WHERE status NOT IN ('received', 'queued', 'processing')
    GROUP BY received_at / 3600000, webhook_id, status;

-- Lists of one event type, newest first.
CREATE INDEX webhook_deliveries_by_event ON webhook_deliveries (event_type, id) WHERE event_type IS NOT NULL;
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (25, 'delivery_counts', TRUE, BYTES(b9c41231322896dd4ad5ebec63aa080803adb921f6d004b2499069c75d9c4d9571a9b2dc071d2fff69b05366cfc791f0), 0);

-- rows
INSERT INTO delivery_counts SELECT 498660, 'wh_019ab0000001', 'filtered', 3;
