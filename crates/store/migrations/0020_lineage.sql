-- The API key or device that registered a passkey, and that of the passkey that a session logged in with.
-- NULL if a session or the setup registered the passkey.
ALTER TABLE auth_passkeys ADD COLUMN made_by TEXT;
ALTER TABLE auth_sessions ADD COLUMN made_by TEXT;
