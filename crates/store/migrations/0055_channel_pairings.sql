-- People who write to a channel that receives messages. `code` is set until the owner approves the pairing; a code is
-- valid for an hour after `asked_at`. `person` is the vendor's ID of the person.
CREATE TABLE channel_pairings (
    id TEXT NOT NULL PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES channel_accounts (id) ON DELETE CASCADE,
    person TEXT NOT NULL,
    name TEXT NOT NULL,
    code TEXT,
    trusted BIGINT NOT NULL DEFAULT 0 CHECK (trusted IN (0, 1)),
    asked_at BIGINT NOT NULL,
    approved_at BIGINT,
    UNIQUE (account_id, person)
);
