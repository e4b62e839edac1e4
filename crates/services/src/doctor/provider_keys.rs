//! Checks that each stored provider key belongs to a configured provider and address.

use super::{Check, SEE_LOG};
use crate::Services;
use gatehouse_domain::KeyBinding;
use gatehouse_secrets::ProviderKeyInfo;

/// Names the providers whose kind or origin changed after their key was entered. The key is not sent to the new
/// service. Returns `None` if no key is stored.
pub(super) async fn provider_keys(services: &Services) -> Option<Check> {
    let id = "provider_keys";
    let stored = match services.secrets.list_provider_keys().await {
        Ok(stored) => stored,
        Err(error) => {
            tracing::error!(%error, "the provider keys cannot be listed");
            return Some(Check::bad(id, "The provider keys cannot be read.", SEE_LOG));
        }
    };
    let is_unused = |key: &&ProviderKeyInfo| {
        let used_by = bindings(services, &key.id);
        !used_by.is_empty() && !used_by.iter().any(|service| key.serves(service))
    };
    let unused: Vec<&str> = stored
        .iter()
        .filter(is_unused)
        .map(|key| key.id.as_str())
        .collect();
    if unused.is_empty() {
        let count = stored.len();
        let message = format!("{count} key(s) of providers belong to the configured services.");
        return (count > 0).then(|| Check::fine(id, message));
    }
    let message = format!(
        "Keys that were entered for another address or kind, and are not sent: {}.",
        unused.join(", ")
    );
    let hint = "Enter the key again with providers.set_key, or restore the address.";
    Some(Check::bad(id, message, hint))
}

/// Returns the services that use the key with this ID.
fn bindings(services: &Services, id: &str) -> Vec<KeyBinding> {
    let of_models = services.models.key_binding(id).into_iter();
    of_models.chain(of_voice(services, id)).collect()
}

#[cfg(feature = "voice")]
fn of_voice(services: &Services, id: &str) -> Vec<KeyBinding> {
    let endpoints = services.voice.key_endpoints(id).into_iter();
    endpoints
        .filter(|endpoint| endpoint.id == id)
        .map(|endpoint| KeyBinding::of_url(endpoint.kind, &endpoint.base_url))
        .collect()
}

#[cfg(not(feature = "voice"))]
const fn of_voice(_: &Services, _: &str) -> Vec<KeyBinding> {
    Vec::new()
}
