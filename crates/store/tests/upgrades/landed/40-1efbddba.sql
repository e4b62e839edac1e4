-- main on 2026-11-27, commit 1efbddba

-- expand
-- The migration that a version of Gatehouse must contain to write to the database after this one; 0 if none, NULL if
-- only versions that contain this one may.
ALTER TABLE _sqlx_migrations ADD COLUMN oldest_writer BIGINT;
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (73, 'oldest_writer', TRUE, BYTES(637edba23a76702609550c116623dac28c877251d056feb0dbc22017061bc700632ffe34f68945c65d9023b323642f58), 0);
UPDATE _sqlx_migrations SET oldest_writer = 0 WHERE version = 73;
