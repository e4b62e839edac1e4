-- main on 2026-11-28, commit dadf82c8

-- expand
-- The files of a message after the first one: a JSON array of objects with `id`, `name` and `is_voice`. NULL without any.
ALTER TABLE received_messages ADD COLUMN more_files TEXT;
-- When a test message was last accepted, in milliseconds. A node that regards the channel as unresponsive then tries it again.
ALTER TABLE channel_accounts ADD COLUMN tested_at BIGINT;
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (82, 'files_and_tests', TRUE, BYTES(fcfd0d4e77a06569d29acc375f6fe672c72d7d181cc1e44fd09cf40c8e6a64f865ffbf1561931b118c09c52ccc2ba8e8), 0);
UPDATE _sqlx_migrations SET oldest_writer = 0 WHERE version = 82;

-- rows
UPDATE channel_accounts SET tested_at = 1795200000000 WHERE id = 'telegram';
UPDATE received_messages SET more_files = '[{"id":"B","name":"b.txt","is_voice":false}]' WHERE message_id = 'm-6000';
