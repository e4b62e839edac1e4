-- main on 2026-11-22, commit fb7c2f00

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
    VALUES (19, 'running_turns', TRUE, BYTES(2e5d1800ec6ab2070d99cb8ebfa912335d8092ff2aa888689cd860f36170302f7dc2f9f12149b5d36daeed04890b328a), 0);

-- rows
INSERT INTO chat_turns VALUES ('turn_5', 'ses_019ab0000001', 2, 'node_1', 1795200000000, 'So far', 'local/m');
