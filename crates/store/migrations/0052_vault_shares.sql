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
