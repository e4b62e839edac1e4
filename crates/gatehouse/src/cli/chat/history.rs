//! Reads the messages of a turn, each once.

use super::Chat;
use super::answer::{Answer, News};
use crate::cli::client::ClientError;
use crate::cli::output::field;
use serde_json::{Value, json};

/// Number of messages read first. More are read if the turn began before them.
const FIRST: u32 = 10;
/// Number of messages per request after that.
const PAGE: u32 = 100;

impl Chat {
    /// Reads the messages of the turn after the newest known one. `None` after Ctrl-C.
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
            // Only the first page is as new as this.
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

/// Whether the messages start with the one that began the turn.
fn has_first(messages: &[Value]) -> bool {
    messages
        .first()
        .is_some_and(|first| field(first, "role") == "user")
}
