-- main on 2026-11-25, commit 28338647

-- Accounts at certificate authorities, by the URL of the directory. `credentials` is JSON with the private key.
CREATE TABLE tls_accounts (
    directory TEXT NOT NULL PRIMARY KEY,
    email TEXT NOT NULL,
    credentials TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
-- One certificate per directory and set of names, which all nodes use. The private keys are not encrypted: TLS must
-- start while the vault is sealed.
CREATE TABLE tls_certificates (
    directory TEXT NOT NULL,
    -- Sorted, separated by commas.
    names TEXT NOT NULL,
    -- PEM. NULL before the first certificate.
    chain TEXT,
    private_key TEXT,
    not_before BIGINT,
    not_after BIGINT,
    -- When the next order is due.
    next_order_at BIGINT NOT NULL,
    -- Failures since the last success, and the last of them.
    failures BIGINT NOT NULL DEFAULT 0,
    error TEXT,
    -- While a node orders: the node, and until when the others wait for it.
    ordered_by TEXT,
    ordered_until BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (directory, names)
);
-- What to present to a certificate authority that verifies a name by TLS-ALPN-01 (RFC 8737). Any node may be asked.
CREATE TABLE tls_challenges (
    name TEXT NOT NULL PRIMARY KEY,
    -- SHA-256 of the key authorization.
    digest BYTEA NOT NULL,
    expires_at BIGINT NOT NULL
);
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (65, 'tls_certificates', TRUE, BYTES(24e5535a2df2e085720ffd0b3dcb3f97c35e6eaf77447ee8cdc8e0132f8c4f92e64b781db916809213667b7ba50cb410), 0);

-- rows
INSERT INTO tls_accounts VALUES ('https://acme.example/directory', 'me@example.org', '{}', 1795200000000);
INSERT INTO tls_certificates VALUES ('https://acme.example/directory', 'gate.example', NULL, NULL, NULL, NULL, 1795203600000, 2, 'timed out', NULL, 0);
INSERT INTO tls_challenges VALUES ('gate.example', BYTES(00ff10), 1795200060000);
