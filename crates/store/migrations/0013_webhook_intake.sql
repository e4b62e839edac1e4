-- SHA-256 of the verified bytes, for accepted deliveries of webhooks with the replay guard `bytes`.
ALTER TABLE webhook_deliveries ADD COLUMN bytes_key TEXT;
-- From 1 on, for a delivery that a sender repeated because the one in `replay_of` had failed.
ALTER TABLE webhook_deliveries ADD COLUMN redelivery BIGINT;
CREATE UNIQUE INDEX webhook_deliveries_by_bytes ON webhook_deliveries (webhook_id, bytes_key)
    WHERE bytes_key IS NOT NULL;
CREATE UNIQUE INDEX webhook_deliveries_replays ON webhook_deliveries (replay_of, redelivery)
    WHERE replay_of IS NOT NULL;
-- Retention counts rejected deliveries by reason.
CREATE INDEX webhook_deliveries_rejected ON webhook_deliveries (webhook_id, error, id)
    WHERE status = 'rejected';
