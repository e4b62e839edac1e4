-- main on 2026-11-26, commit 33888c82

-- What the owner was told about a webhook, and what has happened since. `kind` is `failed` or `refused`.
CREATE TABLE webhook_notices (
    webhook_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    -- Failures since the last message, or refusals in a row.
    count BIGINT NOT NULL,
    -- The delivery that failed or was refused last.
    delivery_id TEXT NOT NULL,
    told_at BIGINT,
    PRIMARY KEY (webhook_id, kind)
);
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (71, 'webhook_notices', TRUE, BYTES(75d64adb2905feb338b4835cdcb2d9810d3c209ea5d35c369d1cbce4d20f6a6db99d56d570a8091273db768076511ae9), 0);

-- Questions that a node asks at the public URL. Any node answers them. Used on shared databases only.
CREATE TABLE reach_questions (
    question TEXT NOT NULL PRIMARY KEY,
    answer TEXT NOT NULL,
    expires_at BIGINT NOT NULL
);
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (72, 'reach_questions', TRUE, BYTES(0e26581a55246a0397e8cd787b135982c575b04b2f6a6bc05d0137ae85aaa7429f8dcbd363d431f3129e149081e281da), 0);

-- rows
INSERT INTO webhook_notices VALUES ('wh_019ab0000001', 'failed', 2, 'del_019ab0000002', 1795200000000);
INSERT INTO reach_questions VALUES ('question', 'answer', 1795200060000);
