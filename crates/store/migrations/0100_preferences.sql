-- expand
-- What users save in the web UI. `kind` is saved_filters or prompts. `value` is the query of a URL, or the text of a
-- prompt.
CREATE TABLE preferences (
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (kind, name)
);
