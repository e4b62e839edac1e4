//! What there is to say about each provider, for people.

use crate::handle::Models;
use crate::keys::Key;
use crate::{ModelError, ProviderKind};

/// A provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderInfo {
    /// Its id.
    pub id: String,
    /// What it speaks.
    pub kind: ProviderKind,
    /// Where it is, without a slash at the end.
    pub base_url: String,
    /// Whether it can be used: it has a key, or is in the owner's own network and needs none.
    pub configured: bool,
    /// Whether nobody configured it: its key was found in the environment, or it was found on this machine.
    pub detected: bool,
    /// The end of a key that was stored.
    pub key_hint: Option<String>,
}

impl Models {
    /// The two vendors, what the settings describe, and a local server that answers; by id.
    ///
    /// A stored key is shown only while the provider is of the kind and at the origin that it was entered
    /// for.
    pub async fn providers(&self) -> Result<Vec<ProviderInfo>, ModelError> {
        let settings = self.inner.settings.load_full();
        let candidates = self.inner.candidates(&settings);
        let stored = self.inner.secrets.list_provider_keys().await?;
        let mut all = Vec::new();
        for endpoint in candidates.all() {
            let base_url = endpoint.base_url.as_str().trim_end_matches('/').to_owned();
            let (mut hints, service) = (stored.iter(), endpoint.service());
            let hint = hints.find(|key| key.id == endpoint.id && key.serves(&service));
            let given = endpoint.settings_key.or(endpoint.environment_key);
            let key = given.map_or(Key::Absent { sealed: false }, Key::Given);
            let in_settings = hint.is_some() || endpoint.settings_key.is_some();
            all.push(ProviderInfo {
                configured: hint.is_some() || key.serves(&endpoint),
                detected: !in_settings && endpoint.environment_key.is_some(),
                key_hint: hint.map(|key| key.key_hint.clone()),
                kind: endpoint.kind,
                id: endpoint.id.into_owned(),
                base_url,
            });
        }
        let nothing_else = !all.iter().any(|provider| provider.configured);
        if let Some(endpoint) = candidates.local()
            && (settings.autodetect || nothing_else)
            && self.inner.local_models().await.is_some()
        {
            all.push(ProviderInfo {
                base_url: endpoint.base_url.as_str().trim_end_matches('/').to_owned(),
                id: endpoint.id.into_owned(),
                kind: endpoint.kind,
                configured: true,
                detected: true,
                key_hint: None,
            });
        }
        all.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(all)
    }
}
