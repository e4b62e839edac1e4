-- `config` is everything else that the owner chose, as JSON.
CREATE TABLE agents (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    config TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);

CREATE TABLE chat_sessions (
    id TEXT NOT NULL PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    label TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    -- user, webhook or channel.
    source TEXT NOT NULL,
    -- 1 for ever once webhook text came in.
    tainted BIGINT NOT NULL DEFAULT 0 CHECK (tainted IN (0, 1)),
    message_count BIGINT NOT NULL DEFAULT 0,
    -- The last number given to a message, and to a turn.
    last_seq BIGINT NOT NULL DEFAULT 0,
    last_turn BIGINT NOT NULL DEFAULT 0,
    -- What was said up to and with turn `summary_turn`, in short, for models whose context it outgrew.
    summary TEXT,
    summary_turn BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX chat_sessions_by_update ON chat_sessions (updated_at, id);
CREATE INDEX chat_sessions_by_agent ON chat_sessions (agent_id);

-- A text waits for its turn here already, so it is read by turn first and by number within the turn.
CREATE TABLE chat_messages (
    session_id TEXT NOT NULL,
    turn_no BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    id TEXT NOT NULL UNIQUE,
    turn_id TEXT NOT NULL,
    role TEXT NOT NULL,
    -- 1 for text that a webhook brought.
    from_webhook BIGINT NOT NULL DEFAULT 0 CHECK (from_webhook IN (0, 1)),
    content TEXT NOT NULL,
    -- JSON: the calls that an assistant's message asks for.
    tool_calls TEXT,
    -- Which call a tool's message answers.
    tool_call_id TEXT,
    tool_name TEXT,
    input_tokens BIGINT,
    output_tokens BIGINT,
    model TEXT,
    audio TEXT,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (session_id, turn_no, seq)
);

-- One share a session: everything up to and with message number `through_seq`.
CREATE TABLE chat_shares (
    id TEXT NOT NULL PRIMARY KEY,
    session_id TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    through_seq BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
