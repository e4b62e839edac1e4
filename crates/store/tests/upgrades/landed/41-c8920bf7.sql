-- main on 2026-11-28, commit c8920bf7

-- expand
-- The HTTP status that the channel's receiver gave to the last attempt, and the beginning of its text if the attempt
-- failed, without secrets. NULL if there was no HTTP response.
ALTER TABLE webhook_deliveries ADD COLUMN status_code BIGINT;
ALTER TABLE webhook_deliveries ADD COLUMN answer TEXT;
-- The name of the channel that accepted the text of a delivery without an agent, as it was then.
ALTER TABLE webhook_deliveries ADD COLUMN channel TEXT;
-- The same for the attempts that failed and were repeated.
ALTER TABLE delivery_attempts ADD COLUMN status_code BIGINT;
ALTER TABLE delivery_attempts ADD COLUMN answer TEXT;
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (80, 'receiver_answers', TRUE, BYTES(452d8706db27ce4c165b18f0dd34434653af74de20d98751767f5454967ee63ddfe0486fc0c4c5cbfb13d43cefef15bc), 0);
UPDATE _sqlx_migrations SET oldest_writer = 0 WHERE version = 80;

-- rows
UPDATE webhook_deliveries SET status_code = 200, channel = 'Inbox' WHERE id = 'del_019ab0000005';
UPDATE delivery_attempts SET status_code = 503, answer = 'busy';
