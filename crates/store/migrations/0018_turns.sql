-- Why the answer ended: end, length, refused, filtered, tool_limit, aborted, error or interrupted. Only the last
-- message of a turn has it; messages of earlier versions do not.
ALTER TABLE chat_messages ADD COLUMN stop TEXT;
-- JSON: why the turn failed.
ALTER TABLE chat_messages ADD COLUMN error TEXT;
-- The delivery that brought the text. A repeated attempt continues the turn of the one before.
ALTER TABLE chat_messages ADD COLUMN delivery_id TEXT;
