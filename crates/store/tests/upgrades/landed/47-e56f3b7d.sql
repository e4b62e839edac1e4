-- main on 2026-11-29, commit e56f3b7d

-- expand
-- The person on a channel who allowed the calls, as the key of the person's session; NULL for everyone else. What a
-- person allowed ends with the trust in the person.
ALTER TABLE allowed_calls ADD COLUMN allowed_by TEXT;
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (91, 'allowed_by', TRUE, BYTES(727062de9ac9c4307c68f8b2bfb71568c5bcbafc48c977455608676a17594f4d3917f8f139cf3a5dda44fec593a58da7), 0);
UPDATE _sqlx_migrations SET oldest_writer = 0 WHERE version = 91;

-- rows
INSERT INTO allowed_calls (id, agent_id, session_id, tool, arguments, allowed_at, allowed_by)
    VALUES ('allow_3', 'default', NULL, 'calc', '{"expression":"1+1"}', 1795200000012, 'channel:telegram:77');
