//! `providers.*`: the model providers and their keys. The same methods manage the keys of voice providers.
//! Keys are accepted but never returned.

mod voice;

use super::page::{PageParams, by_name};
use crate::method_entry::{Audit, Call, DONE, Done, Method, method};
use gatehouse_domain::{Problem, Scope, Timestamp};
use gatehouse_models::{ProviderInfo, ProviderTest};
use gatehouse_secrets::{SecretKind, storable_key};
use gatehouse_services::{Services, to_problem};
use schemars::JsonSchema;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use voice::{is_of_voice, of_voice, voice_keys};

pub const LIST: Method = method!(
    "providers.list",
    "Lists the model providers and whether each has a key, and the speech providers whose key is \
     stored here.",
    Some(Scope::Read),
    list(PageParams) -> ListResult
);

pub const SET_KEY: Method = method!(
    "providers.set_key",
    "Stores the API key of a model provider or a speech provider.",
    Some(Scope::Write),
    set_key(SetKeyParams) -> Provider,
    open_vault: true,
    audit: Audit::Transaction("provider_key.set")
);

pub const REMOVE_KEY: Method = method!(
    "providers.remove_key",
    "Deletes a provider's API key.",
    Some(Scope::Write),
    remove_key(IdParams) -> Done,
    open_vault: true,
    errors: [NotFound],
    audit: Audit::Transaction("provider_key.removed")
);

pub const TEST: Method = method!(
    "providers.test",
    "Requests the models of a provider with its key, or with another one that is not stored.",
    Some(Scope::Write),
    test(TestParams) -> ProviderTest,
    errors: [NotFound, NotConfigured, ProviderFailed, Timeout, VaultSealed],
    audit: Audit::Unrecorded("asks a provider")
);

/// Result of `providers.list`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListResult {
    /// The providers, by ID.
    pub providers: Vec<Provider>,
    /// The cursor of the next page; absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A model provider or a voice provider.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Provider {
    /// The provider's ID.
    pub id: String,
    /// The API of a model provider, `openai` or `anthropic`; the type of a voice provider, `tts` or `stt`.
    pub kind: &'static str,
    /// The base URL.
    pub base_url: String,
    /// Whether the provider is usable: it has a key, or needs none because it is in a private network.
    pub configured: bool,
    /// Whether the key comes from the environment, or the provider was found on this machine.
    pub detected: bool,
    /// The last characters of a key that is stored here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_hint: Option<String>,
    /// The base URL that a stored key was entered for, if the provider's kind or origin changed since. The key is
    /// not sent until it is entered again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_for: Option<String>,
    /// Whether a model provider rejected its key in the last request from this node.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub key_rejected: bool,
    /// When the stored key was last sent to the provider. Only in lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<Timestamp>,
}

/// Params of `providers.set_key`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetKeyParams {
    /// The provider's ID.
    id: String,
    /// The API key.
    #[schemars(with = "String")]
    key: SecretString,
}

/// Params that name a provider.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IdParams {
    /// The provider's ID.
    id: String,
}

/// Params of `providers.test`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TestParams {
    /// The provider's ID.
    id: String,
    /// A key to test instead of the provider's own. It is sent to the provider, but not stored.
    #[schemars(with = "Option<String>")]
    key: Option<SecretString>,
}

async fn list(call: Call, params: PageParams) -> Result<ListResult, Problem> {
    let mut all = providers(&call.services).await?;
    all.extend(voice_keys(&call.services, &all).await?);
    let uses = call.services.secrets.last_uses(SecretKind::Provider);
    let uses = uses.await.map_err(to_problem)?;
    for provider in all.iter_mut().filter(|it| it.key_hint.is_some()) {
        provider.last_used_at = uses.get(&provider.id).copied();
    }
    all.sort_by(|a, b| a.id.cmp(&b.id));
    let (providers, next_cursor) = by_name(all, &params, |provider: &Provider| &provider.id)?;
    Ok(ListResult {
        providers,
        next_cursor,
    })
}

async fn set_key(call: Call, SetKeyParams { id, key }: SetKeyParams) -> Result<Provider, Problem> {
    let provider = match find(&call.services, &id).await? {
        Some(provider) => provider,
        None => of_voice(&call.services, &id)?,
    };
    let secrets = &call.services.secrets;
    secrets
        .set_provider_key(
            &call.actor(),
            &provider.id,
            key,
            (provider.kind, &provider.base_url),
        )
        .await
        .map_err(to_problem)?;
    let found = find(&call.services, &provider.id).await?;
    if let Some(found) = found {
        return Ok(found);
    }
    let mut kept = voice_keys(&call.services, &[]).await?.into_iter();
    Ok(kept.find(|kept| kept.id == provider.id).unwrap_or(provider))
}

async fn remove_key(call: Call, IdParams { id }: IdParams) -> Result<Done, Problem> {
    let is_models = find(&call.services, &id).await?.is_some();
    let id = match of_voice(&call.services, &id) {
        Ok(provider) if !is_models => provider.id,
        _ => id,
    };
    call.services
        .secrets
        .remove_provider_key(&call.actor(), &id)
        .await
        .map_err(to_problem)?;
    Ok(DONE)
}

async fn test(call: Call, TestParams { id, key }: TestParams) -> Result<ProviderTest, Problem> {
    let key = key.as_ref().map(storable_key).transpose();
    let key = key.map_err(to_problem)?;
    let all = call.services.models.providers().await.map_err(to_problem)?;
    if !all.iter().any(|provider| provider.id == id) {
        if is_of_voice(&id) {
            let reason = "this tests model providers only; use `voice.test` for speech providers";
            return Err(Problem::invalid_params("id", reason));
        }
        return Err(Problem::not_found("model provider"));
    }
    let tested = call.services.models.test(&id, key.as_ref());
    tested.await.map_err(to_problem)
}

/// Returns the model providers, by ID.
async fn providers(services: &Services) -> Result<Vec<Provider>, Problem> {
    let all = services.models.providers().await.map_err(to_problem)?;
    Ok(all.into_iter().map(Provider::from).collect())
}

async fn find(services: &Services, id: &str) -> Result<Option<Provider>, Problem> {
    let mut all = providers(services).await?.into_iter();
    Ok(all.find(|provider| provider.id == id))
}

impl From<ProviderInfo> for Provider {
    fn from(info: ProviderInfo) -> Self {
        Self {
            id: info.id,
            kind: info.kind.as_str(),
            base_url: info.base_url,
            configured: info.configured,
            detected: info.detected,
            key_hint: info.key_hint,
            key_for: info.key_for,
            key_rejected: info.key_rejected,
            last_used_at: None,
        }
    }
}
