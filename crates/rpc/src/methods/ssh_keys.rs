//! `ssh_keys.*`: stored SSH keys. Private keys are imported or generated here and never returned.

use super::env::check_program;
use super::page::{PageParams, by_name};
use crate::method_entry::{Audit, Call, DONE, Done, Method, method};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use gatehouse_domain::{Problem, Scope, input};
use gatehouse_secrets::{SecretsError, SshKey};
use gatehouse_services::to_problem;
use schemars::JsonSchema;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};

/// The maximum number of bytes to sign at once, the same as OpenSSH's agent.
const MAX_SIGNED_BYTES: usize = 256 * 1024;

pub const LIST: Method = method!(
    "ssh_keys.list",
    "Lists the SSH keys without their private keys.",
    Some(Scope::Read),
    list(PageParams) -> ListResult
);

pub const GENERATE: Method = method!(
    "ssh_keys.generate",
    "Creates an ed25519 key.",
    Some(Scope::Write),
    generate(NameParams) -> SshKey,
    errors: [Conflict, VaultSealed],
    audit: Audit::Transaction("ssh_key.generated")
);

pub const IMPORT: Method = method!(
    "ssh_keys.import",
    "Stores a private key in OpenSSH or PEM format. Its passphrase is used once.",
    Some(Scope::Write),
    import(ImportParams) -> SshKey,
    errors: [Conflict, VaultSealed, RateLimited],
    audit: Audit::Transaction("ssh_key.imported")
);

pub const DELETE: Method = method!(
    "ssh_keys.delete",
    "Deletes an SSH key.",
    Some(Scope::Write),
    delete(NameParams) -> Done,
    errors: [NotFound],
    audit: Audit::Transaction("ssh_key.deleted")
);

pub const SIGN: Method = method!(
    "ssh_keys.sign",
    "Signs data with a stored key, as an SSH agent does. Requires an API key or a confirmed \
     session. Each call is recorded in the audit log.",
    Some(Scope::Admin),
    sign(SignParams) -> SignResult,
    open_vault: true,
    errors: [Forbidden, NotFound, VaultSealed],
    audit: Audit::Transaction("ssh_key.used")
);

/// Params of `ssh_keys.sign`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SignParams {
    /// The key's name.
    name: String,
    /// The data to sign, in base64; at most 256 KiB.
    data: String,
    /// Flags of the agent protocol: 2 or 4 makes an RSA key sign with SHA-256 or SHA-512.
    #[serde(default, deserialize_with = "input::or_default")]
    flags: u32,
    /// The program that requests the signature, for the audit log; at most 256 characters.
    program: String,
}

/// Result of `ssh_keys.sign`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SignResult {
    /// The signature in SSH wire format, in base64.
    pub signature: String,
}

/// Result of `ssh_keys.list`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListResult {
    /// The keys, by name.
    pub ssh_keys: Vec<SshKey>,
    /// The cursor of the next page; absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// Params that name a key.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NameParams {
    /// The key's name.
    name: String,
}

/// Params of `ssh_keys.import`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImportParams {
    /// The key's name.
    name: String,
    /// The private key.
    #[schemars(with = "String")]
    private_key: SecretString,
    /// The passphrase that protects the private key.
    #[schemars(with = "Option<String>")]
    passphrase: Option<SecretString>,
}

async fn list(call: Call, params: PageParams) -> Result<ListResult, Problem> {
    let all = call
        .services
        .secrets
        .list_ssh_keys()
        .await
        .map_err(to_problem)?;
    let (ssh_keys, next_cursor) = by_name(all, &params, |key| &key.name)?;
    Ok(ListResult {
        ssh_keys,
        next_cursor,
    })
}

async fn generate(call: Call, params: NameParams) -> Result<SshKey, Problem> {
    call.services
        .secrets
        .generate_ssh_key(&call.actor(), &params.name)
        .await
        .map_err(to_problem)
}

async fn import(call: Call, params: ImportParams) -> Result<SshKey, Problem> {
    let ImportParams {
        name,
        private_key,
        passphrase,
    } = params;
    let (secrets, actor) = (&call.services.secrets, call.actor());
    let has_passphrase = passphrase.is_some();
    let import = async {
        let imported = secrets.import_ssh_key(&actor, &name, private_key, passphrase);
        imported.await.map_err(|error| {
            let wrong = matches!(error, SecretsError::WrongPassphrase);
            (wrong, to_problem(error))
        })
    };
    if !has_passphrase {
        return import.await.map_err(|(_, problem)| problem);
    }
    call.services.auth.guess(&call.context, import).await
}

async fn sign(call: Call, params: SignParams) -> Result<SignResult, Problem> {
    let SignParams {
        name,
        data,
        flags,
        program,
    } = params;
    check_program(&program)?;
    let data = STANDARD
        .decode(&data)
        .map_err(|_| Problem::invalid_params("data", "not base64"))?;
    if data.len() > MAX_SIGNED_BYTES {
        return Err(Problem::invalid_params("data", "at most 256 KiB"));
    }
    call.require_person().await?;
    let (secrets, actor) = (&call.services.secrets, call.actor());
    let signature = secrets.sign_with_ssh_key(&actor, &name, data, flags, &program);
    Ok(SignResult {
        signature: STANDARD.encode(signature.await.map_err(to_problem)?),
    })
}

async fn delete(call: Call, params: NameParams) -> Result<Done, Problem> {
    call.services
        .secrets
        .delete_ssh_key(&call.actor(), &params.name)
        .await
        .map_err(to_problem)?;
    Ok(DONE)
}
