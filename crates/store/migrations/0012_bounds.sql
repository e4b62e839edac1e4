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
