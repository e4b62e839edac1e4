CREATE TABLE vault (
    id BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
    version BIGINT NOT NULL DEFAULT 1,
    kdf_salt TEXT NOT NULL,
    kdf_params TEXT NOT NULL,
    wrapped_dek TEXT NOT NULL,
    recovery_wrapped_dek TEXT,
    recovery_key_hash TEXT,
    dek_id TEXT NOT NULL,
    dek_commitment TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);

CREATE TABLE env_variables (
    key TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL,
    encrypted BIGINT NOT NULL DEFAULT 0 CHECK (encrypted IN (0, 1)),
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);

CREATE TABLE ssh_keys (
    name TEXT NOT NULL PRIMARY KEY,
    public_key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    private_key TEXT NOT NULL,
    encrypted BIGINT NOT NULL DEFAULT 0 CHECK (encrypted IN (0, 1)),
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
