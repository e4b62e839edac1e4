-- main on 2026-11-26, commit 9dcdc2af

-- Messages of paired people. The vendor's ID of a message is a text, so that types other than Telegram can receive.
-- `number` is the order in which the messages of an account were stored. A message whose answer is sent keeps its row
-- for a while without its texts, so that it is not stored again when the vendor delivers it twice.
CREATE TABLE received_messages (
    account_id TEXT NOT NULL REFERENCES channel_accounts (id) ON DELETE CASCADE,
    message_id TEXT NOT NULL,
    number BIGINT NOT NULL,
    person TEXT NOT NULL,
    chat TEXT NOT NULL,
    thread TEXT,
    is_group BIGINT NOT NULL DEFAULT 0 CHECK (is_group IN (0, 1)),
    is_own BIGINT NOT NULL DEFAULT 1 CHECK (is_own IN (0, 1)),
    text TEXT NOT NULL,
    file_id TEXT,
    file_name TEXT,
    answer TEXT,
    received_at BIGINT NOT NULL,
    ended_at BIGINT,
    PRIMARY KEY (account_id, message_id)
);
CREATE INDEX received_messages_waiting ON received_messages (account_id, number) WHERE ended_at IS NULL;
CREATE INDEX received_messages_ended ON received_messages (ended_at) WHERE ended_at IS NOT NULL;
INSERT INTO received_messages (account_id, message_id, number, person, chat, thread, is_group, is_own, text, file_id,
        file_name, answer, received_at)
    SELECT account_id, CAST(update_id AS TEXT), update_id, person, chat, thread, is_group, is_own, text, file_id,
        file_name, answer, received_at
    FROM inbound_messages;
-- The table stays for nodes of an older version, which still use it while a cluster is being updated.
DELETE FROM inbound_messages;
-- Where receiving continues, in the vendor's words. It replaces `next_update`.
ALTER TABLE channel_polls ADD COLUMN position TEXT;
UPDATE channel_polls SET position = CAST(next_update AS TEXT);
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (68, 'received_messages', TRUE, BYTES(9b10b73c7ad21eddd6bda3d3013f9700e80ce9927d430cc25db9f3107c4d92e5a221fc8f5163a9c30f9c112bbe463062), 0);

-- rows
INSERT INTO received_messages (account_id, message_id, number, person, chat, thread, is_group, is_own, text, file_id, file_name, answer, received_at, ended_at)
    VALUES ('telegram', 'm-6000', 6000, '77', '77', NULL, 0, 1, '', NULL, NULL, NULL, 1795200000009, 1795200000010);
UPDATE channel_polls SET position = '6001';
