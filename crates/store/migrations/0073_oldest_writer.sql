-- expand
-- The migration that a version of Gatehouse must contain to write to the database after this one; 0 if none, NULL if
-- only versions that contain this one may.
ALTER TABLE _sqlx_migrations ADD COLUMN oldest_writer BIGINT;
