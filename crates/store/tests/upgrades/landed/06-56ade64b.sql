-- main on 2026-11-22, commit 56ade64b

-- Where a ceremony was begun from: when there are too many, the network with most of them loses some.
ALTER TABLE auth_challenges ADD COLUMN network TEXT NOT NULL DEFAULT '';
CREATE INDEX auth_challenges_by_network ON auth_challenges (network, expires_at);

-- Where the audit log begins after its oldest rows were cut off: the last of them, and how many they were in
-- all. One row.
CREATE TABLE audit_anchor (
    id BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
    seq BIGINT NOT NULL,
    hash TEXT NOT NULL,
    cut BIGINT NOT NULL,
    at BIGINT NOT NULL
);

-- What settings were before a remote caller changed them while auth was disabled. `value` is NULL where there
-- was none. They come back when setup is completed.
CREATE TABLE settings_before_setup (
    key TEXT NOT NULL PRIMARY KEY,
    value TEXT
);
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (12, 'bounds', TRUE, BYTES(1f0d6bb7424908e163fc26a6bc5453235e510d7920eb6cf44587ad54ae6279a547bd5672abcb362d117e7d7d3eaec46f), 0);

-- rows
INSERT INTO audit_anchor VALUES (1, 0, '', 0, 1795200000000);
INSERT INTO settings_before_setup VALUES ('server.external_url', NULL);
