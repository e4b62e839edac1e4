-- main on 2026-11-29, commit 33b1b95c

-- expand
-- The same indexes with comparisons instead of lists. SQLite evaluates a list of more than two values with a temporary
-- table, for each such index and each row that is written: half of the time of a change of status.
DROP INDEX webhook_deliveries_open;
CREATE INDEX webhook_deliveries_open ON webhook_deliveries (session_key, id)
    WHERE (status = 'received' OR status = 'queued' OR status = 'processing');
DROP INDEX webhook_deliveries_refused;
CREATE INDEX webhook_deliveries_refused ON webhook_deliveries (webhook_id, status, id)
    WHERE (status = 'rejected' OR status = 'filtered' OR status = 'deduplicated' OR status = 'failed');
DROP INDEX webhook_deliveries_by_status;
CREATE INDEX webhook_deliveries_by_status ON webhook_deliveries (status, id)
    WHERE (status = 'rejected' OR status = 'filtered' OR status = 'deduplicated' OR status = 'failed');
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (89, 'status_comparisons', TRUE, BYTES(f0c87fcc869fede36b3758a203db1ffa6490560c4f19465622c32605b0b5557652c68b2c767d1f86f5a93848919528bd), 0);
UPDATE _sqlx_migrations SET oldest_writer = 0 WHERE version = 89;
