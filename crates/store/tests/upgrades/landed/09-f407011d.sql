-- main on 2026-11-22, commit f407011d

-- Who made a credential, such as 'api_key key_…' or 'session as_…'; null for those made before this
-- column. What a key or device made ends with it.
ALTER TABLE auth_api_keys ADD COLUMN made_by TEXT;
-- Patterns of methods and paths that the credential may call, separated by spaces; null for all.
ALTER TABLE auth_api_keys ADD COLUMN only_patterns TEXT;
ALTER TABLE auth_devices ADD COLUMN made_by TEXT;
ALTER TABLE auth_devices ADD COLUMN only_patterns TEXT;
ALTER TABLE auth_devices ADD COLUMN expires_at BIGINT;
ALTER TABLE auth_devices ADD COLUMN allowed_cidrs TEXT;
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (11, 'credential_limits', TRUE, BYTES(434947b87bae7007a2cfd6736e3f6c405b788f3609724f7a4a26e6799a07b15ad2820a60de845b67024b127fd3ccd0e2), 0);

-- rows
INSERT INTO auth_api_keys VALUES ('key_019ab0000002', '4e07408562bedb8b60ce05c1decfe3ad16b72230967de01f640b7e4729b49fce', 'gh_efgh', 'status only', '["operator.read"]', NULL, 1795200000001, 4000000000000, 1795200000002, 0, 'session as_019ab0000001', 'GET /health rpc:system.status');
INSERT INTO auth_devices (id, token_hash, label, scopes, created_at, last_seen_at, dies_at_setup, made_by, only_patterns, expires_at, allowed_cidrs)
    VALUES ('dev_019ab0000002', '4b227777d4dd1fc61c6f884f48641d02b4d121d3fd328cb08b5531fcacdabf8a', 'Kiosk', '["operator.read"]', 1795200000000, NULL, 0, 'api_key key_019ab0000001', NULL, 4000000000000, '["192.0.2.0/24"]');
