-- expand
-- Duties that one node of several does, such as deleting old records. Used on shared databases only.
CREATE TABLE duties (
    name TEXT NOT NULL PRIMARY KEY,
    node TEXT NOT NULL,
    until BIGINT NOT NULL
);
