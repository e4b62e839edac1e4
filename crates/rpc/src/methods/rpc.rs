//! `rpc.discover`: the OpenRPC document.

use crate::method::{Call, Method, NoParams, method};
use crate::openrpc;
use gatehouse_domain::Problem;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// `rpc.discover`.
pub const DISCOVER: Method = method!(
    "rpc.discover",
    "The OpenRPC document of this server.",
    None,
    discover(NoParams) -> Document
);

/// An `OpenRPC` document.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Document(#[schemars(with = "serde_json::Map<String, Value>")] Value);

async fn discover(call: Call, _: NoParams) -> Result<Document, Problem> {
    Ok(Document(openrpc::document(call.rooms.build.version)))
}
