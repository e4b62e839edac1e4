-- expand
-- The earlier message that a received one quotes, as JSON.
ALTER TABLE received_messages ADD COLUMN quote TEXT;
