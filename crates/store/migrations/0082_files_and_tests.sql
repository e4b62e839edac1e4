-- expand
-- The files of a message after the first one: a JSON array of objects with `id`, `name` and `is_voice`. NULL without any.
ALTER TABLE received_messages ADD COLUMN more_files TEXT;
-- When a test message was last accepted, in milliseconds. A node that regards the channel as unresponsive then tries it again.
ALTER TABLE channel_accounts ADD COLUMN tested_at BIGINT;
