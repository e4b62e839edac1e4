-- main on 2026-11-30, commit b1633af7

-- expand
-- How the call that a tool message answers ended: `ok`, `error`, `denied` or `expired`. NULL for messages of other roles,
-- and for those of earlier versions.
ALTER TABLE chat_messages ADD COLUMN tool_status TEXT;
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (93, 'tool_status', TRUE, BYTES(323ea07cedbc116d2108022117f521e30cc0830e30ee82278bdcb4aa8233906e1ac5d751ad3fbc8b2c9546c0a26b6f08), 0);
UPDATE _sqlx_migrations SET oldest_writer = 0 WHERE version = 93;

-- The links that were sent for tool calls that wait for approval, and how the calls ended. Every node can show it, until
-- a day after the call would have expired. `token_key` is derived from the token in the link. `ended_at` is the time of
-- the answer, and without an answer the time at which the turn was stopped; NULL for a call that waits or expired.
-- `answered_through` is link, chat or api.
CREATE TABLE approval_links (
    token_key TEXT NOT NULL PRIMARY KEY,
    approval_id TEXT NOT NULL,
    expires_at BIGINT NOT NULL,
    allowed BIGINT CHECK (allowed IN (0, 1)),
    ended_at BIGINT,
    answered_through TEXT
);
CREATE INDEX approval_links_by_approval ON approval_links (approval_id);
CREATE INDEX approval_links_by_expiry ON approval_links (expires_at);
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (95, 'approval_links', TRUE, BYTES(cdfb9322203a28395d75bd84b86f0328578db807a3c5d887817a6738041302aa54c543b17d13f7c8ea1ad7fad70816d5), 0);
UPDATE _sqlx_migrations SET oldest_writer = 0 WHERE version = 95;

-- rows
INSERT INTO chat_messages (session_id, turn_no, seq, id, turn_id, role, origin, content, created_at, tool_call_id, tool_name, tool_status)
    VALUES ('ses_019ab0000001', 1, 5, 'cm_9', 'turn_1', 'tool', 'configured', 'Nobody answered within 5 minutes, so the call was not made.', 1795200000004, 'call_4', 'speak', 'expired');
INSERT INTO approval_links (token_key, approval_id, expires_at, allowed, ended_at, answered_through)
    VALUES ('7d8f1c2ab3e4f5061728394a5b6c7d8e', 'apr_019ab0000001', 1795200060000, 1, 1795200030000, 'link');
