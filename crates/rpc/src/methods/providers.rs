//! `providers.*`: which model providers there are, and their keys; keys of those that speak and listen are
//! kept by the same methods. Keys go in, never out.

use super::page::{PageParams, by_name};
use crate::method::{Call, DONE, Done, Method, method, told};
use crate::rooms::Rooms;
use gatehouse_domain::{Problem, Scope};
use gatehouse_models::{ProviderInfo, ProviderTest};
use schemars::JsonSchema;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};

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
    "Stores an API key: of a model provider, or of one that speaks or listens.",
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

/// `providers.test`.
pub const TEST: Method = method!(
    "providers.test",
    "Asks a provider for its models, with its key.",
    Some(Scope::Write),
    test(IdParams) -> ProviderTest,
    errors: [NotFound, NotConfigured, ProviderFailed, Timeout, VaultSealed]
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
    /// Whether it can be used: it has a key, or is in a private network and needs none.
    pub configured: bool,
    /// Whether its key was found in the environment, or itself on this machine.
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
    let all = providers(&call.rooms).await?;
    let (providers, next_cursor) = by_name(all, &params, |provider: &Provider| &provider.id)?;
    Ok(ListResult {
        providers,
        next_cursor,
    })
}

async fn set_key(call: Call, SetKeyParams { id, key }: SetKeyParams) -> Result<Provider, Problem> {
    let provider = match find(&call.rooms, &id).await? {
        Some(provider) => provider,
        None => of_voice(&call.rooms, &id)?,
    };
    let secrets = &call.rooms.secrets;
    secrets
        .set_provider_key(&call.actor(), &provider.id, key, &provider.base_url)
        .await
        .map_err(told)?;
    let found = find(&call.rooms, &provider.id).await?;
    Ok(found.unwrap_or(provider))
}

/// A provider that speaks or listens, by its id, or by a vendor's name that only one of them has.
#[cfg(feature = "voice")]
fn of_voice(rooms: &Rooms, id: &str) -> Result<Provider, Problem> {
    let mut places = rooms.voice.key_places(id);
    match (places.pop(), places.pop()) {
        (Some(place), None) => Ok(Provider {
            id: place.id.to_owned(),
            kind: place.kind,
            base_url: place.base_url.to_string(),
            configured: true,
            detected: false,
            key_hint: None,
        }),
        (Some(one), Some(other)) => {
            let reason = format!("both {} and {} are meant; name one", other.id, one.id);
            Err(Problem::invalid_params("id", reason))
        }
        (None, _) => Err(unknown()),
    }
}

#[cfg(not(feature = "voice"))]
fn of_voice(_: &Rooms, _: &str) -> Result<Provider, Problem> {
    Err(unknown())
}

fn unknown() -> Problem {
    let reason = "there is no such provider; describe it in the settings first";
    Problem::invalid_params("id", reason)
}

async fn remove_key(call: Call, IdParams { id }: IdParams) -> Result<Done, Problem> {
    let is_models = find(&call.rooms, &id).await?.is_some();
    let id = match of_voice(&call.rooms, &id) {
        Ok(provider) if !is_models => provider.id,
        _ => id,
    };
    call.rooms
        .secrets
        .remove_provider_key(&call.actor(), &id)
        .await
        .map_err(told)?;
    Ok(DONE)
}

async fn test(call: Call, IdParams { id }: IdParams) -> Result<ProviderTest, Problem> {
    let all = call.rooms.models.providers().await.map_err(told)?;
    if !all.iter().any(|provider| provider.id == id) {
        return Err(Problem::not_found("model provider"));
    }
    call.rooms.models.test(&id).await.map_err(told)
}

/// The providers, by id.
async fn providers(rooms: &Rooms) -> Result<Vec<Provider>, Problem> {
    let all = rooms.models.providers().await.map_err(told)?;
    Ok(all.into_iter().map(Provider::from).collect())
}

async fn find(rooms: &Rooms, id: &str) -> Result<Option<Provider>, Problem> {
    let mut all = providers(rooms).await?.into_iter();
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
        }
    }
}
