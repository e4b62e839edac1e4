-- Questions that a node asks at the public URL. Any node answers them. Used on shared databases only.
CREATE TABLE reach_questions (
    question TEXT NOT NULL PRIMARY KEY,
    answer TEXT NOT NULL,
    expires_at BIGINT NOT NULL
);
