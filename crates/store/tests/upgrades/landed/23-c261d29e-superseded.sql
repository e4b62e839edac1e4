-- main on 2026-11-25, commit c261d29e

-- Keys of model and voice providers, for nodes that share the database. On SQLite they are in two files instead.
CREATE TABLE provider_keys (
    id TEXT NOT NULL PRIMARY KEY,
    key TEXT NOT NULL,
    encrypted BIGINT NOT NULL DEFAULT 0 CHECK (encrypted IN (0, 1)),
    base_url TEXT NOT NULL,
    kind TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (50, 'provider_keys', TRUE, BYTES(9f53ad70e35b974560a5704dc1ac650f264c35efd30e3857c38d491af727baf500c5f343cfd1ec353956390aaac1e948), 0);

-- rows
INSERT INTO provider_keys VALUES ('openai', 'b3BhcXVl', 1, 'https://api.example', 'openai', 1795200000000, 1795200000000);
