-- main on 2026-11-27, commit 8f1502e9

-- expand
-- Duties that one node of several does, such as deleting old records. Used on shared databases only.
CREATE TABLE duties (
    name TEXT NOT NULL PRIMARY KEY,
    node TEXT NOT NULL,
    until BIGINT NOT NULL
);
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (77, 'duties', TRUE, BYTES(2cc1ab8ff7c81500280ff1a3a6e138dfe09bc0dab3e7e16af353b8a399efafcb8a3b0438a78bb667a623244f17e143f5), 0);

-- rows
INSERT INTO duties VALUES ('deliveries.retention', 'node_1', 1795200900000);
