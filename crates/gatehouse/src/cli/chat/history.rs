//! Reads each message of a turn once.

use super::Chat;
use super::answer::{Answer, News};
use crate::cli::client::ClientError;
use crate::cli::output::field;
use serde_json::{Value, json};

/// The number of messages in the first request. More are read if the turn began earlier.
const FIRST: u32 = 10;
/// The number of messages per further request.
const PAGE: u32 = 100;

impl Chat {
    /// Reads the messages of the turn after the newest known one. Returns `None` after Ctrl-C.
    pub(super) async fn read(
        &mut self,
        session: &str,
        answer: &Answer,
    ) -> Option<Result<News, ClientError>> {
        let mut params = json!({ "session": session, "limit": FIRST });
        if let Some(newest) = answer.newest() {
            params = json!({ "session": session, "limit": PAGE, "after": newest });
        }
        let mut page = match self.rpc("chat.history", params).await? {
            Ok(page) => page,
            Err(error) => return Some(Err(error)),
        };
        let mut news = News {
            messages: answer.own(&mut page),
            // The running turn comes from the first page, which is the most recent one.
            running: page.get_mut("running").map(Value::take).unwrap_or_default(),
        };
        while !has_first(&news.messages)
            && let Some(before) = page.get("next_cursor").and_then(Value::as_str)
        {
            let params = json!({
                "session": session, "limit": PAGE, "after": answer.newest(), "before": before,
            });
            page = match self.rpc("chat.history", params).await? {
                Ok(page) => page,
                Err(error) => return Some(Err(error)),
            };
            let mut older = answer.own(&mut page);
            older.append(&mut news.messages);
            news.messages = older;
        }
        Some(Ok(news))
    }
}

/// Returns whether the messages include the message that began the turn.
fn has_first(messages: &[Value]) -> bool {
    messages
        .first()
        .is_some_and(|first| field(first, "role") == "user")
}
