-- main on 2026-11-25, commit c261d29e

-- Keys of model and voice providers, for nodes that share the database. On SQLite they are in two files instead.
CREATE TABLE provider_keys (
    id TEXT NOT NULL PRIMARY KEY,
    key TEXT NOT NULL,
    encrypted BIGINT NOT NULL DEFAULT 0 CHECK (encrypted IN (0, 1)),
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (50, 'provider_keys', TRUE, BYTES(fe7e3d242b34627343c53bc02ed807149a78650c59c09fd3a08036679fdbd9dc3b9576b5b2795b820a8618bede831fc5), 0);

-- rows
INSERT INTO provider_keys VALUES ('openai', 'b3BhcXVl', 1, 1795200000000, 1795200000000);
