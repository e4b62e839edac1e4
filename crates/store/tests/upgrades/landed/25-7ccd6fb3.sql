-- main on 2026-11-25, commit 7ccd6fb3

-- How nodes on one database give each other the vault's data key. Rows live for about a minute. `request` is a
-- sealed node's public key, `answer` the data key for that node; a row without `request` is for all nodes that have
-- the key before a rotation. Both are encrypted with a secret that the database does not contain.
CREATE TABLE vault_shares (
    id TEXT NOT NULL PRIMARY KEY,
    dek_id TEXT NOT NULL,
    generation BIGINT NOT NULL,
    request TEXT,
    answer TEXT,
    created_at BIGINT NOT NULL
);
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (52, 'vault_shares', TRUE, BYTES(d48e55117bb8cec01c61fab762309a84a94d305807828422d999c681b11bbd5a6a00a183a25786a19c58611957b0778f), 0);

-- rows
INSERT INTO vault_shares VALUES ('share_1', 'dek_019ab0000001', 1, 'cmVxdWVzdA==', NULL, 1795200000000);
