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
