-- main on 2026-11-25, commit 58045c14

-- When each stored secret was last used: `kind` is `env`, `ssh`, `provider` or `channel`, `name` the key of its row. Collected in
-- memory and written at most once a minute for each secret. A webhook's secret has `webhooks.last_delivery_at`.
CREATE TABLE secret_uses (
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    used_at BIGINT NOT NULL,
    PRIMARY KEY (kind, name)
);
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (51, 'secret_uses', TRUE, BYTES(3a1f909a5d7e19d19f0a73d9edf044f171ee43d083ea1687832825d58c867a7c1c248bf5ed2cd8cbc5d9c8cdf1133b13), 0);

-- How long the deliveries of a counter took, from the start of their last attempt to its end. `took_ms` is the sum. The other
-- columns are a histogram: `took_00` counts those under 4 ms, `took_01` those under 8 ms and so on by powers of two, and
-- `took_18` those of 524,288 ms and more. Deliveries that never started are in none of them.
ALTER TABLE delivery_counts ADD COLUMN took_ms BIGINT NOT NULL DEFAULT 0;
ALTER TABLE delivery_counts ADD COLUMN took_00 BIGINT NOT NULL DEFAULT 0;
ALTER TABLE delivery_counts ADD COLUMN took_01 BIGINT NOT NULL DEFAULT 0;
ALTER TABLE delivery_counts ADD COLUMN took_02 BIGINT NOT NULL DEFAULT 0;
ALTER TABLE delivery_counts ADD COLUMN took_03 BIGINT NOT NULL DEFAULT 0;
ALTER TABLE delivery_counts ADD COLUMN took_04 BIGINT NOT NULL DEFAULT 0;
ALTER TABLE delivery_counts ADD COLUMN took_05 BIGINT NOT NULL DEFAULT 0;
ALTER TABLE delivery_counts ADD COLUMN took_06 BIGINT NOT NULL DEFAULT 0;
ALTER TABLE delivery_counts ADD COLUMN took_07 BIGINT NOT NULL DEFAULT 0;
ALTER TABLE delivery_counts ADD COLUMN took_08 BIGINT NOT NULL DEFAULT 0;
ALTER TABLE delivery_counts ADD COLUMN took_09 BIGINT NOT NULL DEFAULT 0;
ALTER TABLE delivery_counts ADD COLUMN took_10 BIGINT NOT NULL DEFAULT 0;
ALTER TABLE delivery_counts ADD COLUMN took_11 BIGINT NOT NULL DEFAULT 0;
ALTER TABLE delivery_counts ADD COLUMN took_12 BIGINT NOT NULL DEFAULT 0;
ALTER TABLE delivery_counts ADD COLUMN took_13 BIGINT NOT NULL DEFAULT 0;
ALTER TABLE delivery_counts ADD COLUMN took_14 BIGINT NOT NULL DEFAULT 0;
ALTER TABLE delivery_counts ADD COLUMN took_15 BIGINT NOT NULL DEFAULT 0;
ALTER TABLE delivery_counts ADD COLUMN took_16 BIGINT NOT NULL DEFAULT 0;
ALTER TABLE delivery_counts ADD COLUMN took_17 BIGINT NOT NULL DEFAULT 0;
ALTER TABLE delivery_counts ADD COLUMN took_18 BIGINT NOT NULL DEFAULT 0;
INSERT INTO delivery_counts (hour, webhook_id, status, count, took_ms,
        took_00, took_01, took_02, took_03, took_04, took_05, took_06, took_07, took_08, took_09,
        took_10, took_11, took_12, took_13, took_14, took_15, took_16, took_17, took_18)
    SELECT received_at / 3600000, webhook_id, status, 0, SUM(CASE WHEN finished_at > started_at THEN finished_at - started_at ELSE 0 END),
        SUM(CASE WHEN (finished_at - started_at) < 4 THEN 1 ELSE 0 END),
        SUM(CASE WHEN (finished_at - started_at) >= 4 AND (finished_at - started_at) < 8 THEN 1 ELSE 0 END),
        SUM(CASE WHEN (finished_at - started_at) >= 8 AND (finished_at - started_at) < 16 THEN 1 ELSE 0 END),
        SUM(CASE WHEN (finished_at - started_at) >= 16 AND (finished_at - started_at) < 32 THEN 1 ELSE 0 END),
        SUM(CASE WHEN (finished_at - started_at) >= 32 AND (finished_at - started_at) < 64 THEN 1 ELSE 0 END),
        SUM(CASE WHEN (finished_at - started_at) >= 64 AND (finished_at - started_at) < 128 THEN 1 ELSE 0 END),
        SUM(CASE WHEN (finished_at - started_at) >= 128 AND (finished_at - started_at) < 256 THEN 1 ELSE 0 END),
        SUM(CASE WHEN (finished_at - started_at) >= 256 AND (finished_at - started_at) < 512 THEN 1 ELSE 0 END),
        SUM(CASE WHEN (finished_at - started_at) >= 512 AND (finished_at - started_at) < 1024 THEN 1 ELSE 0 END),
        SUM(CASE WHEN (finished_at - started_at) >= 1024 AND (finished_at - started_at) < 2048 THEN 1 ELSE 0 END),
        SUM(CASE WHEN (finished_at - started_at) >= 2048 AND (finished_at - started_at) < 4096 THEN 1 ELSE 0 END),
        SUM(CASE WHEN (finished_at - started_at) >= 4096 AND (finished_at - started_at) < 8192 THEN 1 ELSE 0 END),
        SUM(CASE WHEN (finished_at - started_at) >= 8192 AND (finished_at - started_at) < 16384 THEN 1 ELSE 0 END),
        SUM(CASE WHEN (finished_at - started_at) >= 16384 AND (finished_at - started_at) < 32768 THEN 1 ELSE 0 END),
        SUM(CASE WHEN (finished_at - started_at) >= 32768 AND (finished_at - started_at) < 65536 THEN 1 ELSE 0 END),
        SUM(CASE WHEN (finished_at - started_at) >= 65536 AND (finished_at - started_at) < 131072 THEN 1 ELSE 0 END),
        SUM(CASE WHEN (finished_at - started_at) >= 131072 AND (finished_at - started_at) < 262144 THEN 1 ELSE 0 END),
        SUM(CASE WHEN (finished_at - started_at) >= 262144 AND (finished_at - started_at) < 524288 THEN 1 ELSE 0 END),
        SUM(CASE WHEN (finished_at - started_at) >= 524288 THEN 1 ELSE 0 END)
    FROM webhook_deliveries
    WHERE status NOT IN ('received', 'queued', 'processing') AND started_at IS NOT NULL AND finished_at IS NOT NULL
    GROUP BY received_at / 3600000, webhook_id, status
ON CONFLICT (hour, webhook_id, status) DO UPDATE SET took_ms = excluded.took_ms,
    took_00 = excluded.took_00, took_01 = excluded.took_01, took_02 = excluded.took_02, took_03 = excluded.took_03,
    took_04 = excluded.took_04, took_05 = excluded.took_05, took_06 = excluded.took_06, took_07 = excluded.took_07,
    took_08 = excluded.took_08, took_09 = excluded.took_09, took_10 = excluded.took_10, took_11 = excluded.took_11,
    took_12 = excluded.took_12, took_13 = excluded.took_13, took_14 = excluded.took_14, took_15 = excluded.took_15,
    took_16 = excluded.took_16, took_17 = excluded.took_17, took_18 = excluded.took_18;
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (53, 'delivery_durations', TRUE, BYTES(b295bc06fd41c35c47fe8647bd2f6a9629f8ef3022ea5a94908585a910e6b2a722cae843269a9cac71f2460800a36646), 0);

-- rows
INSERT INTO secret_uses VALUES ('env', 'TOKEN', 1795200000008);
