-- Keys of model and voice providers, for nodes that share the database. On SQLite they are in two files instead.
CREATE TABLE provider_keys (
    id TEXT NOT NULL PRIMARY KEY,
    key TEXT NOT NULL,
    encrypted BIGINT NOT NULL DEFAULT 0 CHECK (encrypted IN (0, 1)),
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
