-- main on 2026-11-25, commit dd3d67dc

-- People who write to a channel that receives messages. `code` is set until the owner approves the pairing; a code is
-- valid for an hour after `asked_at`. `person` is the vendor's ID of the person.
CREATE TABLE channel_pairings (
    id TEXT NOT NULL PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES channel_accounts (id) ON DELETE CASCADE,
    person TEXT NOT NULL,
    name TEXT NOT NULL,
    code TEXT,
    trusted BIGINT NOT NULL DEFAULT 0 CHECK (trusted IN (0, 1)),
    asked_at BIGINT NOT NULL,
    approved_at BIGINT,
    UNIQUE (account_id, person)
);
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (55, 'channel_pairings', TRUE, BYTES(8c017ec23489813438d0b3fb79408b4c6e9b8310560df4da68139c79fcbd5bdd5e3648c4cc525857a113d4e37e46ea87), 0);

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
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (56, 'inbound_messages', TRUE, BYTES(9513cb5ee3bbbc8f7e01072d53280341af81734b24bd96e6bafada40172c5168efa59c8739667518c91ae841aa9a6406), 0);

-- rows
INSERT INTO channel_pairings VALUES ('pair_1', 'telegram', '77', 'Ada', NULL, 1, 1795200000000, 1795200000001), ('pair_2', 'telegram', '78', 'Bob', 'ABC123', 0, 1795200000000, NULL);
INSERT INTO channel_polls VALUES ('telegram', 5002, 1795200000000, 'node_1', 3, NULL);
INSERT INTO inbound_messages (account_id, update_id, person, chat, thread, is_group, is_own, text, answer, received_at) VALUES
    ('telegram', 5000, '77', '77', NULL, 0, 1, 'What is on today?', 'Nothing.', 1795200000000),
    ('telegram', 5001, '77', '-100', '4', 1, 0, 'And tomorrow?', NULL, 1795200000001);
