-- Who made a credential, such as 'api_key key_…' or 'session as_…'; null for those made before this
-- column. What a key or device made ends with it.
ALTER TABLE auth_api_keys ADD COLUMN made_by TEXT;
-- Patterns of methods and paths that the credential may call, separated by spaces; null for all.
ALTER TABLE auth_api_keys ADD COLUMN only_patterns TEXT;
ALTER TABLE auth_devices ADD COLUMN made_by TEXT;
ALTER TABLE auth_devices ADD COLUMN only_patterns TEXT;
ALTER TABLE auth_devices ADD COLUMN expires_at BIGINT;
ALTER TABLE auth_devices ADD COLUMN allowed_cidrs TEXT;
