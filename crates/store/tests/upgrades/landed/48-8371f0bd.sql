-- main on 2026-11-29, commit 8371f0bd

-- expand
-- The passkey that opened the session, so that the session ends with it; NULL for a password, and for sessions of earlier
-- versions.
ALTER TABLE auth_sessions ADD COLUMN passkey_id TEXT;
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (92, 'session_passkeys', TRUE, BYTES(aa8a4e3a75288206b31439efd7ea75d530292cc06a989d662e0212f046ed4fd2824460b14c0ba6f7755ecede578c2ce9), 0);
UPDATE _sqlx_migrations SET oldest_writer = 0 WHERE version = 92;

-- rows
INSERT INTO auth_sessions (id, token_hash, login_method, user_agent, client_ip, created_at, last_seen_at, expires_at, confirmed_at, made_by, passkey_id)
    VALUES ('as_019ab0000003', '4e07408562bedb8b60ce05c1decfe3ad16b72230967de01f640b7e4729b49fce', 'passkey', 'Mozilla/5.0', '127.0.0.1', 1795200000013, 1795200000013, 4000000000000, 1795200000013, NULL, 'pk_019ab0000001');
