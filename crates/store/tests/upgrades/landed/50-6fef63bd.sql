-- main on 2026-11-30, commit 6fef63bd

-- expand
-- What users save in the web UI. `kind` is saved_filters or prompts. `value` is the query of a URL, or the text of a
-- prompt.
CREATE TABLE preferences (
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (kind, name)
);
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (100, 'preferences', TRUE, BYTES(7ab3fa60895ae17a655dcd3289c8a18c6cfc89abfd24f1a6f4ace5630288c114f4f0775ee463d10c920ddbf3352b0dd8), 0);
UPDATE _sqlx_migrations SET oldest_writer = 0 WHERE version = 100;

-- rows
INSERT INTO preferences (kind, name, value) VALUES ('saved_filters', 'Failed', 'status=failed');
