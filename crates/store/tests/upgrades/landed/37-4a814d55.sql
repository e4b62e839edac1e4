-- main on 2026-11-27, commit 4a814d55

-- What an authorization server granted for an MCP server (OAuth 2.1). One row per server of the settings. Every change
-- of the grant increments the version, so that no node overwrites what another node has saved.
CREATE TABLE mcp_authorizations (
    server TEXT NOT NULL PRIMARY KEY,
    version BIGINT NOT NULL,
    -- The MCP server's canonical URI (RFC 8707). The tokens are sent nowhere else.
    resource TEXT NOT NULL,
    issuer TEXT,
    -- Of a client that a person entered; NULL for one that was registered dynamically.
    client_id TEXT,
    authorized BIGINT NOT NULL DEFAULT 0 CHECK (authorized IN (0, 1)),
    expires_at BIGINT,
    error TEXT,
    -- The client, the tokens and the pending authorization, as JSON.
    value TEXT NOT NULL,
    encrypted BIGINT NOT NULL DEFAULT 0 CHECK (encrypted IN (0, 1)),
    -- Until then, one node is refreshing the tokens.
    claimed_until BIGINT,
    updated_at BIGINT NOT NULL
);
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (70, 'mcp_authorizations', TRUE, BYTES(2aaf7dace76e773de5dd1745de994a07fc0dd01aba01a305df2c5678b82e3274173277bb6c0421038aa34942d1596cb0), 0);

-- rows
INSERT INTO mcp_authorizations VALUES ('notes', 1, 'https://notes.example/mcp', 'https://notes.example', NULL, 1, 1795203600000, NULL, 'b3BhcXVl', 1, NULL, 1795200000000);
