-- The kind and origin of the service that a secret was entered for, as KeyBinding writes them. NULL: a
-- channel's secret belongs to the address that its account has, a variable to no address yet.
ALTER TABLE env_variables ADD COLUMN belongs_to TEXT;
ALTER TABLE channel_secrets ADD COLUMN belongs_to TEXT;
