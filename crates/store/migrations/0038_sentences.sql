-- What happened, as a sentence made of the payload at receipt, and the beginning of the agent's answer.
ALTER TABLE webhook_deliveries ADD COLUMN summary TEXT;
ALTER TABLE webhook_deliveries ADD COLUMN outcome TEXT;

-- The attempts that failed and were repeated. The last attempt is in `webhook_deliveries`.
CREATE TABLE delivery_attempts (
    delivery_id TEXT NOT NULL REFERENCES webhook_deliveries (id) ON DELETE CASCADE,
    attempt BIGINT NOT NULL,
    started_at BIGINT NOT NULL,
    ended_at BIGINT NOT NULL,
    error TEXT NOT NULL,
    PRIMARY KEY (delivery_id, attempt)
);

-- Sessions that the owner keeps at the top of the list, or out of it.
ALTER TABLE chat_sessions ADD COLUMN pinned BIGINT NOT NULL DEFAULT 0;
ALTER TABLE chat_sessions ADD COLUMN archived BIGINT NOT NULL DEFAULT 0;
