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
