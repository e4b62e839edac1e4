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
