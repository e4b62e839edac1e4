-- Which delivery of which webhook a message tells of, when one does. They may be gone since.
ALTER TABLE inbox_messages ADD COLUMN webhook_id TEXT;
ALTER TABLE inbox_messages ADD COLUMN delivery_id TEXT;
