-- What the owner changed for a replay: `payload`, `target` or both, separated by a comma. NULL if nothing.
ALTER TABLE webhook_deliveries ADD COLUMN edited TEXT;
