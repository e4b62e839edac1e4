//! Writes responses, refusals and notifications.

use super::Id;
use gatehouse_domain::Problem;
use serde::Serialize;
use serde_json::{Map, Value, value::RawValue};

/// The outcome of a call: its result as JSON text, or a problem.
pub type Outcome = Result<Box<RawValue>, Problem>;

#[derive(Serialize)]
struct Refusal<'a> {
    jsonrpc: &'static str,
    id: &'a RawValue,
    error: ErrorObject<'a>,
}

#[derive(Serialize)]
struct ErrorObject<'a> {
    code: i32,
    message: &'a str,
    data: Map<String, Value>,
}

/// Builds the response to one call.
pub fn answer(id: &Id, outcome: &Outcome) -> String {
    match outcome {
        Ok(result) => answer_parts(id, result).concat(),
        Err(problem) => refusal(id, problem),
    }
}

/// Builds a success response in parts, because a result may be large.
pub(crate) fn answer_parts<'a>(id: &'a Id, result: &'a RawValue) -> [&'a str; 5] {
    let id = id.0.get();
    let start = r#"{"jsonrpc":"2.0","id":"#;
    [start, id, r#","result":"#, result.get(), "}"]
}

/// Builds the response to a call that was refused or failed.
pub fn refusal(id: &Id, problem: &Problem) -> String {
    let mut data = Map::new();
    data.insert("code".to_owned(), problem.code.name().into());
    data.extend(problem.details.clone());
    let error = ErrorObject {
        code: problem.code.rpc_code(),
        message: &problem.message,
        data,
    };
    text_of(&Refusal {
        jsonrpc: "2.0",
        id: &id.0,
        error,
    })
}

/// Builds the response to a batch from its members' responses. Returns `None` when all were notifications.
pub fn batch_answer(answers: &[String]) -> Option<String> {
    (!answers.is_empty()).then(|| format!("[{}]", answers.join(",")))
}

/// Builds an event: a call from the server that expects no response.
pub fn notification(method: &str, params: &impl Serialize) -> String {
    #[derive(Serialize)]
    struct Notification<'a, P> {
        jsonrpc: &'static str,
        method: &'a str,
        params: &'a P,
    }
    text_of(&Notification {
        jsonrpc: "2.0",
        method,
        params,
    })
}

/// Serialization cannot fail, because all keys are strings and no serializer fails.
fn text_of(message: &impl Serialize) -> String {
    serde_json::to_string(message).unwrap_or_else(|_| {
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"Internal error."}}"#
            .to_owned()
    })
}
