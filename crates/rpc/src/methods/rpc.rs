//! `rpc.discover`: the OpenRPC document.

use crate::method_entry::{Call, Method, NoParams, method};
use crate::openrpc;
use gatehouse_domain::Problem;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::future::{Ready, ready};

pub const DISCOVER: Method = method!(
    "rpc.discover",
    "Returns the OpenRPC document of this server.",
    None,
    discover(NoParams) -> Document
);

/// An `OpenRPC` document.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Document(#[schemars(with = "serde_json::Map<String, Value>")] Value);

#[expect(clippy::needless_pass_by_value, reason = "the shape of a handler")]
fn discover(call: Call, _: NoParams) -> Ready<Result<Document, Problem>> {
    let document = openrpc::document(call.methods, call.services.build.version);
    ready(Ok(Document(document)))
}
