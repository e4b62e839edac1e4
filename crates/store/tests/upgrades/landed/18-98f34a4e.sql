-- main on 2026-11-22, commit 98f34a4e

-- What the model thought before it wrote the message. Never a part of the answer.
ALTER TABLE chat_messages ADD COLUMN reasoning TEXT;
-- JSON: what its provider needs back with the message. Sent only to the model that wrote it.
ALTER TABLE chat_messages ADD COLUMN reasoning_state TEXT;
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (22, 'reasoning', TRUE, BYTES(9f447278d6de2c1dd6a55fc1b97cd369b73d70a52a53d604d96f8db887ad2ae0d4f999d5a000b17179368a9b5720e486), 0);

-- rows
UPDATE chat_messages SET reasoning = 'Six times seven.' WHERE id = 'cm_4';
