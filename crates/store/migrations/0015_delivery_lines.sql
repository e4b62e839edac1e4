-- Where a delivery goes: the channel target of one that is only delivered, empty for an agent's turn, NULL for one
-- that never runs. Open deliveries of an earlier version get theirs from their configuration at the next start.
ALTER TABLE webhook_deliveries ADD COLUMN target TEXT;
-- A line is what one webhook has waiting for one target. A claim asks line by line.
CREATE INDEX webhook_deliveries_lines ON webhook_deliveries (target, webhook_id, next_attempt_at, id)
    WHERE status IN ('received', 'queued') AND next_attempt_at IS NOT NULL AND target IS NOT NULL;
