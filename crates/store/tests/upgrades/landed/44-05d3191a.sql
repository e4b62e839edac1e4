-- main on 2026-11-28, commit 05d3191a

-- expand
-- How many of the input and output tokens are estimates, because the provider did not report them.
ALTER TABLE usage_days ADD COLUMN estimated_tokens BIGINT NOT NULL DEFAULT 0;
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (88, 'estimated_tokens', TRUE, BYTES(dec336e3defa73cf490f012607833b9b5c49aea371652f609ed12d11921d4ea31a88254ab0c6935a1f08dc3580088e88), 0);
UPDATE _sqlx_migrations SET oldest_writer = 0 WHERE version = 88;

-- rows
UPDATE usage_days SET estimated_tokens = 7;
