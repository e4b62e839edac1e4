-- main on 2026-11-21, commit 846514f0

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
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (8, 'voice_personas', TRUE, BYTES(8bd651411a013ede1185d4c06a24e472be60c6e8a0a5bfa8924046d94759808b9eba9abf58f6cba965464bdb72dd140c), 0);

-- rows
INSERT INTO voice_personas VALUES ('narrator', 'Narrator', '{"provider":"piper","voice":"amy"}', 1, 1795200000000, 1795200000000);
