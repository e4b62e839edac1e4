//! `models.*`: the available language models.

use super::page::{PageParams, by_name};
use crate::method_entry::{Call, Method, method};
use gatehouse_domain::{Problem, Scope};
use gatehouse_models::ModelInfo;
use schemars::JsonSchema;
use serde::Serialize;

pub const LIST: Method = method!(
    "models.list",
    "Lists the language models of all providers that have a key and respond.",
    Some(Scope::Read),
    list(PageParams) -> ListResult
);

/// Result of `models.list`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListResult {
    /// The models, by ID.
    pub models: Vec<ModelInfo>,
    /// The cursor of the next page; absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

async fn list(call: Call, params: PageParams) -> Result<ListResult, Problem> {
    let all = call.services.models.list().await;
    let (models, next_cursor) = by_name(all, &params, |model| &model.id)?;
    Ok(ListResult {
        models,
        next_cursor,
    })
}
