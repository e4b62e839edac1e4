//! `ssh_keys.*`: SSH keys that Gatehouse keeps. Private keys go in or are made here, and never out.

use super::page::{PageParams, by_name};
use crate::method::{Audit, Call, DONE, Done, Method, method, told};
use gatehouse_domain::{Problem, Scope};
use gatehouse_secrets::SshKey;
use schemars::JsonSchema;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};

/// `ssh_keys.list`.
pub const LIST: Method = method!(
    "ssh_keys.list",
    "The SSH keys, without their private halves.",
    Some(Scope::Read),
    list(PageParams) -> ListResult
);

/// `ssh_keys.generate`.
pub const GENERATE: Method = method!(
    "ssh_keys.generate",
    "Makes an ed25519 key.",
    Some(Scope::Write),
    generate(NameParams) -> SshKey,
    errors: [Conflict, VaultSealed],
    audit: Audit::Room("ssh_key.generated")
);

/// `ssh_keys.import`.
pub const IMPORT: Method = method!(
    "ssh_keys.import",
    "Stores a private key in OpenSSH or PEM form; its passphrase is used once.",
    Some(Scope::Write),
    import(ImportParams) -> SshKey,
    errors: [Conflict, VaultSealed],
    audit: Audit::Room("ssh_key.imported")
);

/// `ssh_keys.delete`.
pub const DELETE: Method = method!(
    "ssh_keys.delete",
    "Deletes an SSH key.",
    Some(Scope::Write),
    delete(NameParams) -> Done,
    errors: [NotFound],
    audit: Audit::Room("ssh_key.deleted")
);

/// Result of `ssh_keys.list`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListResult {
    /// The keys, by name.
    pub ssh_keys: Vec<SshKey>,
    /// Where the next page begins; absent on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// Params that name a key.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NameParams {
    /// Its name.
    name: String,
}

/// Params of `ssh_keys.import`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImportParams {
    /// Its name.
    name: String,
    /// The private key.
    #[schemars(with = "String")]
    private_key: SecretString,
    /// What protects it.
    #[schemars(with = "Option<String>")]
    passphrase: Option<SecretString>,
}

async fn list(call: Call, params: PageParams) -> Result<ListResult, Problem> {
    let all = call.rooms.secrets.list_ssh_keys().await.map_err(told)?;
    let (ssh_keys, next_cursor) = by_name(all, &params, |key| &key.name)?;
    Ok(ListResult {
        ssh_keys,
        next_cursor,
    })
}

async fn generate(call: Call, params: NameParams) -> Result<SshKey, Problem> {
    call.rooms
        .secrets
        .generate_ssh_key(&call.actor(), &params.name)
        .await
        .map_err(told)
}

async fn import(call: Call, params: ImportParams) -> Result<SshKey, Problem> {
    let ImportParams {
        name,
        private_key,
        passphrase,
    } = params;
    let secrets = &call.rooms.secrets;
    secrets
        .import_ssh_key(&call.actor(), &name, private_key, passphrase)
        .await
        .map_err(told)
}

async fn delete(call: Call, params: NameParams) -> Result<Done, Problem> {
    call.rooms
        .secrets
        .delete_ssh_key(&call.actor(), &params.name)
        .await
        .map_err(told)?;
    Ok(DONE)
}
