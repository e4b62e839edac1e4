-- Payloads over 2 KiB, written once: a change of status rewrites the row of a delivery, but not its payload. Such a
-- delivery has an empty `payload` in its row. Deliveries of earlier versions keep their payload in the row.
CREATE TABLE delivery_payloads (
    delivery_id TEXT NOT NULL PRIMARY KEY REFERENCES webhook_deliveries (id) ON DELETE CASCADE,
    payload TEXT NOT NULL
);

-- Configurations of webhooks as deliveries were received with them, each text once. `key` is derived from the text.
CREATE TABLE delivery_configs (
    key TEXT NOT NULL PRIMARY KEY,
    config TEXT NOT NULL,
    -- When a delivery last used it, to the hour.
    used_at BIGINT NOT NULL
);
-- NULL for deliveries of earlier versions, which keep the text in `config`.
ALTER TABLE webhook_deliveries ADD COLUMN config_key TEXT;

-- A claim asks line by line. What is left to ask for are the deliveries without a place in the queue.
DROP INDEX webhook_deliveries_queue;
CREATE INDEX webhook_deliveries_parked ON webhook_deliveries (id)
    WHERE status IN ('received', 'queued') AND next_attempt_at IS NULL;
