-- Audit rows that are written after the change that they describe. A row here is inserted in the transaction of the
-- change and deleted in the transaction of the audit row. What a process that ended in between leaves here becomes an
-- audit row later. `detail` is JSON.
CREATE TABLE audit_intents (
    id TEXT NOT NULL PRIMARY KEY,
    at BIGINT NOT NULL,
    kind TEXT NOT NULL,
    actor TEXT NOT NULL,
    client_ip TEXT,
    detail TEXT NOT NULL
);
