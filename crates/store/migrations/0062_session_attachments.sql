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
-- The vendor's id of a file that came with a message of a channel, and its name.
ALTER TABLE inbound_messages ADD COLUMN file_id TEXT;
ALTER TABLE inbound_messages ADD COLUMN file_name TEXT;
