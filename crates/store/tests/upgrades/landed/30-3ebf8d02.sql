-- main on 2026-11-25, commit 3ebf8d02

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
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (66, 'waiting_approvals', TRUE, BYTES(0d392a5c4b1bb3c196416851f5b16e2582fa70126b88b4b48a37f12f4b6a0ce06200096aeed085aaa0f3855190a36b6f), 0);

-- Permits that nodes took from rate limits that they share. `name` identifies the limit; a slot is a tenth of a second.
-- Used on shared databases only.
CREATE TABLE rate_permits (
    name TEXT NOT NULL,
    slot BIGINT NOT NULL,
    taken BIGINT NOT NULL,
    PRIMARY KEY (name, slot)
);
CREATE INDEX rate_permits_by_slot ON rate_permits (slot);
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (67, 'rate_permits', TRUE, BYTES(6a340292aa647fd1ed74e3abef4fdfea3a3d2a2f440c81f309a7d4bbf539c62dbb7b06b2d5a6f4e5f3ce0efaa46014df), 0);

-- rows
INSERT INTO waiting_approvals VALUES ('apr_1', 'turn_5', 'a2V5', '{"tool":"web_fetch"}', 1795200060000, NULL);
INSERT INTO rate_permits VALUES ('webhook:wh_019ab0000001', 17952000000, 3);
