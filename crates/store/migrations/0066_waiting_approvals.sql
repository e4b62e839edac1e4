-- Tool calls that wait for approval, so that every node can list and answer them. Used on shared databases only.
-- They are deleted with their turn.
-- `token_key` is derived from the token in links to the call. `approval` is JSON. `allowed` is the answer.
CREATE TABLE waiting_approvals (
    id TEXT NOT NULL PRIMARY KEY,
    turn_id TEXT NOT NULL REFERENCES chat_turns (id) ON DELETE CASCADE,
    token_key TEXT NOT NULL,
    approval TEXT NOT NULL,
    expires_at BIGINT NOT NULL,
    allowed BIGINT CHECK (allowed IN (0, 1))
);
CREATE INDEX waiting_approvals_by_token ON waiting_approvals (token_key);
CREATE INDEX waiting_approvals_by_turn ON waiting_approvals (turn_id);
