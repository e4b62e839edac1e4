-- main on 2026-11-27, commit 8f1502e9

-- Duties that one node of several does, such as deleting old records. Used on shared databases only.
CREATE TABLE duties (
    name TEXT NOT NULL PRIMARY KEY,
    node TEXT NOT NULL,
    until BIGINT NOT NULL
);
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (77, 'duties', TRUE, BYTES(a43037bd62224c92119e21b2752947c579acd92055822e3c96d9c90a19f4d8ad3518c17f942367a02e7325580f387846), 0);

-- rows
INSERT INTO duties VALUES ('deliveries.retention', 'node_1', 1795200900000);
