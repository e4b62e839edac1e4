-- Parts of the tokens that the model read and wrote for a message: those from the provider's cache, and those of
-- reasoning.
ALTER TABLE chat_messages ADD COLUMN cached_tokens BIGINT;
ALTER TABLE chat_messages ADD COLUMN reasoning_tokens BIGINT;
