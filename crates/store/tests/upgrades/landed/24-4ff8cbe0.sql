-- main on 2026-11-25, commit 4ff8cbe0

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
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (60, 'audit_intents', TRUE, BYTES(a18cbd9b81431c209d7fd1f51a24417bd29a59e42925d6287156a2a2c12156ca183cf3bf72d704688a4c5d549871d408), 0);

-- rows
INSERT INTO audit_intents VALUES ('evt_019ab0000002', 1795200000000, 'approvals.answered', 'session as_019ab0000001', NULL, '{}');
