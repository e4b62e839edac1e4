-- The bytes of a message, and of all that were ever before it: the oldest go when the newest ones fill the
-- inbox. Of messages that are there already the characters are counted.
ALTER TABLE inbox_messages ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0;
ALTER TABLE inbox_messages ADD COLUMN start_bytes BIGINT NOT NULL DEFAULT 0;
UPDATE inbox_messages SET bytes = LENGTH(text) + LENGTH(source) + 256;
UPDATE inbox_messages SET start_bytes = sums.total - inbox_messages.bytes
FROM (SELECT seq AS place, CAST(SUM(bytes) OVER (ORDER BY seq) AS BIGINT) AS total FROM inbox_messages) AS sums
WHERE sums.place = inbox_messages.seq;
CREATE INDEX inbox_messages_by_bytes ON inbox_messages (start_bytes);
