-- main on 2026-11-21, commit 989f279d

-- One row a secret field of a channel account; its other fields are with the account.
CREATE TABLE channel_secrets (
    account_id TEXT NOT NULL,
    type TEXT NOT NULL,
    field TEXT NOT NULL,
    value TEXT NOT NULL,
    encrypted BIGINT NOT NULL DEFAULT 0 CHECK (encrypted IN (0, 1)),
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, field)
);

-- Accounts of the inbox and the log exist without a row.
CREATE TABLE channel_accounts (
    id TEXT NOT NULL PRIMARY KEY,
    type TEXT NOT NULL,
    label TEXT NOT NULL,
    -- JSON object of the fields that are no secrets.
    fields TEXT NOT NULL,
    enabled BIGINT NOT NULL DEFAULT 1 CHECK (enabled IN (0, 1)),
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);

-- How many parts of a split message the vendor has taken, so that another try sends only the others.
CREATE TABLE channel_parts (
    message TEXT NOT NULL PRIMARY KEY,
    parts_sent BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX channel_parts_by_age ON channel_parts (updated_at);

CREATE TABLE inbox_messages (
    seq BIGINT NOT NULL PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    channel TEXT NOT NULL,
    text TEXT NOT NULL,
    source TEXT NOT NULL,
    at BIGINT NOT NULL,
    read BIGINT NOT NULL DEFAULT 0 CHECK (read IN (0, 1))
);
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (4, 'channels', TRUE, BYTES(80bc2b3ab7a1da2bf0ce389ab289127fe075db7e72db05caa26a7c71f111614f068222a04a9da75b75ccd619301ea8cd), 0);

-- `config` is everything else that the owner chose, as JSON.
CREATE TABLE agents (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    config TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);

CREATE TABLE chat_sessions (
    id TEXT NOT NULL PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    label TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    -- user, webhook or channel.
    source TEXT NOT NULL,
    -- 1 for ever once webhook text came in.
    tainted BIGINT NOT NULL DEFAULT 0 CHECK (tainted IN (0, 1)),
    message_count BIGINT NOT NULL DEFAULT 0,
    -- The last number given to a message, and to a turn.
    last_seq BIGINT NOT NULL DEFAULT 0,
    last_turn BIGINT NOT NULL DEFAULT 0,
    -- What was said up to and with turn `summary_turn`, in short, for models whose context it outgrew.
    summary TEXT,
    summary_turn BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX chat_sessions_by_update ON chat_sessions (updated_at, id);
CREATE INDEX chat_sessions_by_agent ON chat_sessions (agent_id);

-- A text waits for its turn here already, so it is read by turn first and by number within the turn.
CREATE TABLE chat_messages (
    session_id TEXT NOT NULL,
    turn_no BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    id TEXT NOT NULL UNIQUE,
    turn_id TEXT NOT NULL,
    role TEXT NOT NULL,
    -- 1 for text that a webhook brought.
    from_webhook BIGINT NOT NULL DEFAULT 0 CHECK (from_webhook IN (0, 1)),
    content TEXT NOT NULL,
    -- JSON: the calls that an assistant's message asks for.
    tool_calls TEXT,
    -- Which call a tool's message answers.
    tool_call_id TEXT,
    tool_name TEXT,
    input_tokens BIGINT,
    output_tokens BIGINT,
    model TEXT,
    audio TEXT,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (session_id, turn_no, seq)
);

-- One share a session: everything up to and with message number `through_seq`.
CREATE TABLE chat_shares (
    id TEXT NOT NULL PRIMARY KEY,
    session_id TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    through_seq BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (5, 'agents', TRUE, BYTES(112523a7e4c6306a28968379198110312eb9549a59cacd7674da06b26a860db81da59b72c77a6ce63df78b2bb1e35acb), 0);

CREATE TABLE webhooks (
    id TEXT NOT NULL PRIMARY KEY,
    public_id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    -- Everything else that its owner chose, as JSON; copied into each delivery.
    config TEXT NOT NULL,
    enabled BIGINT NOT NULL CHECK (enabled IN (0, 1)),
    delivery_count BIGINT NOT NULL DEFAULT 0,
    last_delivery_at BIGINT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);

-- `field` is secret or previous_secret; the latter is good until `expires_at`.
CREATE TABLE webhook_secrets (
    webhook_id TEXT NOT NULL,
    field TEXT NOT NULL,
    value TEXT NOT NULL,
    encrypted BIGINT NOT NULL DEFAULT 0 CHECK (encrypted IN (0, 1)),
    expires_at BIGINT,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (webhook_id, field)
);

-- Ids sort by the time they were made, so that the newest come first without another index.
CREATE TABLE webhook_deliveries (
    id TEXT NOT NULL PRIMARY KEY,
    webhook_id TEXT NOT NULL,
    status TEXT NOT NULL,
    event_type TEXT,
    entity_key TEXT,
    delivery_key TEXT,
    -- Is set for a row that holds its key: one that was accepted and is no replay.
    unique_key TEXT,
    duplicate_of TEXT,
    replay_of TEXT,
    session_key TEXT NOT NULL,
    session_id TEXT,
    received_at BIGINT NOT NULL,
    started_at BIGINT,
    finished_at BIGINT,
    -- Not before this moment; the order of the queue.
    next_attempt_at BIGINT,
    attempts BIGINT NOT NULL DEFAULT 0,
    lease_owner TEXT,
    lease_until BIGINT,
    input_tokens BIGINT,
    output_tokens BIGINT,
    headers TEXT NOT NULL,
    body_size BIGINT NOT NULL,
    body_preview TEXT NOT NULL,
    payload TEXT,
    -- The webhook's configuration when it was received, without secrets.
    config TEXT,
    error TEXT,
    response_actions TEXT NOT NULL DEFAULT '[]'
);
CREATE UNIQUE INDEX webhook_deliveries_by_key ON webhook_deliveries (webhook_id, unique_key);
CREATE INDEX webhook_deliveries_by_webhook ON webhook_deliveries (webhook_id, id);
CREATE INDEX webhook_deliveries_queue ON webhook_deliveries (next_attempt_at, id)
    WHERE status IN ('received', 'queued');
CREATE INDEX webhook_deliveries_open ON webhook_deliveries (session_key, id)
    WHERE status IN ('received', 'queued', 'processing');
CREATE INDEX webhook_deliveries_leases ON webhook_deliveries (lease_until)
    WHERE status = 'processing';
CREATE INDEX webhook_deliveries_refused ON webhook_deliveries (webhook_id, status, id)
    WHERE status IN ('rejected', 'filtered', 'deduplicated', 'failed');

-- Webhooks that were deleted and whose deliveries are still being removed, piece by piece. Nobody
-- sees or runs a delivery of a webhook that stands here.
CREATE TABLE webhook_removals (
    webhook_id TEXT NOT NULL PRIMARY KEY,
    removed_at BIGINT NOT NULL
);
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (6, 'webhooks', TRUE, BYTES(7d730404de683c3b1421c0595d99e7242bd5513c9fb9c76f5169b5d9e79c7fec3e80144827cd27c5750a71714f152670), 0);

-- Paired devices. The token itself is here only as a hash.
CREATE TABLE auth_devices (
    id TEXT NOT NULL PRIMARY KEY,
    token_hash TEXT NOT NULL UNIQUE,
    label TEXT NOT NULL,
    scopes TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    last_seen_at BIGINT,
    -- 1: paired by a remote caller while auth was disabled; dies when setup completes.
    dies_at_setup BIGINT NOT NULL
);
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (7, 'devices', TRUE, BYTES(683c2a671e77fb582cd24108ee28e7d67ffaafaf2b628ce2a6eb6cbd241e49963aa6657c5ab1197106f63d4aac93c0fd), 0);

-- rows
INSERT INTO channel_accounts VALUES ('telegram', 'telegram', 'Family', '{"chat_id":"12"}', 1, 1795200000000, 1795200000000);
INSERT INTO channel_accounts VALUES ('http:sink', 'http', 'Sink', '{"url":"https://sink.example/in"}', 0, 1795200000000, 1795200000000);
INSERT INTO channel_secrets VALUES ('telegram', 'telegram', 'bot_token', 'b3BhcXVl', 1, 1795200000000);
INSERT INTO channel_parts VALUES ('del_019ab0000001', 2, 1795200000000);
INSERT INTO inbox_messages VALUES (1, 'msg_019ab0000001', 'inbox', 'hello', 'webhook', 1795200000000, 1);
INSERT INTO inbox_messages VALUES (2, 'msg_019ab0000002', 'inbox', 'größer', 'owner', 1795200000001, 0);
INSERT INTO agents VALUES ('default', 'Default', '{"tools":{"allow":[],"deny":[]},"max_turns":12}', 1795200000000, 1795200000000);
INSERT INTO agents VALUES ('reviewer', 'Reviewer', '{"model":"local/m","system_prompt":"Review.","tools":{"allow":["calc"],"deny":[]},"temperature":0.5,"max_turns":5}', 1795200000000, 1795200000001);
INSERT INTO chat_sessions VALUES ('ses_019ab0000001', 'main', 'Main', 'default', 'user', 0, 4, 4, 1, NULL, 0, 1795200000000, 1795200000004);
INSERT INTO chat_sessions VALUES ('ses_019ab0000002', 'webhook:wh_a:issue-1', 'Issue 1', 'reviewer', 'webhook', 1, 2, 2, 1, 'An issue.', 1, 1795200000000, 1795200000002);
INSERT INTO chat_sessions VALUES ('ses_019ab0000003', 'search', 'Search', 'default', 'user', 0, 1, 1, 1, NULL, 0, 1795200000000, 1795200000001);
INSERT INTO chat_messages VALUES ('ses_019ab0000001', 1, 1, 'cm_1', 'turn_1', 'user', 0, 'What is 6 * 7?', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1795200000000);
INSERT INTO chat_messages VALUES ('ses_019ab0000001', 1, 2, 'cm_2', 'turn_1', 'assistant', 0, '', '[{"id":"call_1","name":"calc","arguments":"{\"expression\":\"6*7\"}"}]', NULL, NULL, 20, 9, 'local/m', NULL, 1795200000001);
INSERT INTO chat_messages VALUES ('ses_019ab0000001', 1, 3, 'cm_3', 'turn_1', 'tool', 0, '42', NULL, 'call_1', 'calc', NULL, NULL, NULL, NULL, 1795200000002);
INSERT INTO chat_messages VALUES ('ses_019ab0000001', 1, 4, 'cm_4', 'turn_1', 'assistant', 0, '42.', NULL, NULL, NULL, 40, 3, 'local/m', NULL, 1795200000003);
INSERT INTO chat_messages VALUES ('ses_019ab0000002', 1, 1, 'cm_5', 'turn_2', 'user', 1, 'An issue was opened.', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1795200000001);
INSERT INTO chat_messages VALUES ('ses_019ab0000002', 1, 2, 'cm_6', 'turn_2', 'tool', 0, 'secret notes', NULL, 'call_2', 'mcp__notes__read', NULL, NULL, NULL, NULL, 1795200000002);
INSERT INTO chat_messages VALUES ('ses_019ab0000003', 1, 1, 'cm_7', 'turn_3', 'tool', 0, 'a page', NULL, 'call_3', 'web_fetch', NULL, NULL, NULL, NULL, 1795200000001);
INSERT INTO chat_shares VALUES ('share_019ab0000001', 'ses_019ab0000001', 'Main', 4, 1795200000000, 1795200000000);
INSERT INTO webhooks VALUES ('wh_019ab0000001', 'wh_a', 'Issues', '{"source_profile":"codehost_a","events":{"allow":["issues.*"],"deny":[]},"session_mode":"per_entity","deliver_only":false,"rate_limit_per_minute":60,"max_body_bytes":1048576}', 1, 4, 1795200040000, 1795200000000, 1795200000000);
INSERT INTO webhooks VALUES ('wh_019ab0000002', 'wh_b', 'Forwarded', '{"source_profile":"generic","events":{"allow":[],"deny":[]},"session_mode":"per_delivery","deliver_only":true,"prompt_template":"{text}","deliver_to":"inbox","rate_limit_per_minute":60,"max_body_bytes":1048576}', 0, 1, 1795207200000, 1795200000000, 1795200000000);
INSERT INTO webhook_secrets VALUES ('wh_019ab0000001', 'secret', 'b3BhcXVl', 1, NULL, 1795200000000), ('wh_019ab0000001', 'previous_secret', 'b2xk', 1, 1795286400000, 1795200000000);
INSERT INTO webhook_deliveries (id, webhook_id, status, event_type, entity_key, delivery_key, unique_key, duplicate_of, replay_of, session_key, session_id, received_at, started_at, finished_at, next_attempt_at, attempts, lease_owner, lease_until, input_tokens, output_tokens, headers, body_size, body_preview, payload, config, error, response_actions) VALUES
    ('del_019ab0000001', 'wh_019ab0000001', 'completed', 'issues.opened', 'a/b#1', 'k1', 'k1', NULL, NULL, 'webhook:wh_a:a/b#1', 'ses_019ab0000002', 1795200000000, 1795200000010, 1795200001510, NULL, 1, NULL, NULL, 50, 7, '{"content-type":"application/json"}', 17, '{"action":"opened"', '{"action":"opened"}', '{"source_profile":"codehost_a","events":{"allow":["issues.*"],"deny":[]},"session_mode":"per_entity","deliver_only":false,"rate_limit_per_minute":60,"max_body_bytes":1048576}', NULL, '[{"tool":"calc","status":"ok","at":1795200000012}]'),
    ('del_019ab0000002', 'wh_019ab0000001', 'failed', 'issues.opened', 'a/b#2', 'k2', 'k2', NULL, NULL, 'webhook:wh_a:a/b#2', NULL, 1795200020000, 1795200020010, 1795200020013, NULL, 12, NULL, NULL, NULL, NULL, '{}', 17, '{"action":"opened"', '{"action":"opened"}', '{"source_profile":"codehost_a","events":{"allow":["issues.*"],"deny":[]},"session_mode":"per_entity","deliver_only":false,"rate_limit_per_minute":60,"max_body_bytes":1048576}', 'the model did not answer', '[]'),
    ('del_019ab0000003', 'wh_019ab0000001', 'rejected', NULL, NULL, NULL, NULL, NULL, NULL, '', NULL, 1795200030000, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, '{}', 2, '{}', NULL, NULL, 'signature', '[]'),
    ('del_019ab0000004', 'wh_019ab0000001', 'queued', 'issues.closed', 'a/b#1', 'k4', 'k4', NULL, NULL, 'webhook:wh_a:a/b#1', NULL, 1795200040000, NULL, NULL, 1795200040000, 0, NULL, NULL, NULL, NULL, '{}', 17, '{"action":"closed"', '{"action":"closed"}', '{"source_profile":"codehost_a","events":{"allow":["issues.*"],"deny":[]},"session_mode":"per_entity","deliver_only":false,"rate_limit_per_minute":60,"max_body_bytes":1048576}', NULL, '[]'),
    ('del_019ab0000005', 'wh_019ab0000002', 'completed', NULL, NULL, NULL, NULL, NULL, 'del_019ab0000001', '', NULL, 1795207200000, 1795207200001, 1795207200006, NULL, 1, NULL, NULL, NULL, NULL, '{}', 13, '{"text":"hi"}', '{"text":"hi"}', '{"source_profile":"generic","events":{"allow":[],"deny":[]},"session_mode":"per_delivery","deliver_only":true,"prompt_template":"{text}","deliver_to":"inbox","rate_limit_per_minute":60,"max_body_bytes":1048576}', NULL, '[]');
INSERT INTO webhook_removals VALUES ('wh_019ab0000009', 1795200000000);
INSERT INTO auth_devices VALUES ('dev_019ab0000001', 'd4735e3a265e16eee03f59718b9b5d03019c07d8b6c51f90da3a666eec13ab35', 'Phone', '["operator.read"]', 1795200000000, 1795200000003, 0);
