-- main on 2026-11-22, commit d92a1aeb

-- The kind and origin of the service that a secret was entered for, as KeyBinding writes them. NULL: a
-- channel's secret belongs to the address that its account has, a variable to no address yet.
ALTER TABLE env_variables ADD COLUMN belongs_to TEXT;
ALTER TABLE channel_secrets ADD COLUMN belongs_to TEXT;
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (14, 'key_bindings', TRUE, BYTES(457a8a13c9907e40cde2788d571aa04970216774c57c0cea9f21ab8a89b10e16f614344863fb69ec0d44b711cfca85b0), 0);

-- rows
INSERT INTO env_variables VALUES ('BOUND', 'b3BhcXVl', 1, 1795200000000, 1795200000000, 'openai https://api.example');
