-- main on 2026-11-22, commit 3dd54d8e

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
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (13, 'webhook_intake', TRUE, BYTES(af4f6daef34bc0941a39be5bdb63104ae258df6148c7cb4d0a9a9271e69fb3d3a615e1f1b3ccacb4b84439470e12f09a), 0);

-- rows
INSERT INTO webhook_deliveries (id, webhook_id, status, event_type, entity_key, delivery_key, unique_key, duplicate_of, replay_of, session_key, session_id, received_at, started_at, finished_at, next_attempt_at, attempts, lease_owner, lease_until, input_tokens, output_tokens, headers, body_size, body_preview, payload, config, error, response_actions, bytes_key, redelivery) VALUES
    ('del_019ab0000006', 'wh_019ab0000001', 'failed', 'issues.opened', 'a/b#2', 'k2', NULL, NULL, 'del_019ab0000002', 'webhook:wh_a:a/b#2', NULL, 1795200050000, 1795200050001, 1795200650001, NULL, 1, NULL, NULL, NULL, NULL, '{}', 17, '{"action":"opened"', '{"action":"opened"}', '{"source_profile":"codehost_a","events":{"allow":["issues.*"],"deny":[]},"session_mode":"per_entity","deliver_only":false,"rate_limit_per_minute":60,"max_body_bytes":1048576}', 'the model did not answer', '[]', 'b9776d7ddf459c9ad5b0e1d6ac61e27befb5e99fd62446677600d7cacef544d0', 1);
