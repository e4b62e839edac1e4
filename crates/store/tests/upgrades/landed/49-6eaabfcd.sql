-- main on 2026-11-30, commit 6eaabfcd

-- expand
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
INSERT INTO approval_links (token_key, approval_id, expires_at, allowed, ended_at, answered_through)
    VALUES ('7d8f1c2ab3e4f5061728394a5b6c7d8e', 'apr_019ab0000001', 1795200060000, 1, 1795200030000, 'link');
