-- main on 2026-11-22, commit 502b7892

-- Why the answer ended: end, length, refused, filtered, tool_limit, aborted, error or interrupted. Only the last
-- message of a turn has it; messages of earlier versions do not.
ALTER TABLE chat_messages ADD COLUMN stop TEXT;
-- JSON: why the turn failed.
ALTER TABLE chat_messages ADD COLUMN error TEXT;
-- The delivery that brought the text. A repeated attempt continues the turn of the one before.
ALTER TABLE chat_messages ADD COLUMN delivery_id TEXT;

-- Turns that wait or run. What is left of them after a crash becomes an interrupted answer.
CREATE TABLE chat_turns (
    id TEXT NOT NULL PRIMARY KEY,
    session_id TEXT NOT NULL,
    turn_no BIGINT NOT NULL,
    -- The process that runs it, which is alive at least until `alive_until`.
    node TEXT NOT NULL,
    alive_until BIGINT NOT NULL,
    -- The answer so far.
    text TEXT NOT NULL DEFAULT '',
    model TEXT
);
CREATE INDEX chat_turns_by_session ON chat_turns (session_id);
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (18, 'turns', TRUE, BYTES(3cc8832cbdd797715fd9abbee6a670ea83923bc99bc6059d993e66a3cfc378cf9186c9154b6c6cd9998657ac13fcb746), 0);

-- rows
INSERT INTO chat_messages (session_id, turn_no, seq, id, turn_id, role, from_webhook, content, created_at, stop, error, delivery_id)
    VALUES ('ses_019ab0000002', 2, 3, 'cm_8', 'turn_4', 'assistant', 0, 'Part of', 1795200020012, 'error', '{"code":"MODEL_UNAVAILABLE"}', 'del_019ab0000002');
INSERT INTO chat_turns VALUES ('turn_9', 'ses_019ab0000001', 2, 'node_1', 1795200000000, 'An answer that', 'local/m');
