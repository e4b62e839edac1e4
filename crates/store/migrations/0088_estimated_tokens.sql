-- expand
-- How many of the input and output tokens are estimates, because the provider did not report them.
ALTER TABLE usage_days ADD COLUMN estimated_tokens BIGINT NOT NULL DEFAULT 0;
