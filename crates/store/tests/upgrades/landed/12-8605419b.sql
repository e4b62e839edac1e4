-- main on 2026-11-22, commit 8605419b

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
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (17, 'slim_deliveries', TRUE, BYTES(d51bfddbaea68ed49b0533be30b3d3a09dd012f4c1ac2e95154be3d53fc28142d718f4d439a7081e532f1dba872dc9d3), 0);

-- rows
INSERT INTO delivery_configs VALUES ('cfg_1', '{"source_profile":"generic","events":{"allow":[],"deny":[]},"session_mode":"per_delivery","deliver_only":true,"prompt_template":"{text}","deliver_to":"inbox","rate_limit_per_minute":60,"max_body_bytes":1048576}', 1795200060000);
INSERT INTO webhook_deliveries (id, webhook_id, status, event_type, entity_key, delivery_key, unique_key, duplicate_of, replay_of, session_key, session_id, received_at, started_at, finished_at, next_attempt_at, attempts, lease_owner, lease_until, input_tokens, output_tokens, headers, body_size, body_preview, payload, config, error, response_actions, target, config_key) VALUES
    ('del_019ab0000007', 'wh_019ab0000002', 'received', NULL, NULL, NULL, NULL, NULL, NULL, '', NULL, 1795200060000, NULL, NULL, 1795200060000, 0, NULL, NULL, NULL, NULL, '{}', 4096, '{"text":"', '', NULL, NULL, '[]', 'inbox', 'cfg_1');
INSERT INTO delivery_payloads VALUES ('del_019ab0000007', '{"text":"long"}');
