-- expand
-- The passkey that opened the session, so that the session ends with it; NULL for a password, and for sessions of earlier
-- versions.
ALTER TABLE auth_sessions ADD COLUMN passkey_id TEXT;
