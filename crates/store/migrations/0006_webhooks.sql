CREATE TABLE webhooks (
    id TEXT NOT NULL PRIMARY KEY,
    public_id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    -- Everything else that its owner chose, as JSON; copied into each delivery.
    config TEXT NOT NULL,
    enabled BIGINT NOT NULL CHECK (enabled IN (0, 1)),
    delivery_count BIGINT NOT NULL DEFAULT 0,
    last_delivery_at BIGINT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);

-- `field` is secret or previous_secret; the latter is good until `expires_at`.
CREATE TABLE webhook_secrets (
    webhook_id TEXT NOT NULL,
    field TEXT NOT NULL,
    value TEXT NOT NULL,
    encrypted BIGINT NOT NULL DEFAULT 0 CHECK (encrypted IN (0, 1)),
    expires_at BIGINT,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (webhook_id, field)
);

-- Ids sort by the time they were made, so that the newest come first without another index.
CREATE TABLE webhook_deliveries (
    id TEXT NOT NULL PRIMARY KEY,
    webhook_id TEXT NOT NULL,
    status TEXT NOT NULL,
    event_type TEXT,
    entity_key TEXT,
    delivery_key TEXT,
    -- Is set for a row that holds its key: one that was accepted and is no replay.
    unique_key TEXT,
    duplicate_of TEXT,
    replay_of TEXT,
    session_key TEXT NOT NULL,
    session_id TEXT,
    received_at BIGINT NOT NULL,
    started_at BIGINT,
    finished_at BIGINT,
    -- Not before this moment; the order of the queue.
    next_attempt_at BIGINT,
    attempts BIGINT NOT NULL DEFAULT 0,
    lease_owner TEXT,
    lease_until BIGINT,
    input_tokens BIGINT,
    output_tokens BIGINT,
    headers TEXT NOT NULL,
    body_size BIGINT NOT NULL,
    body_preview TEXT NOT NULL,
    payload TEXT,
    -- The webhook's configuration when it was received, without secrets.
    config TEXT,
    error TEXT,
    response_actions TEXT NOT NULL DEFAULT '[]'
);
CREATE UNIQUE INDEX webhook_deliveries_by_key ON webhook_deliveries (webhook_id, unique_key);
CREATE INDEX webhook_deliveries_by_webhook ON webhook_deliveries (webhook_id, id);
CREATE INDEX webhook_deliveries_queue ON webhook_deliveries (next_attempt_at, id)
    WHERE status IN ('received', 'queued');
CREATE INDEX webhook_deliveries_open ON webhook_deliveries (session_key, id)
    WHERE status IN ('received', 'queued', 'processing');
CREATE INDEX webhook_deliveries_leases ON webhook_deliveries (lease_until)
    WHERE status = 'processing';
CREATE INDEX webhook_deliveries_refused ON webhook_deliveries (webhook_id, status, id)
    WHERE status IN ('rejected', 'filtered', 'deduplicated', 'failed');
-- The same over all webhooks, which a list by status alone asks for.
CREATE INDEX webhook_deliveries_by_status ON webhook_deliveries (status, id)
    WHERE status IN ('rejected', 'filtered', 'deduplicated', 'failed');

-- Webhooks that were deleted and whose deliveries are still being removed, piece by piece. Nobody
-- sees or runs a delivery of a webhook that stands here.
CREATE TABLE webhook_removals (
    webhook_id TEXT NOT NULL PRIMARY KEY,
    removed_at BIGINT NOT NULL
);
