-- main on 2026-11-23, commit 426d93b6

-- Deliveries that arrived while the vault was sealed, encrypted with the public key of the vault record. `client` is
-- the client's IP address or network, for the limit per client; `size` is the plaintext's length in bytes.
ALTER TABLE vault ADD COLUMN hold_public_key TEXT;
ALTER TABLE vault ADD COLUMN hold_private_key TEXT;
CREATE TABLE held_deliveries (
    id TEXT NOT NULL PRIMARY KEY,
    webhook_id TEXT NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    client TEXT NOT NULL,
    size BIGINT NOT NULL,
    sealed TEXT NOT NULL
);
CREATE INDEX held_deliveries_by_webhook ON held_deliveries (webhook_id, client, size);
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (46, 'held_deliveries', TRUE, BYTES(de8f25a93e7ed88f960d01150dbb1547a7cc256a05c01457116ef2626e9613e0e4d663649d2b008e332d93b814886d34), 0);

-- rows
UPDATE vault SET hold_public_key = 'cHVibGlj', hold_private_key = 'cHJpdmF0ZQ==';
INSERT INTO held_deliveries VALUES ('held_1', 'wh_019ab0000001', '192.0.2.1', 17, 'c2VhbGVk');
