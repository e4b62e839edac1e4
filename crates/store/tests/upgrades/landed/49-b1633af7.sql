-- main on 2026-11-30, commit b1633af7

-- expand
-- How the call that a tool message answers ended: `ok`, `error`, `denied` or `expired`. NULL for messages of other roles,
-- and for those of earlier versions.
ALTER TABLE chat_messages ADD COLUMN tool_status TEXT;
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (93, 'tool_status', TRUE, BYTES(323ea07cedbc116d2108022117f521e30cc0830e30ee82278bdcb4aa8233906e1ac5d751ad3fbc8b2c9546c0a26b6f08), 0);
UPDATE _sqlx_migrations SET oldest_writer = 0 WHERE version = 93;

-- rows
INSERT INTO chat_messages (session_id, turn_no, seq, id, turn_id, role, origin, content, created_at, tool_call_id, tool_name, tool_status)
    VALUES ('ses_019ab0000001', 1, 5, 'cm_9', 'turn_1', 'tool', 'configured', 'Nobody answered within 5 minutes, so the call was not made.', 1795200000004, 'call_4', 'speak', 'expired');
