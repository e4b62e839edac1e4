-- What the model thought before it wrote the message. Never a part of the answer.
ALTER TABLE chat_messages ADD COLUMN reasoning TEXT;
-- JSON: what its provider needs back with the message. Sent only to the model that wrote it.
ALTER TABLE chat_messages ADD COLUMN reasoning_state TEXT;
