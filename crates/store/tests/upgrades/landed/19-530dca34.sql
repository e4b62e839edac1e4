-- main on 2026-11-22, commit 530dca34

-- Who wrote a message: owner, configured (Gatehouse and its settings), model or stranger. A row whose writer is not
-- known counts as a stranger's.
ALTER TABLE chat_messages ADD COLUMN origin TEXT NOT NULL DEFAULT 'stranger';
UPDATE chat_messages SET origin = CASE
    WHEN role = 'assistant' THEN 'model'
    WHEN role = 'system' THEN 'configured'
    WHEN role = 'user' AND from_webhook = 0 THEN 'owner'
    WHEN role = 'tool' AND tool_name IN ('calc', 'speak', 'webhook') THEN 'configured'
    ELSE 'stranger' END;
ALTER TABLE chat_messages DROP COLUMN from_webhook;
-- 1 for the result of a tool that returns private data.
ALTER TABLE chat_messages ADD COLUMN private BIGINT NOT NULL DEFAULT 0;
UPDATE chat_messages SET private = 1
    WHERE role = 'tool' AND tool_name NOT IN ('calc', 'speak', 'web_fetch', 'web_search');

-- `tainted` now means: contains a stranger's text, until a person clears it.
UPDATE chat_sessions SET tainted = 1
    WHERE id IN (SELECT session_id FROM chat_messages WHERE origin = 'stranger');
-- 1 when it contains private data.
ALTER TABLE chat_sessions ADD COLUMN private BIGINT NOT NULL DEFAULT 0;
UPDATE chat_sessions SET private = 1
    WHERE id IN (SELECT session_id FROM chat_messages WHERE private = 1);
-- `stranger` if the summary covers a stranger's text, otherwise `model`.
ALTER TABLE chat_sessions ADD COLUMN summary_origin TEXT NOT NULL DEFAULT 'model';
UPDATE chat_sessions SET summary_origin = 'stranger' WHERE tainted = 1;

-- MCP servers whose tools were approved at least once.
CREATE TABLE mcp_servers (
    name TEXT NOT NULL PRIMARY KEY,
    approved_at BIGINT NOT NULL
);
-- The approved tools. Only these are offered, and only in this form.
CREATE TABLE mcp_tools (
    server TEXT NOT NULL,
    -- The server's own name for the tool.
    name TEXT NOT NULL,
    -- JSON: title, description, schema and annotations.
    form TEXT NOT NULL,
    approved_at BIGINT NOT NULL,
    PRIMARY KEY (server, name)
);
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (21, 'origins', TRUE, BYTES(e2f567e5dff620a224d6c54b7afc5fad0e864ea47206cda16d09eda858aaef7d53f882a2e44d4895e4e4ccd54709da7e), 0);

-- rows
INSERT INTO mcp_servers VALUES ('notes', 1795200000000);
INSERT INTO mcp_tools VALUES ('notes', 'read', '{"description":"Reads a note."}', 1795200000000);
