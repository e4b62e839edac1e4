-- main on 2026-11-25, commit e486d877

-- When a part of a spoken answer may be deleted; NULL for audio that is kept.
ALTER TABLE session_audio ADD COLUMN expires_at BIGINT;
CREATE INDEX session_audio_expiry ON session_audio (expires_at) WHERE expires_at IS NOT NULL;
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (63, 'audio_expiry', TRUE, BYTES(459b71de10f6d3d54128468f294a4a8b461b95ac7bb31eb5e6fcafd1265dcd1d397c38b60f31cc6c274e71f0a5e3bb58), 0);

-- What the owner changed for a replay: `payload`, `target` or both, separated by a comma. NULL if nothing.
ALTER TABLE webhook_deliveries ADD COLUMN edited TEXT;
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (64, 'edited_replays', TRUE, BYTES(fca95335313644ea97673b2abfec492a34c002a645e69ac491b690e3f72cbddbb9bb6d5b67a7fb68243f0d3517e51636), 0);

-- rows
INSERT INTO session_audio (id, session_id, message_id, direction, format, mime_type, size, duration_ms, transcript, created_at, data, expires_at)
    VALUES ('au_019ab0000002', 'ses_019ab0000001', 'cm_4', 'outbound', 'mp3', 'audio/mpeg', 2, 100, NULL, 1795200000005, BYTES(fffb), 4000000000000);
UPDATE webhook_deliveries SET edited = 'payload,target' WHERE id = 'del_019ab0000005';
