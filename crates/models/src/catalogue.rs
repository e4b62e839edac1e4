//! The available models. Each provider's list is cached for five minutes.

use crate::call_error::unknown_provider;
use crate::candidates::{Endpoint, LOCAL};
use crate::family_of_kind::family;
use crate::handle::{Inner, Models};
use crate::keys::Key;
use crate::known_context::known_context;
use crate::known_vision::known_vision;
use crate::listed::Listed;
use crate::model_ref::ModelRef;
use crate::{ModelError, ModelsSettings};
use futures_util::future::join_all;
use gatehouse_domain::ModelFacts;
use schemars::JsonSchema;
use secrecy::SecretString;
use serde::Serialize;
use std::sync::Arc;

const REMEMBERED_MS: u64 = 300_000;

/// A model that can be chosen.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ModelInfo {
    /// `provider/model`, the form used by `models.default` and by agents.
    pub id: String,
    /// The provider's ID.
    pub provider: String,
    /// The provider's name for the model.
    pub name: String,
    #[serde(flatten)]
    pub facts: ModelFacts,
}

/// The result of a successful connection test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ProviderTest {
    /// Always true; a failed test is an error.
    pub ok: bool,
    /// Response time in milliseconds.
    pub latency_ms: u64,
    /// How many models the provider offers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub models: Option<u64>,
}

impl Models {
    /// Returns every available model, sorted by ID: the models named in the settings, otherwise the models that the
    /// provider lists. Providers that do not answer or have no key are omitted.
    pub async fn list(&self) -> Vec<ModelInfo> {
        let settings = self.inner.settings.load_full();
        let candidates = self.inner.candidates(&settings).all();
        let each = candidates
            .iter()
            .map(|endpoint| self.inner.offered(&settings, endpoint));
        let mut all: Vec<ModelInfo> = join_all(each).await.into_iter().flatten().collect();
        if (settings.autodetect || all.is_empty())
            && let Some(listed) = self.inner.local_models().await
        {
            all.extend(listed.iter().map(|listed| info(&settings, LOCAL, listed)));
        }
        all.sort_by(|a, b| a.id.cmp(&b.id));
        all.dedup_by(|a, b| a.id == b.id);
        all
    }

    /// Requests a provider's model list, bypassing the cache. If `key` is given, uses it instead of the provider's own
    /// key, and changes neither the cache nor the recorded state of the provider's own key.
    pub async fn test(
        &self,
        provider: &str,
        key: Option<&SecretString>,
    ) -> Result<ProviderTest, ModelError> {
        let settings = self.inner.settings.load_full();
        let candidates = self.inner.candidates(&settings);
        let endpoint = candidates
            .find(provider)
            .ok_or_else(|| unknown_provider(provider))?;
        let began = self.inner.clock.monotonic_ms();
        let listed = match key {
            Some(key) => {
                let timeouts = self.inner.tuning.timeouts.list;
                let key = Key::Unsaved(key);
                self.inner.ask_with_key(&endpoint, &key, timeouts).await?
            }
            None => self.inner.refresh_models(&endpoint).await?,
        };
        Ok(ProviderTest {
            ok: true,
            latency_ms: self.inner.clock.monotonic_ms().saturating_sub(began),
            models: u64::try_from(listed.len()).ok(),
        })
    }

    /// Returns the facts about a model: from the settings, otherwise as last reported by the provider, otherwise
    /// derived from its name. Sends no request.
    pub fn facts(&self, model: &ModelRef) -> ModelFacts {
        let settings = self.inner.settings.load();
        let now = self.inner.clock.monotonic_ms();
        let listed = self.inner.catalogue.get(&model.provider, now, u64::MAX);
        let listed = listed.and_then(|listed| {
            let mut listed = listed.iter();
            Some(listed.find(|listed| listed.name == model.model)?.facts)
        });
        let shown = self.inner.shown.of(model).unwrap_or_default();
        let listed = listed.unwrap_or_default().or(shown);
        known(&settings, &model.provider, &model.model, Some(listed))
    }

    /// Returns whether the settings name the model, or it is the default model of a vendor.
    pub fn is_configured(&self, model: &ModelRef) -> bool {
        let settings = self.inner.settings.load();
        if settings.default.as_deref() == Some(model.to_string().as_str()) {
            return true;
        }
        let given = settings.providers.get(&model.provider);
        if given.is_some_and(|given| given.facts.contains_key(&model.model)) {
            return true;
        }
        let endpoint = self.inner.candidates(&settings).find(&model.provider);
        endpoint.is_some_and(|endpoint| {
            let is_default =
                || endpoint.is_vendor() && family(endpoint.kind).default_model() == model.model;
            endpoint.models.contains(&model.model) || is_default()
        })
    }
}

fn known(
    settings: &ModelsSettings,
    provider: &str,
    model: &str,
    listed: Option<ModelFacts>,
) -> ModelFacts {
    let provider = settings.providers.get(provider);
    let given = provider.and_then(|provider| provider.facts.get(model).copied());
    given
        .unwrap_or_default()
        .or(listed.unwrap_or_default())
        .or(ModelFacts {
            context: known_context(model),
            vision: known_vision(model),
            ..ModelFacts::default()
        })
}

fn info(settings: &ModelsSettings, provider: &str, listed: &Listed) -> ModelInfo {
    ModelInfo {
        id: format!("{provider}/{}", listed.name),
        provider: provider.to_owned(),
        name: listed.name.clone(),
        facts: known(settings, provider, &listed.name, Some(listed.facts)),
    }
}

impl Inner {
    async fn offered(&self, settings: &ModelsSettings, endpoint: &Endpoint<'_>) -> Vec<ModelInfo> {
        let named: Vec<Listed> = endpoint.models.iter().map(|name| named(name)).collect();
        let listed = if named.is_empty() {
            self.models_of(endpoint).await
        } else {
            let key = self.key(endpoint).await;
            key.and_then(|key| key.check(endpoint).map(|()| Arc::new(named)))
        };
        match listed {
            Ok(listed) => listed
                .iter()
                .map(|listed| info(settings, &endpoint.id, listed))
                .collect(),
            Err(error) => {
                let is_fault = !matches!(error, ModelError::NotConfigured { .. });
                if is_fault {
                    tracing::warn!(provider = %endpoint.id, %error, "cannot list the models of a provider");
                }
                Vec::new()
            }
        }
    }

    /// Returns the models of a provider, from the cache if possible.
    pub(crate) async fn models_of(
        &self,
        endpoint: &Endpoint<'_>,
    ) -> Result<Arc<Vec<Listed>>, ModelError> {
        let now = self.clock.monotonic_ms();
        if let Some(listed) = self.catalogue.get(&endpoint.id, now, REMEMBERED_MS) {
            return Ok(listed);
        }
        self.refresh_models(endpoint).await
    }

    async fn refresh_models(
        &self,
        endpoint: &Endpoint<'_>,
    ) -> Result<Arc<Vec<Listed>>, ModelError> {
        let timeouts = self.tuning.timeouts.list;
        let listed = self.ask_for_models(endpoint, timeouts).await?;
        let now = self.clock.monotonic_ms();
        self.catalogue.put(&endpoint.id, now, &listed);
        Ok(listed)
    }
}

fn named(name: &str) -> Listed {
    Listed {
        name: name.to_owned(),
        facts: ModelFacts::default(),
    }
}
