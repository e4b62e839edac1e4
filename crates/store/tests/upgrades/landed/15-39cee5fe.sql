-- main on 2026-11-22, commit 39cee5fe

-- The API key or device that registered a passkey, and that of the passkey that a session logged in with.
-- NULL if a session or the setup registered the passkey.
ALTER TABLE auth_passkeys ADD COLUMN made_by TEXT;
ALTER TABLE auth_sessions ADD COLUMN made_by TEXT;
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (20, 'lineage', TRUE, BYTES(9a341f5ec9c8f15b5b607dc632d4ad27b3ba463ab49972d0bf6db840251aa44783129cb416d7ed57161bbab45b23fad3), 0);

-- rows
UPDATE auth_sessions SET made_by = 'api_key key_019ab0000001';
