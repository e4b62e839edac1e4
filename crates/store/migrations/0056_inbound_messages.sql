-- The state of receiving: which update is next, which node receives (`lease` changes with each of its requests), and
-- why receiving fails.
CREATE TABLE channel_polls (
    account_id TEXT NOT NULL PRIMARY KEY REFERENCES channel_accounts (id) ON DELETE CASCADE,
    next_update BIGINT,
    received_at BIGINT NOT NULL DEFAULT 0,
    node TEXT NOT NULL DEFAULT '',
    lease BIGINT NOT NULL DEFAULT 0,
    error TEXT
);
-- Messages of paired people until their answer is sent. `answer` is set when the agent has answered.
CREATE TABLE inbound_messages (
    account_id TEXT NOT NULL REFERENCES channel_accounts (id) ON DELETE CASCADE,
    update_id BIGINT NOT NULL,
    person TEXT NOT NULL,
    chat TEXT NOT NULL,
    thread TEXT,
    is_group BIGINT NOT NULL DEFAULT 0 CHECK (is_group IN (0, 1)),
    is_own BIGINT NOT NULL DEFAULT 1 CHECK (is_own IN (0, 1)),
    text TEXT NOT NULL,
    answer TEXT,
    received_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, update_id)
);
