//! The model of these tests, and the answers that they use.

pub use gatehouse_doubles::openai::FakeModel;
use gatehouse_doubles::openai::{Part, Reaction, call, has_result, say};
use serde_json::Value;

/// Starts a model that says "done".
pub async fn start() -> FakeModel {
    FakeModel::answering(|_| say("done")).await
}

/// Calls this tool with these arguments, then says "done".
pub fn call_once(
    tool: &'static str,
    arguments: Value,
) -> impl Fn(&Value) -> Reaction + Send + Sync + 'static {
    move |request| {
        if has_result(request) {
            say("done")
        } else {
            call(tool, &arguments)
        }
    }
}

/// Sends this delta and this finish reason.
pub fn finish(delta: Value, reason: &str) -> Reaction {
    Reaction::Parts(vec![Part::Delta(delta)], reason.to_owned())
}
