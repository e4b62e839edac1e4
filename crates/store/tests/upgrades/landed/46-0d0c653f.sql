-- main on 2026-11-29, commit 0d0c653f

-- expand
-- The earlier message that a received one quotes, as JSON.
ALTER TABLE received_messages ADD COLUMN quote TEXT;
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (90, 'quoted_messages', TRUE, BYTES(ef3074fa448835a01bf779efebde8548e4e04a92e6146b6b24330fb69ee5292d27d1d8374300660b7ff30bf8e87eb314), 0);
UPDATE _sqlx_migrations SET oldest_writer = 0 WHERE version = 90;

-- rows
INSERT INTO received_messages (account_id, message_id, number, person, chat, thread, is_group, is_own, text, answer, received_at, file_id, file_name, is_voice, more_files, quote)
    VALUES ('telegram', 'm-6001', 6001, '77', '77', NULL, 0, 1, 'Why?', NULL, 1795200000011, NULL, NULL, 0, NULL, '{"by":"bot","name":"Gatehouse","text":"It failed."}');
