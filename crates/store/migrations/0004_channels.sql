-- One row a secret field of a channel account; its other fields are with the account.
CREATE TABLE channel_secrets (
    account_id TEXT NOT NULL,
    type TEXT NOT NULL,
    field TEXT NOT NULL,
    value TEXT NOT NULL,
    encrypted BIGINT NOT NULL DEFAULT 0 CHECK (encrypted IN (0, 1)),
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, field)
);

-- Accounts of the inbox and the log exist without a row.
CREATE TABLE channel_accounts (
    id TEXT NOT NULL PRIMARY KEY,
    type TEXT NOT NULL,
    label TEXT NOT NULL,
    -- JSON object of the fields that are no secrets.
    fields TEXT NOT NULL,
    enabled BIGINT NOT NULL DEFAULT 1 CHECK (enabled IN (0, 1)),
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);

-- How many parts of a split message the vendor has taken, so that another try sends only the others.
CREATE TABLE channel_parts (
    message TEXT NOT NULL PRIMARY KEY,
    parts_sent BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX channel_parts_by_age ON channel_parts (updated_at);

CREATE TABLE inbox_messages (
    seq BIGINT NOT NULL PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    channel TEXT NOT NULL,
    text TEXT NOT NULL,
    source TEXT NOT NULL,
    at BIGINT NOT NULL,
    read BIGINT NOT NULL DEFAULT 0 CHECK (read IN (0, 1))
);
