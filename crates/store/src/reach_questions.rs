//! Table `reach_questions`: challenges that a node sends to the public URL. Other nodes can answer them.

use crate::sql::query;
use crate::{Conn, StoreError};
use gatehouse_domain::Timestamp;

impl Conn {
    /// Inserts a challenge and deletes expired ones.
    pub async fn insert_reach_question(
        &mut self,
        question: &str,
        answer: &str,
        (now, expires_at): (Timestamp, Timestamp),
    ) -> Result<(), StoreError> {
        let expired = query("DELETE FROM reach_questions WHERE expires_at <= $1");
        self.run(expired.bind(now.as_millis())).await?;
        let insert =
            query("INSERT INTO reach_questions (question, answer, expires_at) VALUES ($1, $2, $3)");
        let insert = insert.bind(question).bind(answer);
        self.run(insert.bind(expires_at.as_millis()))
            .await
            .map(drop)
    }

    /// Returns the answer to a challenge that has not expired.
    pub async fn find_reach_answer(
        &mut self,
        question: &str,
        now: Timestamp,
    ) -> Result<Option<String>, StoreError> {
        let query =
            query("SELECT answer FROM reach_questions WHERE question = $1 AND expires_at > $2");
        self.find(query.bind(question).bind(now.as_millis())).await
    }
}
