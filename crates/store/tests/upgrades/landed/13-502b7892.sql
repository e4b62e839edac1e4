-- main on 2026-11-22, commit 502b7892

-- Why the answer ended: end, length, refused, filtered, tool_limit, aborted, error or interrupted. Only the last
-- message of a turn has it; messages of earlier versions do not.
ALTER TABLE chat_messages ADD COLUMN stop TEXT;
-- JSON: why the turn failed.
ALTER TABLE chat_messages ADD COLUMN error TEXT;
-- The delivery that brought the text. A repeated attempt continues the turn of the one before.
ALTER TABLE chat_messages ADD COLUMN delivery_id TEXT;
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (18, 'turns', TRUE, BYTES(a3e027bd8336493895d764015c1dd4f7637ef42f29c602f8a88b522a20f695454404c564a3d2b054f65cf810333b0fff), 0);

-- rows
INSERT INTO chat_messages (session_id, turn_no, seq, id, turn_id, role, from_webhook, content, created_at, stop, error, delivery_id)
    VALUES ('ses_019ab0000002', 2, 3, 'cm_8', 'turn_4', 'assistant', 0, 'Part of', 1795200020012, 'error', '{"code":"MODEL_UNAVAILABLE"}', 'del_019ab0000002');
