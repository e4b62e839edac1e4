CREATE TABLE auth_password (
    id BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
    hash TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);

CREATE TABLE auth_setup_code (
    id BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
    code TEXT NOT NULL,
    wrong_tries BIGINT NOT NULL,
    codes_made BIGINT NOT NULL,
    replaced_at BIGINT,
    created_at BIGINT NOT NULL
);

CREATE TABLE auth_sessions (
    id TEXT NOT NULL PRIMARY KEY,
    token_hash TEXT NOT NULL UNIQUE,
    login_method TEXT NOT NULL,
    user_agent TEXT,
    client_ip TEXT,
    created_at BIGINT NOT NULL,
    last_seen_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    confirmed_at BIGINT NOT NULL
);
CREATE INDEX auth_sessions_by_expiry ON auth_sessions (expires_at);

CREATE TABLE auth_api_keys (
    id TEXT NOT NULL PRIMARY KEY,
    key_hash TEXT NOT NULL UNIQUE,
    prefix TEXT NOT NULL,
    label TEXT NOT NULL,
    scopes TEXT NOT NULL,
    allowed_cidrs TEXT,
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    last_used_at BIGINT,
    -- 1: minted by a remote caller while auth was disabled; dies when setup completes.
    dies_at_setup BIGINT NOT NULL
);

CREATE TABLE auth_passkeys (
    id TEXT NOT NULL PRIMARY KEY,
    credential_id TEXT NOT NULL UNIQUE,
    credential TEXT NOT NULL,
    name TEXT NOT NULL,
    rp_id TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    last_used_at BIGINT
);

CREATE TABLE auth_challenges (
    id TEXT NOT NULL PRIMARY KEY,
    purpose TEXT NOT NULL,
    client_key TEXT NOT NULL,
    rp_id TEXT NOT NULL,
    state TEXT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX auth_challenges_by_client ON auth_challenges (client_key, expires_at);

CREATE TABLE audit_log (
    seq BIGINT NOT NULL PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    at BIGINT NOT NULL,
    kind TEXT NOT NULL,
    actor TEXT NOT NULL,
    client_ip TEXT,
    detail TEXT NOT NULL,
    prev_hash TEXT NOT NULL,
    hash TEXT NOT NULL
);
CREATE INDEX audit_log_by_kind ON audit_log (kind, seq);
