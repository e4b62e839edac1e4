-- What was said aloud in sessions. BYTEA is PostgreSQL's word for bytes; SQLite keeps bytes as they are in
-- a column of any type. `data` stands last, so that the rest of a row is read without it.
CREATE TABLE session_audio (
    id TEXT NOT NULL PRIMARY KEY,
    session_id TEXT NOT NULL,
    -- The message that it belongs to, once there is one.
    message_id TEXT,
    -- inbound: what the user said; outbound: what was said to the user.
    direction TEXT NOT NULL CHECK (direction IN ('inbound', 'outbound')),
    format TEXT NOT NULL,
    mime_type TEXT NOT NULL,
    size BIGINT NOT NULL,
    duration_ms BIGINT NOT NULL,
    transcript TEXT,
    created_at BIGINT NOT NULL,
    data BYTEA NOT NULL
);
CREATE INDEX session_audio_by_session ON session_audio (session_id, id);
-- Ids sort by time: what there is in all, and the oldest of it, without a look at the rows.
CREATE INDEX session_audio_sizes ON session_audio (id, size);
