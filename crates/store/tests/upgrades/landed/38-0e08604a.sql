-- main on 2026-11-27, commit 0e08604a

-- expand
-- Whether the file of a message is a recording of the person's voice, which is transcribed.
ALTER TABLE received_messages ADD COLUMN is_voice BIGINT NOT NULL DEFAULT 0;
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (76, 'voice_messages', TRUE, BYTES(d07dd28c5673e9a0ff4a145a19870d68d5314aad2d1d86c99b389c99f1a7d607b8460bd6ac9b6f254cfdebc460739218), 0);

-- rows
UPDATE received_messages SET is_voice = 1 WHERE message_id = 'm-6000';
