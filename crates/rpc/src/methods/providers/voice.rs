//! Speech providers and their keys.

use super::Provider;
use gatehouse_domain::Problem;
use gatehouse_services::Services;

/// Finds a voice provider by its ID, or by a vendor name that matches only one.
#[cfg(feature = "voice")]
pub(super) fn of_voice(services: &Services, id: &str) -> Result<Provider, Problem> {
    let mut endpoints = services.voice.key_endpoints(id);
    match (endpoints.pop(), endpoints.pop()) {
        (Some(endpoint), None) => Ok(Provider {
            id: endpoint.id.to_owned(),
            kind: endpoint.kind,
            base_url: endpoint.base_url.to_string(),
            configured: true,
            detected: false,
            key_hint: None,
            key_for: None,
            key_rejected: false,
            last_used_at: None,
        }),
        (Some(one), Some(other)) => {
            let reason = format!("matches both {} and {}; name one of them", other.id, one.id);
            Err(Problem::invalid_params("id", reason))
        }
        (None, _) => Err(unknown()),
    }
}

#[cfg(not(feature = "voice"))]
pub(super) fn of_voice(_: &Services, _: &str) -> Result<Provider, Problem> {
    Err(unknown())
}

/// Returns the voice providers with a stored key, except providers whose ID is also the ID of a model provider. Each is
/// shown with the address that its key was entered for. The key is usable only while that is the provider's address.
#[cfg(feature = "voice")]
pub(super) async fn voice_keys(
    services: &Services,
    models: &[Provider],
) -> Result<Vec<Provider>, Problem> {
    use gatehouse_domain::KeyBinding;
    use gatehouse_services::to_problem;
    let stored = services
        .secrets
        .list_provider_keys()
        .await
        .map_err(to_problem)?;
    let of_voice = stored.into_iter().filter_map(|key| {
        let mut endpoints = services.voice.key_endpoints(&key.id).into_iter();
        let endpoint = endpoints.find(|endpoint| endpoint.id == key.id)?;
        let configured = key.serves(&KeyBinding::of_url(endpoint.kind, &endpoint.base_url));
        Some(Provider {
            configured,
            key_for: (!configured).then(|| key.base_url.clone()),
            id: key.id,
            kind: endpoint.kind,
            base_url: key.base_url,
            detected: false,
            key_hint: Some(key.key_hint),
            key_rejected: false,
            last_used_at: None,
        })
    });
    let is_other = |one: &Provider| !models.iter().any(|model| model.id == one.id);
    Ok(of_voice.filter(is_other).collect())
}

#[cfg(not(feature = "voice"))]
pub(super) fn voice_keys(
    _: &Services,
    _: &[Provider],
) -> std::future::Ready<Result<Vec<Provider>, Problem>> {
    std::future::ready(Ok(Vec::new()))
}

/// Returns whether the ID belongs to a voice provider.
#[cfg(feature = "voice")]
pub(super) fn is_of_voice(id: &str) -> bool {
    use gatehouse_voice::{ProviderId, SttId, TtsId};
    TtsId::find(id).is_some() || SttId::find(id).is_some()
}

#[cfg(not(feature = "voice"))]
pub(super) const fn is_of_voice(_: &str) -> bool {
    false
}

fn unknown() -> Problem {
    let reason = "the provider does not exist; configure it in the settings first";
    Problem::invalid_params("id", reason)
}
