-- main on 2026-11-27, commit 0e08604a

-- Whether the file of a message is a recording of the person's voice, which is transcribed.
ALTER TABLE received_messages ADD COLUMN is_voice BIGINT NOT NULL DEFAULT 0;
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (76, 'voice_messages', TRUE, BYTES(3d30bdb1c6ada86f09bf2252c0565f2fadc9179eaa07687c37241ab095310c48e8641d493c6ff1e67e891e5073b5e1ce), 0);

-- rows
UPDATE received_messages SET is_voice = 1 WHERE message_id = 'm-6000';
