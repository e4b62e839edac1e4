-- Paired devices. The token itself is here only as a hash.
CREATE TABLE auth_devices (
    id TEXT NOT NULL PRIMARY KEY,
    token_hash TEXT NOT NULL UNIQUE,
    label TEXT NOT NULL,
    scopes TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    last_seen_at BIGINT,
    -- 1: paired by a remote caller while auth was disabled; dies when setup completes.
    dies_at_setup BIGINT NOT NULL
);
