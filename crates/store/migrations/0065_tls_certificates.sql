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
