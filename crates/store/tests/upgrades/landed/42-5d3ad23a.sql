-- main on 2026-11-28, commit 5d3ad23a

-- expand
-- The tags of a session: empty, or each tag on a line of its own, between a first and a last line break.
ALTER TABLE chat_sessions ADD COLUMN tags TEXT NOT NULL DEFAULT '';
CREATE INDEX chat_sessions_with_tags ON chat_sessions (tags) WHERE tags <> '';
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (86, 'session_tags', TRUE, BYTES(b395cbb9ff5d14f313a962e65ef6a8e436a086b95f9b09598a7b5e15982d9946b322df465640b2b4075832c72084c37a), 0);
UPDATE _sqlx_migrations SET oldest_writer = 0 WHERE version = 86;

-- rows
UPDATE chat_sessions SET tags = '
work
' WHERE id = 'ses_019ab0000001';
