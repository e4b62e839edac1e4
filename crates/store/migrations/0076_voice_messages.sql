-- expand
-- Whether the file of a message is a recording of the person's voice, which is transcribed.
ALTER TABLE received_messages ADD COLUMN is_voice BIGINT NOT NULL DEFAULT 0;
