//! `providers.*`: which model providers there are, and their keys; keys of those that speak and listen are
//! kept by the same methods. Keys go in, never out.

use super::page::{PageParams, by_name};
use crate::method::{Audit, Call, DONE, Done, Method, method, told};
use crate::rooms::Rooms;
use gatehouse_domain::{Problem, Scope};
use gatehouse_models::{ProviderInfo, ProviderTest};
use schemars::JsonSchema;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};

/// `providers.list`.
pub const LIST: Method = method!(
    "providers.list",
    "The model providers, and whether each has a key; those that speak or listen by a key stored here.",
    Some(Scope::Read),
    list(PageParams) -> ListResult
);

/// `providers.set_key`.
pub const SET_KEY: Method = method!(
    "providers.set_key",
    "Stores an API key: of a model provider, or of one that speaks or listens.",
    Some(Scope::Write),
    set_key(SetKeyParams) -> Provider,
    open_vault: true,
    audit: Audit::Room("provider_key.set")
);

/// `providers.remove_key`.
pub const REMOVE_KEY: Method = method!(
    "providers.remove_key",
    "Forgets a provider's API key.",
    Some(Scope::Write),
    remove_key(IdParams) -> Done,
    open_vault: true,
    errors: [NotFound],
    audit: Audit::Room("provider_key.removed")
);

/// `providers.test`.
pub const TEST: Method = method!(
    "providers.test",
    "Asks a provider for its models, with its key.",
    Some(Scope::Write),
    test(IdParams) -> ProviderTest,
    errors: [NotFound, NotConfigured, ProviderFailed, Timeout, VaultSealed],
    audit: Audit::Unnoted("asks a provider")
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

/// A model provider, or one that speaks or listens.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Provider {
    /// Its id.
    pub id: String,
    /// What it speaks: `openai` or `anthropic`; or what it does: `tts` or `stt`.
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
    let mut all = providers(&call.rooms).await?;
    all.extend(voice_keys(&call.rooms, &all).await?);
    all.sort_by(|a, b| a.id.cmp(&b.id));
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
        .set_provider_key(
            &call.actor(),
            &provider.id,
            key,
            (provider.kind, &provider.base_url),
        )
        .await
        .map_err(told)?;
    let found = find(&call.rooms, &provider.id).await?;
    if let Some(found) = found {
        return Ok(found);
    }
    let mut kept = voice_keys(&call.rooms, &[]).await?.into_iter();
    Ok(kept.find(|kept| kept.id == provider.id).unwrap_or(provider))
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

/// Those that speak or listen by a key that is stored here, save those whose id a model provider has. A
/// key is shown beside the address that it was entered for; it serves only while that is the provider's.
#[cfg(feature = "voice")]
async fn voice_keys(rooms: &Rooms, models: &[Provider]) -> Result<Vec<Provider>, Problem> {
    use gatehouse_domain::KeyBinding;
    let stored = rooms.secrets.list_provider_keys().await.map_err(told)?;
    let of_voice = stored.into_iter().filter_map(|key| {
        let mut places = rooms.voice.key_places(&key.id).into_iter();
        let place = places.find(|place| place.id == key.id)?;
        Some(Provider {
            configured: key.serves(&KeyBinding::of_url(place.kind, &place.base_url)),
            id: key.id,
            kind: place.kind,
            base_url: key.base_url,
            detected: false,
            key_hint: Some(key.key_hint),
        })
    });
    let is_other = |one: &Provider| !models.iter().any(|model| model.id == one.id);
    Ok(of_voice.filter(is_other).collect())
}

#[cfg(not(feature = "voice"))]
fn voice_keys(_: &Rooms, _: &[Provider]) -> std::future::Ready<Result<Vec<Provider>, Problem>> {
    std::future::ready(Ok(Vec::new()))
}

/// Whether it is one that speaks or listens.
#[cfg(feature = "voice")]
fn is_of_voice(id: &str) -> bool {
    use gatehouse_voice::{SttId, TtsId};
    TtsId::find(id).is_some() || SttId::find(id).is_some()
}

#[cfg(not(feature = "voice"))]
const fn is_of_voice(_: &str) -> bool {
    false
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
        if is_of_voice(&id) {
            let reason = "this tests model providers; `gatehouse voice doctor --try` tries those that \
                          speak and listen";
            return Err(Problem::invalid_params("id", reason));
        }
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
