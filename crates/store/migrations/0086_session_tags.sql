-- expand
-- The tags of a session: empty, or each tag on a line of its own, between a first and a last line break.
ALTER TABLE chat_sessions ADD COLUMN tags TEXT NOT NULL DEFAULT '';
CREATE INDEX chat_sessions_with_tags ON chat_sessions (tags) WHERE tags <> '';
