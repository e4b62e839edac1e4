-- When a part of a spoken answer may be deleted; NULL for audio that is kept.
ALTER TABLE session_audio ADD COLUMN expires_at BIGINT;
CREATE INDEX session_audio_expiry ON session_audio (expires_at) WHERE expires_at IS NOT NULL;
