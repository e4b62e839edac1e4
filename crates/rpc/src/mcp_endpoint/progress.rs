//! Progress of a call
//! (<https://modelcontextprotocol.io/specification/2025-06-18/basic/utilities/progress>).

use crate::envelope::{Id, refusal};
use gatehouse_domain::Problem;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// A call whose caller requests progress.
#[derive(Debug)]
pub struct Progress {
    id: Id,
    token: Value,
}

impl Progress {
    /// Creates the progress of a call. `token` must be a string or an integer.
    pub const fn new(id: Id, token: Value) -> Self {
        Self { id, token }
    }

    /// Returns the text of a notification that the call is still running. `seconds` since its beginning must increase.
    pub fn notification(&self, seconds: u64) -> String {
        let notification = json!({
            "jsonrpc": "2.0",
            "method": "notifications/progress",
            "params": {
                "progressToken": self.token,
                "progress": seconds,
                "message": format!("Running for {seconds} seconds."),
            },
        });
        notification.to_string()
    }

    /// Returns the text of an error that replaces the call's response.
    pub fn refusal(&self, problem: &Problem) -> String {
        refusal(&self.id, problem)
    }
}

/// Returns the token in `_meta`. A token of a different type is ignored.
pub(super) fn token_of(meta: Option<&RawValue>) -> Option<Value> {
    #[derive(Deserialize)]
    struct Meta {
        #[serde(rename = "progressToken")]
        token: Value,
    }
    let Meta { token } = serde_json::from_str(meta?.get()).ok()?;
    let is_token = token.is_string() || token.is_i64() || token.is_u64();
    is_token.then_some(token)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::value::to_raw_value;

    #[test]
    fn a_token_is_a_string_or_an_integer() {
        let token = |meta: Value| token_of(Some(&to_raw_value(&meta).unwrap()));
        for good in [json!("a"), json!(7), json!(-1)] {
            assert_eq!(token(json!({ "progressToken": good })), Some(good));
        }
        for bad in [json!(1.5), json!(null), json!([]), json!(true)] {
            assert_eq!(token(json!({ "progressToken": bad })), None);
        }
        assert_eq!(token(json!({})), None);
        assert_eq!(token(json!("meta")), None);
        assert_eq!(token_of(None), None);
    }

    #[test]
    fn a_notification_is_one_line_with_the_token() {
        let progress = Progress::new(Id::null(), json!("a\nb"));
        let text = progress.notification(10);
        assert!(!text.contains('\n'), "{text}");
        let read: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(read["method"], "notifications/progress");
        assert_eq!(read["params"]["progressToken"], "a\nb");
        assert_eq!(read["params"]["progress"], 10);
        assert!(read.get("id").is_none());
    }
}
