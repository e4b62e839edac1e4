-- main on 2026-11-25, commit c444cab5

-- What was spoken of an answer until the person interrupted it. NULL if nobody did.
ALTER TABLE chat_messages ADD COLUMN heard TEXT;
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (54, 'heard', TRUE, BYTES(8a2c23051e4528be98c4ed0cab7a1e803d8764947cd857bc185fdcb3c662a2534c73b1a874b0187e2d9b5ce6f76a13af), 0);

-- rows
UPDATE chat_messages SET heard = '42' WHERE id = 'cm_4';
