-- Voices with a character of their own. At most one is active.
CREATE TABLE voice_personas (
    id TEXT NOT NULL PRIMARY KEY,
    label TEXT NOT NULL,
    -- Everything else that its owner chose, as JSON.
    config TEXT NOT NULL,
    active BIGINT NOT NULL DEFAULT 0 CHECK (active IN (0, 1)),
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX voice_personas_active ON voice_personas (active) WHERE active = 1;
