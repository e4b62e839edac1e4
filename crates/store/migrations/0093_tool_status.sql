-- expand
-- How the call that a tool message answers ended: `ok`, `error`, `denied` or `expired`. NULL for messages of other roles,
-- and for those of earlier versions.
ALTER TABLE chat_messages ADD COLUMN tool_status TEXT;
