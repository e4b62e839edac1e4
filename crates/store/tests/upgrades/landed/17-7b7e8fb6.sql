-- main on 2026-11-22, commit 7b7e8fb6

-- The answer of an agent that goes to a channel, stored before the first attempt to send it.
CREATE TABLE delivery_answers (
    delivery_id TEXT NOT NULL PRIMARY KEY REFERENCES webhook_deliveries (id) ON DELETE CASCADE,
    answer TEXT NOT NULL
);
-- When the channel accepted the text.
ALTER TABLE webhook_deliveries ADD COLUMN delivered_at BIGINT;

-- What models used, by UTC day and cause. `day` counts days from 1970-01-01. `webhook` and `api_key` are empty if
-- neither caused the use. `cost_nanos` is in billionths of the unit of the prices, NULL without prices.
CREATE TABLE usage_days (
    day BIGINT NOT NULL,
    agent TEXT NOT NULL,
    model TEXT NOT NULL,
    webhook TEXT NOT NULL DEFAULT '',
    api_key TEXT NOT NULL DEFAULT '',
    input_tokens BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL,
    cached_tokens BIGINT NOT NULL,
    reasoning_tokens BIGINT NOT NULL,
    cost_nanos BIGINT,
    turns BIGINT NOT NULL,
    PRIMARY KEY (day, agent, model, webhook, api_key)
);
-- One of `tokens` and `cost_nanos` is set. `warned_day` is the first day of the last period with a warning.
CREATE TABLE budgets (
    scope TEXT NOT NULL,
    period TEXT NOT NULL,
    tokens BIGINT,
    cost_nanos BIGINT,
    warned_day BIGINT NOT NULL DEFAULT -1,
    PRIMARY KEY (scope, period)
);
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES (23, 'answers_and_usage', TRUE, BYTES(2eb29e8836a3856edb75e1b508f5a18b312c5a6d3ebea78e15e001c2483c516465c36f8c131d6a3df561138c98c18578), 0);

-- rows
INSERT INTO delivery_answers VALUES ('del_019ab0000001', 'Done.');
INSERT INTO usage_days VALUES (20777, 'reviewer', 'local/m', 'wh_019ab0000001', '', 50, 7, 0, 0, NULL, 1);
INSERT INTO budgets VALUES ('agent:reviewer', 'day', 100000, NULL, -1);
