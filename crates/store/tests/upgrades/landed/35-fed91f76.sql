-- main on 2026-11-26, commit fed91f76

-- The key pair that identifies this gateway to push services (RFC 8292), as base64url of the private key. It is not
-- encrypted: notifications must be sent while the vault is sealed, and the key only signs them.
CREATE TABLE push_keys (
    id BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
    private_key TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
-- Browsers that get notifications through a push service. A subscription is deleted with the credential that made it.
CREATE TABLE push_subscriptions (
    id TEXT NOT NULL PRIMARY KEY,
    endpoint TEXT NOT NULL UNIQUE,
    -- The browser's public key and its authentication secret (RFC 8291), as base64url.
    p256dh TEXT NOT NULL,
    auth_secret TEXT NOT NULL,
    session_id TEXT REFERENCES auth_sessions (id) ON DELETE CASCADE,
    device_id TEXT REFERENCES auth_devices (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    CHECK ((session_id IS NULL) <> (device_id IS NULL))
);
CREATE INDEX push_subscriptions_by_session ON push_subscriptions (session_id);
CREATE INDEX push_subscriptions_by_device ON push_subscriptions (device_id);
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (69, 'push', TRUE, BYTES(8a9a08f22060ee37a90d5c9325d6f0ec53a9d1a53278c331fb3fd8f03411bfe106972b57251f716b612431cd782dde1e), 0);

-- rows
INSERT INTO push_keys VALUES (1, 'cHJpdmF0ZQ', 1795200000000);
INSERT INTO push_subscriptions VALUES ('push_1', 'https://push.example/1', 'cHVibGlj', 'c2VjcmV0', 'as_019ab0000001', NULL, 1795200000000);
