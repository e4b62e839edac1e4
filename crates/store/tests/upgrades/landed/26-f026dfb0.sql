-- main on 2026-11-25, commit f026dfb0

-- Parts of the tokens that the model read and wrote for a message: those from the provider's cache, and those of
-- reasoning.
ALTER TABLE chat_messages ADD COLUMN cached_tokens BIGINT;
ALTER TABLE chat_messages ADD COLUMN reasoning_tokens BIGINT;
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (58, 'message_usage', TRUE, BYTES(4f3d4b246056be5a532c25bbe7d337fe269e1f3e1185f7cf46e46bac8aa2b102d9e83d953e17ebb1512c5c27b227b207), 0);

-- rows
UPDATE chat_messages SET cached_tokens = 10, reasoning_tokens = 2 WHERE id = 'cm_4';
