//! The key of the search service.

use super::{brave, tavily};
use gatehouse_config::{self as config, SearchProvider};
use gatehouse_domain::KeyBinding;
use gatehouse_secrets::{Secrets, SecretsError};
use url::Url;

/// Returns the vault variable that contains the key of a search service.
pub(super) const fn variable(provider: SearchProvider) -> Option<&'static str> {
    match provider {
        SearchProvider::Brave => Some("BRAVE_API_KEY"),
        SearchProvider::Tavily => Some("TAVILY_API_KEY"),
        SearchProvider::Searxng => None,
    }
}

/// Returns the service to which the key of a search service must be bound, or `None` if it needs no
/// key.
pub fn key_binding(provider: SearchProvider, base_url: Option<&Url>) -> Option<KeyBinding> {
    let (kind, own) = match provider {
        SearchProvider::Brave => ("brave", brave::OWN),
        SearchProvider::Tavily => ("tavily", tavily::OWN),
        SearchProvider::Searxng => return None,
    };
    let own = Url::parse(own).ok()?;
    Some(KeyBinding::of_url(kind, base_url.unwrap_or(&own)))
}

/// Binds the key variable of the selected service to its address, unless it is already bound. Called at startup,
/// because a variable from an earlier version belongs to the address that was configured then.
pub(crate) async fn bind_key(settings: &config::WebSearch, secrets: &Secrets) {
    let Some(provider) = settings.provider else {
        return;
    };
    let service = key_binding(provider, settings.base_url.as_ref());
    if let (Some(variable), Some(service)) = (variable(provider), service)
        && let Err(error) = secrets.key_of_service(variable, &service).await
        && !matches!(error, SecretsError::Sealed)
    {
        tracing::error!(%error, "the key of web_search cannot be bound to its address");
    }
}

/// Returns the search service that takes its key from this vault variable.
pub(crate) fn service_of_variable(
    settings: &config::WebSearch,
    variable: &str,
) -> Option<KeyBinding> {
    let mut all = [SearchProvider::Brave, SearchProvider::Tavily].into_iter();
    let provider = all.find(|provider| self::variable(*provider) == Some(variable))?;
    // `base_url` applies only to the selected provider. The others use their vendor's address.
    let base_url = settings.base_url.as_ref();
    let is_other = settings.provider.is_some_and(|chosen| chosen != provider);
    key_binding(provider, base_url.filter(|_| !is_other))
}
