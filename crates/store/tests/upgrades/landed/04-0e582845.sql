-- main on 2026-11-21, commit 0e582845

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
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (9, 'session_audio', TRUE, BYTES(63ab1092e8246424b0078437bce6de8a478bba158e2573d8101f9f41df7d3466a215060bf1e5337a82d01d6c87b699bd), 0);

-- rows
INSERT INTO session_audio VALUES ('au_019ab0000001', 'ses_019ab0000001', 'cm_4', 'outbound', 'mp3', 'audio/mpeg', 3, 900, '42.', 1795200000004, BYTES(fffb90));
