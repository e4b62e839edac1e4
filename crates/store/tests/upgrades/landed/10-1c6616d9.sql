-- main on 2026-11-22, commit 1c6616d9

-- The bytes of a message, and of all that were ever before it: the oldest go when the newest ones fill the
-- inbox. Of messages that are there already the characters are counted.
ALTER TABLE inbox_messages ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0;
ALTER TABLE inbox_messages ADD COLUMN start_bytes BIGINT NOT NULL DEFAULT 0;
UPDATE inbox_messages SET bytes = LENGTH(text) + LENGTH(source) + 256;
UPDATE inbox_messages SET start_bytes = sums.total - inbox_messages.bytes
FROM (SELECT seq AS place, CAST(SUM(bytes) OVER (ORDER BY seq) AS BIGINT) AS total FROM inbox_messages) AS sums
WHERE sums.place = inbox_messages.seq;
CREATE INDEX inbox_messages_by_bytes ON inbox_messages (start_bytes);
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (16, 'bounded_inbox', TRUE, BYTES(9b75e24c97f9ca90c98a8e36b5a798c9754aad2d01e5ab27820740aadc47c62eddde48328444a35153254647e236a8c7), 0);

-- rows
INSERT INTO inbox_messages (seq, id, channel, text, source, at, read, webhook_id, delivery_id, bytes, start_bytes)
    SELECT 4, 'msg_019ab0000004', 'inbox', 'later', 'owner', 1795207200010, 0, NULL, NULL, 266, MAX(start_bytes + bytes) FROM inbox_messages;
