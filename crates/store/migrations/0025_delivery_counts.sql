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
