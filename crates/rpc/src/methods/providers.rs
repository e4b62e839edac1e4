//! `providers.*`: which model providers there are, and their keys. Keys go in, never out.

use super::page::{PageParams, by_name};
use crate::method::{Call, DONE, Done, Method, method, told};
use crate::rooms::Rooms;
use gatehouse_config::ProviderKind;
use gatehouse_domain::{Problem, Scope};
use gatehouse_secrets::ProviderKeyInfo;
use schemars::JsonSchema;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// `providers.list`.
pub const LIST: Method = method!(
    "providers.list",
    "The model providers, and whether each has a key.",
    Some(Scope::Read),
    list(PageParams) -> ListResult
);

/// `providers.set_key`.
pub const SET_KEY: Method = method!(
    "providers.set_key",
    "Stores a provider's API key.",
    Some(Scope::Write),
    set_key(SetKeyParams) -> Provider,
    open_vault: true
);

/// `providers.remove_key`.
pub const REMOVE_KEY: Method = method!(
    "providers.remove_key",
    "Forgets a provider's API key.",
    Some(Scope::Write),
    remove_key(IdParams) -> Done,
    open_vault: true,
    errors: [NotFound]
);

/// Result of `providers.list`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListResult {
    /// The providers, by id.
    pub providers: Vec<Provider>,
    /// Where the next page begins; absent on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A model provider.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Provider {
    /// Its id.
    pub id: String,
    /// What it speaks: `openai` or `anthropic`.
    pub kind: &'static str,
    /// Where it is.
    pub base_url: String,
    /// Whether it has a key.
    pub configured: bool,
    /// Whether that key was found in the environment.
    pub detected: bool,
    /// The end of a key that was stored here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_hint: Option<String>,
}

/// Params of `providers.set_key`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetKeyParams {
    /// The provider.
    id: String,
    /// Its API key.
    #[schemars(with = "String")]
    key: SecretString,
}

/// Params that name a provider.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IdParams {
    /// The provider.
    id: String,
}

async fn list(call: Call, params: PageParams) -> Result<ListResult, Problem> {
    let all = providers(&call.rooms).await?.into_values().collect();
    let (providers, next_cursor) = by_name(all, &params, |provider: &Provider| &provider.id)?;
    Ok(ListResult {
        providers,
        next_cursor,
    })
}

async fn set_key(call: Call, SetKeyParams { id, key }: SetKeyParams) -> Result<Provider, Problem> {
    let unknown = || {
        Problem::invalid_params(
            "id",
            "there is no such provider; describe it in the settings first",
        )
    };
    let provider = known(&call.rooms).remove(&id).ok_or_else(unknown)?;
    let secrets = &call.rooms.secrets;
    secrets
        .set_provider_key(&call.actor(), &id, key, &provider.base_url)
        .await
        .map_err(told)?;
    providers(&call.rooms)
        .await?
        .remove(&id)
        .ok_or_else(Problem::internal)
}

async fn remove_key(call: Call, params: IdParams) -> Result<Done, Problem> {
    call.rooms
        .secrets
        .remove_provider_key(&call.actor(), &params.id)
        .await
        .map_err(told)?;
    Ok(DONE)
}

/// The two vendors, and what the settings describe; without what is stored.
fn known(rooms: &Rooms) -> BTreeMap<String, Provider> {
    let (resolved, process) = (rooms.config.resolved(), rooms.config.layers().process());
    let models = &resolved.settings.models;
    let detected = |id: &str| {
        models.autodetect
            && match id {
                "openai" => process.openai_api_key.is_some(),
                "anthropic" => process.anthropic_api_key.is_some(),
                _ => false,
            }
    };
    let provider = |id: &str, kind: ProviderKind, base_url: &str, has_key: bool| Provider {
        id: id.to_owned(),
        kind: kind.as_str(),
        base_url: base_url.trim_end_matches('/').to_owned(),
        configured: has_key || detected(id),
        detected: !has_key && detected(id),
        key_hint: None,
    };
    let mut all: BTreeMap<String, Provider> = [ProviderKind::Openai, ProviderKind::Anthropic]
        .into_iter()
        .map(|kind| {
            (
                kind.as_str(),
                provider(kind.as_str(), kind, kind.default_base_url(), false),
            )
        })
        .map(|(id, provider)| (id.to_owned(), provider))
        .collect();
    for (id, given) in &models.providers {
        let has_key = given.api_key.is_some();
        all.insert(
            id.clone(),
            provider(id, given.kind, given.base_url.as_str(), has_key),
        );
    }
    all
}

/// The same with what is stored. A key whose provider has left the settings is not shown.
async fn providers(rooms: &Rooms) -> Result<BTreeMap<String, Provider>, Problem> {
    let mut all = known(rooms);
    for stored in rooms.secrets.list_provider_keys().await.map_err(told)? {
        let ProviderKeyInfo {
            id,
            key_hint,
            base_url,
        } = stored;
        // A key is for the address that it was entered for: it is never sent to another.
        if let Some(provider) = all.get_mut(&id).filter(|known| known.base_url == base_url) {
            provider.configured = true;
            provider.detected = false;
            provider.key_hint = Some(key_hint);
        }
    }
    Ok(all)
}
