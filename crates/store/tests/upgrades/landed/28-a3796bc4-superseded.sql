-- main on 2026-11-25, commit a3796bc4

-- Files of sessions. The bytes are last, so that the rest of a row is read without them.
CREATE TABLE session_attachments (
    id TEXT NOT NULL PRIMARY KEY,
    session_id TEXT NOT NULL,
    -- The message that it belongs to, once there is one.
    message_id TEXT,
    name TEXT NOT NULL,
    mime_type TEXT NOT NULL,
    size BIGINT NOT NULL,
    -- The size of all that is stored of it.
    stored_size BIGINT NOT NULL,
    -- In pixels, of an image.
    width BIGINT,
    height BIGINT,
    created_at BIGINT NOT NULL,
    -- What models receive: the text of a document, or an image that is no larger than they accept (JPEG).
    content TEXT,
    image BYTEA,
    data BYTEA NOT NULL
);
CREATE INDEX session_attachments_by_session ON session_attachments (session_id, id);
CREATE INDEX session_attachments_sizes ON session_attachments (id, stored_size);
-- The attachments of a user message: a JSON list of id, name, type, size, width and height.
ALTER TABLE chat_messages ADD COLUMN attachments TEXT;
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (62, 'session_attachments', TRUE, BYTES(a53793cc12316c2c0d3801fdac1898eea6212e9828bc554c98a484f50a618cb3b8a9823ddf15dccb704bdb68c9c2c675), 0);

-- rows
INSERT INTO session_attachments VALUES ('att_1', 'ses_019ab0000001', 'cm_1', 'sum.png', 'image/png', 4, 8, 1, 1, 1795200000000, NULL, BYTES(ffd8ffe0), BYTES(89504e47));
UPDATE chat_messages SET attachments = '[{"id":"att_1","name":"sum.png","mime_type":"image/png","size":4,"width":1,"height":1}]' WHERE id = 'cm_1';
