-- When each stored secret was last used: `kind` is `env`, `ssh`, `provider` or `channel`, `name` the key of its row. Collected in
-- memory and written at most once a minute for each secret. A webhook's secret has `webhooks.last_delivery_at`.
CREATE TABLE secret_uses (
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    used_at BIGINT NOT NULL,
    PRIMARY KEY (kind, name)
);
