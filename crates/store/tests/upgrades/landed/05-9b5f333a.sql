-- main on 2026-11-21, commit 9b5f333a

-- Which delivery of which webhook a message tells of, when one does. They may be gone since.
ALTER TABLE inbox_messages ADD COLUMN webhook_id TEXT;
ALTER TABLE inbox_messages ADD COLUMN delivery_id TEXT;
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (10, 'inbox_origin', TRUE, BYTES(8d3d6853a39b8ff21ff89cb88e5bb0cad6d7124564686117154f295e650c350d572e620fb9d013c27b5307c6c4e06b79), 0);

-- rows
INSERT INTO inbox_messages VALUES (3, 'msg_019ab0000003', 'inbox', 'hi', 'webhook', 1795207200006, 0, 'wh_019ab0000002', 'del_019ab0000005');
