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
