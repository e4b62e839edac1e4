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
