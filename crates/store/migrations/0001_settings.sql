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
