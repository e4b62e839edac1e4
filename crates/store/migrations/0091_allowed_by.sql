-- expand
-- The person on a channel who allowed the calls, as the key of the person's session; NULL for everyone else. What a
-- person allowed ends with the trust in the person.
ALTER TABLE allowed_calls ADD COLUMN allowed_by TEXT;
