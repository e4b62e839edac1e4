//! The list of providers, for people.

use crate::handle::Models;
use crate::keys::Key;
use crate::{ModelError, ProviderKind};

/// A provider and its state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderInfo {
    pub id: String,
    pub kind: ProviderKind,
    /// Without a trailing slash.
    pub base_url: String,
    /// Whether it can be used: it has a key, or is local and needs none.
    pub configured: bool,
    /// Whether it was auto-detected: its key comes from the environment, or it is the local server.
    pub detected: bool,
    /// The last characters of the stored key.
    pub key_hint: Option<String>,
}

impl Models {
    /// The kind of a provider, with or without a key; `None` if there is no provider with this ID.
    pub fn provider_kind(&self, id: &str) -> Option<ProviderKind> {
        let settings = self.inner.settings.load();
        let endpoint = self.inner.candidates(&settings).find(id)?;
        Some(endpoint.kind)
    }

    /// The two vendors, the providers of the settings, and a local server that answers; sorted by id.
    ///
    /// A stored key's hint is shown only while the provider's kind and origin match those it was entered for.
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
