//! `env.*`: environment variables for the programs that Gatehouse starts. Values go in, never out.

use super::page::{PageParams, by_name};
use crate::method::{Call, DONE, Done, Method, method, told};
use gatehouse_domain::{Problem, Scope};
use gatehouse_secrets::EnvVariable;
use schemars::JsonSchema;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};

/// `env.list`.
pub const LIST: Method = method!(
    "env.list",
    "The environment variables, without their values.",
    Some(Scope::Read),
    list(PageParams) -> ListResult
);

/// `env.set`.
pub const SET: Method = method!(
    "env.set",
    "Sets an environment variable.",
    Some(Scope::Write),
    set(SetParams) -> EnvVariable,
    errors: [VaultSealed]
);

/// `env.delete`.
pub const DELETE: Method = method!(
    "env.delete",
    "Deletes an environment variable.",
    Some(Scope::Write),
    delete(DeleteParams) -> Done,
    errors: [NotFound]
);

/// Result of `env.list`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListResult {
    /// The variables, by key.
    pub env_variables: Vec<EnvVariable>,
    /// Where the next page begins; absent on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// Params of `env.set`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetParams {
    /// Its name.
    key: String,
    /// Its value, at most 64 KiB.
    #[schemars(with = "String")]
    value: SecretString,
}

/// Params of `env.delete`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeleteParams {
    /// Its name.
    key: String,
}

async fn list(call: Call, params: PageParams) -> Result<ListResult, Problem> {
    let all = call
        .rooms
        .secrets
        .list_env_variables()
        .await
        .map_err(told)?;
    let (env_variables, next_cursor) = by_name(all, &params, |variable| &variable.key)?;
    Ok(ListResult {
        env_variables,
        next_cursor,
    })
}

async fn set(call: Call, SetParams { key, value }: SetParams) -> Result<EnvVariable, Problem> {
    // A key for a service that is configured now is entered for that service.
    let service = call.rooms.tools.service_of_variable(&key);
    call.rooms
        .secrets
        .set_env_variable_for(&call.actor(), &key, value, service.as_ref())
        .await
        .map_err(told)
}

async fn delete(call: Call, params: DeleteParams) -> Result<Done, Problem> {
    call.rooms
        .secrets
        .delete_env_variable(&call.actor(), &params.key)
        .await
        .map_err(told)?;
    Ok(DONE)
}
