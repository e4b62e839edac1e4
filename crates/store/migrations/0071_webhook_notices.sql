-- What the owner was told about a webhook, and what has happened since. `kind` is `failed` or `refused`.
CREATE TABLE webhook_notices (
    webhook_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    -- Failures since the last message, or refusals in a row.
    count BIGINT NOT NULL,
    -- The delivery that failed or was refused last.
    delivery_id TEXT NOT NULL,
    told_at BIGINT,
    PRIMARY KEY (webhook_id, kind)
);
