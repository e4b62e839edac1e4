-- expand
-- The links that were sent for tool calls that wait for approval, and how the calls ended. Every node can show it, until
-- a day after the call would have expired. `token_key` is derived from the token in the link. `ended_at` is the time of
-- the answer, and without an answer the time at which the turn was stopped; NULL for a call that waits or expired.
-- `answered_through` is link, chat or api.
CREATE TABLE approval_links (
    token_key TEXT NOT NULL PRIMARY KEY,
    approval_id TEXT NOT NULL,
    expires_at BIGINT NOT NULL,
    allowed BIGINT CHECK (allowed IN (0, 1)),
    ended_at BIGINT,
    answered_through TEXT
);
CREATE INDEX approval_links_by_approval ON approval_links (approval_id);
CREATE INDEX approval_links_by_expiry ON approval_links (expires_at);
