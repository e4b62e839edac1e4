-- main on 2026-11-23, commit 4b979c64

-- What happened, as a sentence made of the payload at receipt, and the beginning of the agent's answer.
ALTER TABLE webhook_deliveries ADD COLUMN summary TEXT;
ALTER TABLE webhook_deliveries ADD COLUMN outcome TEXT;

-- The attempts that failed and were repeated. The last attempt is in `webhook_deliveries`.
CREATE TABLE delivery_attempts (
    delivery_id TEXT NOT NULL REFERENCES webhook_deliveries (id) ON DELETE CASCADE,
    attempt BIGINT NOT NULL,
    started_at BIGINT NOT NULL,
    ended_at BIGINT NOT NULL,
    error TEXT NOT NULL,
    PRIMARY KEY (delivery_id, attempt)
);

-- Sessions that the owner keeps at the top of the list, or out of it.
ALTER TABLE chat_sessions ADD COLUMN pinned BIGINT NOT NULL DEFAULT 0;
ALTER TABLE chat_sessions ADD COLUMN archived BIGINT NOT NULL DEFAULT 0;
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (38, 'sentences', TRUE, BYTES(349a39638447e44126ef96c84732e355248b23a7b5f5cf0b0ae5ddc76b6a4a0caa9b709bc6430899fa327878d0e05174), 0);

-- Tool calls that a person allowed for the future. `id` is derived from the other columns, so a call is looked up by
-- it. With `session_id`, the tool may be called with any arguments in that session; with `arguments`, with exactly
-- those in every session of the agent.
CREATE TABLE allowed_calls (
    id TEXT NOT NULL PRIMARY KEY,
    agent_id TEXT NOT NULL,
    session_id TEXT REFERENCES chat_sessions (id) ON DELETE CASCADE,
    tool TEXT NOT NULL,
    arguments TEXT,
    allowed_at BIGINT NOT NULL
);
CREATE INDEX allowed_calls_by_session ON allowed_calls (session_id) WHERE session_id IS NOT NULL;
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (40, 'allowed_calls', TRUE, BYTES(de0ccb9bb8e502d465601a1e66ab14959d08f67c374ef4636370e90a4e732b8af97722fb027817cbab88c9e8bbbef444), 0);

-- rows
UPDATE webhook_deliveries SET summary = 'Issue a/b#1 was opened', outcome = 'Done.' WHERE id = 'del_019ab0000001';
INSERT INTO delivery_attempts VALUES ('del_019ab0000002', 1, 1795200020001, 1795200020002, 'the model did not answer');
UPDATE chat_sessions SET pinned = 1 WHERE id = 'ses_019ab0000001';
INSERT INTO allowed_calls VALUES ('allow_1', 'default', 'ses_019ab0000001', 'web_fetch', NULL, 1795200000000), ('allow_2', 'default', NULL, 'calc', '{}', 1795200000000);
