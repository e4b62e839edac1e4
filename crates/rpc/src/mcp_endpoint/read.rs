//! Reads the messages of a request.

use super::progress::token_of;
use super::tools::{self, Tool};
use super::{VERSIONS, invalid, list, welcome};
use crate::dispatch::{Prepared, refuse};
use crate::envelope::{Id, Incoming, Item, NO_METHOD, Outcome, Request};
use crate::method_entry::{Boxed, Call, outcome_of};
use gatehouse_domain::{ErrorCode, Problem};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// A request. It gets a response.
pub(super) struct Message<'a> {
    pub(super) id: Id,
    pub(super) asks: Result<Asks<'a>, Problem>,
}

/// The operation of a request.
pub(super) enum Asks<'a> {
    Initialize { version: &'static str },
    Ping,
    ListTools,
    CallTool(ToolCall<'a>),
}

pub(super) struct ToolCall<'a> {
    pub(super) tool: &'static Tool,
    pub(super) arguments: Option<&'a RawValue>,
    /// The token for notifications of progress.
    pub(super) progress: Option<Value>,
}

/// Reads the requests of a text. Notifications are omitted, because they change nothing here.
pub(super) fn read_all(incoming: Incoming<'_>) -> Result<(Vec<Message<'_>>, bool), Problem> {
    match incoming {
        Incoming::Single(Err(malformed)) => Err(malformed.problem),
        single @ Incoming::Single(_) => {
            let (items, listed) = single.into_items();
            Ok((items.into_iter().filter_map(read).collect(), listed))
        }
        batch @ Incoming::Batch(_) => {
            let (items, listed) = batch.into_items();
            let messages = items.into_iter().filter_map(read).map(in_batch);
            Ok((messages.collect(), listed))
        }
    }
}

/// Refuses `initialize` in a batch, as the specification requires.
fn in_batch(message: Message<'_>) -> Message<'_> {
    match message.asks {
        Ok(Asks::Initialize { .. }) => Message {
            asks: Err(invalid("`initialize` cannot be part of a batch.")),
            ..message
        },
        _ => message,
    }
}

fn read(item: Item<'_>) -> Option<Message<'_>> {
    let Request { id, method, params } = match item {
        Ok(request) => request,
        Err(malformed) => {
            return Some(Message {
                id: malformed.id,
                asks: Err(malformed.problem),
            });
        }
    };
    let id = id?;
    let asks = match method.as_str() {
        _ if id.is_null() => Err(invalid("`id` must be a string or a number.")),
        "initialize" => requested_version(params).map(|version| Asks::Initialize { version }),
        "ping" => Ok(Asks::Ping),
        "tools/list" => Ok(Asks::ListTools),
        "tools/call" => requested_tool(params),
        _ => Err(Problem::new(ErrorCode::MethodNotFound, NO_METHOD)),
    };
    Some(Message { id, asks })
}

/// Returns the version of the client if it is supported, otherwise the newest one.
fn requested_version(params: Option<&RawValue>) -> Result<&'static str, Problem> {
    #[derive(Deserialize)]
    struct Params {
        #[serde(rename = "protocolVersion")]
        version: String,
    }
    let Params { version } = read_object(params, "protocolVersion")?;
    let [newest, ..] = VERSIONS;
    let known = VERSIONS.into_iter().find(|known| *known == version);
    Ok(known.unwrap_or(newest))
}

fn requested_tool(params: Option<&RawValue>) -> Result<Asks<'_>, Problem> {
    #[derive(Deserialize)]
    struct Params<'a> {
        name: String,
        #[serde(borrow, default)]
        arguments: Option<&'a RawValue>,
        #[serde(borrow, default, rename = "_meta")]
        meta: Option<&'a RawValue>,
    }
    let Params {
        name,
        arguments,
        meta,
    } = read_object(params, "name")?;
    let tool = tools::TOOLS.iter().find(|tool| tool.name == name);
    let tool = tool.ok_or_else(|| Problem::invalid_params("name", "unknown tool"))?;
    Ok(Asks::CallTool(ToolCall {
        tool,
        arguments,
        progress: token_of(meta),
    }))
}

/// Parses params. Unknown members are ignored, because the protocol adds members such as `_meta`.
pub(super) fn read_object<'a, T: Deserialize<'a>>(
    params: Option<&'a RawValue>,
    required: &str,
) -> Result<T, Problem> {
    let text = params.map_or("{}", RawValue::get);
    let parsed = text
        .starts_with('{')
        .then(|| serde_json::from_str(text).ok());
    let parsed = parsed.flatten();
    parsed.ok_or_else(|| Problem::invalid_params(required, "expected a string"))
}

/// Returns the bytes that reading the arguments may allocate.
pub(super) fn weight(messages: &[Message<'_>]) -> usize {
    let of = |message: &Message<'_>| match &message.asks {
        Ok(Asks::CallTool(call)) => call.tool.method.weight(call.arguments),
        _ => 0,
    };
    messages.iter().map(of).fold(0, usize::saturating_add)
}

impl Message<'_> {
    /// Reads the arguments of a tool.
    pub(super) fn prepare(self, call: Call) -> Prepared {
        let Self { id, asks } = self;
        let work: Boxed<Outcome> = match asks {
            Err(problem) => refuse(problem),
            Ok(Asks::CallTool(of)) => return of.tool.prepare(id, call, of.arguments),
            Ok(Asks::Initialize { version }) => Box::pin(async move { welcome(&call, version) }),
            Ok(Asks::Ping) => Box::pin(async { outcome_of(Ok(json!({}))) }),
            Ok(Asks::ListTools) => Box::pin(async move { list(&call) }),
        };
        Prepared::other(id, work)
    }
}
