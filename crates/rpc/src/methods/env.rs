//! `env.*`: environment variables for the programs that Gatehouse starts. Values are accepted but only
//! returned for `gatehouse env exec`.

use super::page::{PageParams, by_name};
use crate::method_entry::{Audit, Call, DONE, Done, Method, method};
use gatehouse_domain::{Problem, Scope};
use gatehouse_secrets::EnvVariable;
use gatehouse_services::to_problem;
use schemars::JsonSchema;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};

/// The maximum number of names in one call.
const MAX_NAMES: usize = 1_000;
/// The maximum length of a program name.
const MAX_PROGRAM_CHARACTERS: usize = 256;

pub const LIST: Method = method!(
    "env.list",
    "Lists the environment variables without their values.",
    Some(Scope::Read),
    list(PageParams) -> ListResult
);

pub const SET: Method = method!(
    "env.set",
    "Sets an environment variable.",
    Some(Scope::Write),
    set(SetParams) -> EnvVariable,
    errors: [VaultSealed],
    audit: Audit::Transaction("env.set")
);

pub const DELETE: Method = method!(
    "env.delete",
    "Deletes an environment variable.",
    Some(Scope::Write),
    delete(DeleteParams) -> Done,
    errors: [NotFound],
    audit: Audit::Transaction("env.deleted")
);

pub const REVEAL: Method = method!(
    "env.reveal",
    "Returns the values of environment variables, for a program that the caller starts. Requires \
     an API key or a confirmed session. Each call is recorded in the audit log.",
    Some(Scope::Admin),
    reveal(RevealParams) -> RevealResult,
    open_vault: true,
    errors: [Forbidden, NotFound, VaultSealed],
    audit: Audit::Transaction("env.revealed")
);

/// Params of `env.reveal`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RevealParams {
    /// The names to return, at most 1,000; all by default.
    only: Option<Vec<String>>,
    /// The program that receives the values, for the audit log; at most 256 characters.
    program: String,
}

/// A variable with its value.
#[derive(Serialize, JsonSchema)]
pub struct RevealedVariable {
    pub key: String,
    pub value: String,
}

/// Result of `env.reveal`.
#[derive(Serialize, JsonSchema)]
pub struct RevealResult {
    /// The variables, by key.
    pub variables: Vec<RevealedVariable>,
    /// Names that are withheld because they control which code a program runs.
    pub withheld: Vec<String>,
    /// Names whose value is damaged.
    pub unreadable: Vec<String>,
}

/// Result of `env.list`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListResult {
    /// The variables, by key.
    pub env_variables: Vec<EnvVariable>,
    /// The cursor of the next page; absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// Params of `env.set`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetParams {
    key: String,
    /// The value, at most 64 KiB.
    #[schemars(with = "String")]
    value: SecretString,
}

/// Params of `env.delete`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeleteParams {
    key: String,
}

async fn list(call: Call, params: PageParams) -> Result<ListResult, Problem> {
    let all = call
        .services
        .secrets
        .list_env_variables()
        .await
        .map_err(to_problem)?;
    let (env_variables, next_cursor) = by_name(all, &params, |variable| &variable.key)?;
    Ok(ListResult {
        env_variables,
        next_cursor,
    })
}

async fn set(call: Call, SetParams { key, value }: SetParams) -> Result<EnvVariable, Problem> {
    // If the variable is a configured service's key, bind it to that service.
    let service = call.services.tools.service_of_variable(&key);
    call.services
        .secrets
        .set_env_variable(&call.actor(), &key, value, service.as_ref())
        .await
        .map_err(to_problem)
}

async fn reveal(call: Call, params: RevealParams) -> Result<RevealResult, Problem> {
    let RevealParams { only, program } = params;
    if only.as_ref().is_some_and(|only| only.len() > MAX_NAMES) {
        return Err(Problem::invalid_params("only", "at most 1,000 names"));
    }
    check_program(&program)?;
    call.require_person().await?;
    let (secrets, actor) = (&call.services.secrets, call.actor());
    let revealed = secrets.reveal_env_variables(&actor, only.as_deref(), &program);
    let revealed = revealed.await.map_err(to_problem)?;
    let variables = revealed.variables.into_iter();
    Ok(RevealResult {
        variables: variables
            .map(|(key, value)| RevealedVariable {
                key,
                value: value.expose_secret().to_owned(),
            })
            .collect(),
        withheld: revealed.withheld,
        unreadable: revealed.unreadable,
    })
}

/// Checks the length of a program name for the audit log.
pub(super) fn check_program(program: &str) -> Result<(), Problem> {
    if (1..=MAX_PROGRAM_CHARACTERS).contains(&program.chars().count()) {
        Ok(())
    } else {
        Err(Problem::invalid_params("program", "1 to 256 characters"))
    }
}

async fn delete(call: Call, params: DeleteParams) -> Result<Done, Problem> {
    call.services
        .secrets
        .delete_env_variable(&call.actor(), &params.key)
        .await
        .map_err(to_problem)?;
    Ok(DONE)
}
