-- Permits that nodes took from rate limits that they share. `name` identifies the limit; a slot is a tenth of a second.
-- Used on shared databases only.
CREATE TABLE rate_permits (
    name TEXT NOT NULL,
    slot BIGINT NOT NULL,
    taken BIGINT NOT NULL,
    PRIMARY KEY (name, slot)
);
CREATE INDEX rate_permits_by_slot ON rate_permits (slot);
