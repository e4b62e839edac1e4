-- main on 2026-11-20, commit e3bbf96a

-- Changes made at run time: one row a key, the value as JSON text. auth_disabled lives here too, so
-- that a flag and the rows it speaks of change in one transaction.
CREATE TABLE settings (
    key TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL,
    updated_at BIGINT NOT NULL
);

-- What changed, for the other nodes on the same database: each remembers the last number it saw.
CREATE TABLE changes (
    seq BIGINT NOT NULL PRIMARY KEY,
    subject TEXT NOT NULL,
    at BIGINT NOT NULL
);
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (1, 'settings', TRUE, BYTES(629b03ef2d1e84e1ce0219a42fbed700aa5b29221133c869cf29531c479102ad977cad6d18ca31d865a7950f2b264f3f), 0);

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
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (2, 'auth', TRUE, BYTES(4733790f49d2b00ffa891941d6cd13eeef300c911e5041abd37035a45557c8f5b25dfcc7d35c3ce3da2f966b2f7e94a4), 0);

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
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (3, 'vault', TRUE, BYTES(f27f8f98c4255ad66208f90405a7f329e413cc975c77a921eb5bb92bfd7adeaed81df8b0c943f696d7430add44e6f445), 0);

-- rows
INSERT INTO settings VALUES ('auth_disabled', 'false', 1795200000000);
INSERT INTO settings VALUES ('server.external_url', '"https://gate.example"', 1795200000001);
INSERT INTO changes VALUES (1, 'auth_state', 1795200000000), (2, 'auth_sessions', 1795200000001);
INSERT INTO auth_password VALUES (1, '$argon2id$v=19$m=65536,t=3,p=1$c2FsdHNhbHRzYWx0c2FsdA$1nzVvVqHqAqZl9kQ2yJ8m0yI7kGkqk3Q4r0d2v3J1zA', 1795200000000, 1795200000000);
INSERT INTO auth_setup_code VALUES (1, 'ABCD-EFGH', 0, 1, NULL, 1795199940000);
INSERT INTO auth_sessions VALUES ('as_019ab0000001', '5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9', 'password', 'Mozilla/5.0', '127.0.0.1', 1795200000000, 1795200000005, 4000000000000, 1795200000000);
INSERT INTO auth_api_keys VALUES ('key_019ab0000001', '6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b', 'gh_abcd', 'backup job', '["operator.read","operator.write"]', '["10.0.0.0/8"]', 1795200000000, NULL, NULL, 0);
INSERT INTO auth_passkeys VALUES ('pk_019ab0000001', 'AQID', '{"cred":{"cred_id":"AQID"}}', 'Laptop', 'gate.example', 1795200000000, 1795200000009);
INSERT INTO auth_challenges VALUES ('ch_019ab0000001', 'login', '127.0.0.1', 'gate.example', '{}', 1795200300000);
INSERT INTO audit_log VALUES (1, 'evt_019ab0000001', 1795200000000, 'setup.completed', 'anonymous', '127.0.0.1', '{"by":"password"}', '', 'dd915a48aeb988bfc7fbdc729de747ba316b3f19fbe8009d94d206774d65d272');
INSERT INTO vault VALUES (1, 1, 'c2FsdHNhbHRzYWx0c2FsdA==', '{"m_cost":65536,"t_cost":3,"p_cost":1}', 'd3JhcHBlZA==', 'cmVjb3Zlcnk=', 'aGFzaA==', 'dek_019ab0000001', 'Y29tbWl0bWVudA==', 1795200000000, 1795200000000);
INSERT INTO env_variables VALUES ('PLAIN', 'value', 0, 1795200000000, 1795200000000), ('TOKEN', 'b3BhcXVl', 1, 1795200000000, 1795200000001);
INSERT INTO ssh_keys VALUES ('deploy', 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA', 'SHA256:abc', 'b3BhcXVl', 1, 1795200000000, 1795200000000);
