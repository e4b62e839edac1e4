//! Which models a provider has, as it tells itself. Remembered for some minutes; nothing of it is trusted
//! to be short or well formed.

use crate::attempt::{outbound_error, refused};
use crate::candidates::Endpoint;
use crate::family::{below, family};
use crate::handle::{Inner, ModelRef, Models};
use crate::keys::Key;
use crate::known_context::known_context;
use crate::refusal::{self, Refusal};
use crate::{ModelError, ProviderKind};
use futures_util::future::join_all;
use gatehouse_outbound::{Reach, read_capped};
use reqwest::{Method, Request, StatusCode};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

const REMEMBERED_MS: u64 = 300_000;
const MAX_LIST_BYTES: usize = 4 << 20;
const MAX_MODELS: usize = 1_000;
const MAX_NAME_BYTES: usize = 256;

/// A model that can be chosen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ModelInfo {
    /// `provider/model`, as `models.default` and agents take it.
    pub id: String,
    /// The provider.
    pub provider: String,
    /// The model as the provider calls it.
    pub name: String,
    /// How many tokens it reads and writes together, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<u64>,
}

/// That a provider answers and takes its key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ProviderTest {
    /// Always true: what does not work is an error.
    pub ok: bool,
    /// How long its answer took.
    pub latency_ms: u64,
    /// How many models it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub models: Option<u64>,
}

/// A model in a provider's list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Listed {
    pub(crate) name: String,
    pub(crate) context: Option<u64>,
}

#[derive(Debug)]
struct Entry {
    at_ms: u64,
    listed: Arc<Vec<Listed>>,
}

/// What providers told, by id.
#[derive(Debug, Default)]
pub(crate) struct Catalogue(Mutex<HashMap<String, Entry>>);

impl Catalogue {
    pub(crate) fn forget(&self) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
    }

    fn get(&self, id: &str, now: u64, max_age_ms: u64) -> Option<Arc<Vec<Listed>>> {
        let entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = entries.get(id)?;
        (now.saturating_sub(entry.at_ms) < max_age_ms).then(|| Arc::clone(&entry.listed))
    }

    fn put(&self, id: &str, now: u64, listed: &Arc<Vec<Listed>>) {
        let entry = Entry {
            at_ms: now,
            listed: Arc::clone(listed),
        };
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        entries.insert(id.to_owned(), entry);
    }
}

impl Models {
    /// Every model that can be chosen, by id: those that the settings name, else those that the provider
    /// tells. A provider that does not answer is left out, and so is one without a key.
    pub async fn list(&self) -> Vec<ModelInfo> {
        let settings = self.inner.settings.load_full();
        let candidates = self.inner.candidates(&settings).all();
        let each = candidates.iter().map(|endpoint| self.inner.offered(endpoint));
        let mut all: Vec<ModelInfo> = join_all(each).await.into_iter().flatten().collect();
        if (settings.autodetect || all.is_empty())
            && let Some(listed) = self.inner.local_models().await
        {
            let local = crate::candidates::LOCAL;
            all.extend(listed.iter().map(|listed| info(local, listed)));
        }
        all.sort_by(|a, b| a.id.cmp(&b.id));
        all.dedup_by(|a, b| a.id == b.id);
        all
    }

    /// Asks a provider for its models, whatever is remembered of it.
    pub async fn test(&self, provider: &str) -> Result<ProviderTest, ModelError> {
        let settings = self.inner.settings.load_full();
        let candidates = self.inner.candidates(&settings);
        let endpoint = candidates
            .find(provider)
            .ok_or_else(|| unknown_provider(provider))?;
        let began = self.inner.clock.monotonic_ms();
        let listed = self.inner.refresh_models(&endpoint).await?;
        Ok(ProviderTest {
            ok: true,
            latency_ms: self.inner.clock.monotonic_ms().saturating_sub(began),
            models: u64::try_from(listed.len()).ok(),
        })
    }

    /// How many tokens the model reads and writes together: as its provider told lately, else as its name
    /// tells.
    pub fn context_tokens(&self, model: &ModelRef) -> Option<u64> {
        let now = self.inner.clock.monotonic_ms();
        let listed = self.inner.catalogue.get(&model.provider, now, u64::MAX);
        let told = listed.and_then(|listed| {
            let mut listed = listed.iter();
            listed.find(|listed| listed.name == model.model)?.context
        });
        told.or_else(|| known_context(&model.model))
    }
}

pub(crate) fn unknown_provider(id: &str) -> ModelError {
    ModelError::not_configured(
        format!("models.providers.{id}"),
        format!("There is no model provider {id}; describe it in the settings, or choose another."),
    )
}

fn info(provider: &str, listed: &Listed) -> ModelInfo {
    ModelInfo {
        id: format!("{provider}/{}", listed.name),
        provider: provider.to_owned(),
        name: listed.name.clone(),
        context: listed.context.or_else(|| known_context(&listed.name)),
    }
}

impl Inner {
    async fn offered(&self, endpoint: &Endpoint<'_>) -> Vec<ModelInfo> {
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
                .map(|listed| info(&endpoint.id, listed))
                .collect(),
            Err(error) => {
                let is_fault = !matches!(error, ModelError::NotConfigured { .. });
                if is_fault {
                    tracing::warn!(provider = %endpoint.id, %error, "no list of models");
                }
                Vec::new()
            }
        }
    }

    /// The models of a provider, asked for when they are not remembered.
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
        let patience = self.tuning.patience.list;
        let listed = self.ask_for_models(endpoint, patience).await?;
        let now = self.clock.monotonic_ms();
        self.catalogue.put(&endpoint.id, now, &listed);
        Ok(listed)
    }

    /// Asks within this time; nothing is remembered.
    pub(crate) async fn ask_for_models(
        &self,
        endpoint: &Endpoint<'_>,
        patience: Duration,
    ) -> Result<Arc<Vec<Listed>>, ModelError> {
        let key = self.key(endpoint).await?;
        key.check(endpoint)?;
        let asked = tokio::time::timeout(patience, self.fetch_models(endpoint, &key)).await;
        asked.unwrap_or_else(|_| {
            Err(ModelError::Timeout {
                provider: endpoint.id.to_string(),
            })
        })
    }

    async fn fetch_models(
        &self,
        endpoint: &Endpoint<'_>,
        key: &Key<'_>,
    ) -> Result<Arc<Vec<Listed>>, ModelError> {
        let provider = || endpoint.id.to_string();
        let failed = |error| outbound_error(&endpoint.id, error);
        let garbage = || ModelError::Failed {
            provider: provider(),
            status: None,
            retryable: false,
        };
        let family = family(endpoint.kind);
        let mut url = below(&endpoint.base_url, &["models"]);
        if let Some(query) = family.list_query() {
            let whole = url.query().map(|own| format!("{own}&{query}"));
            url.set_query(Some(whole.as_deref().unwrap_or(query)));
        }
        let mut request = Request::new(Method::GET, url);
        *request.headers_mut() = family.headers(key.text()).ok_or_else(garbage)?;
        let sent = self.outbound.send(Reach::Owner, request).await;
        let response = sent.map_err(failed)?;
        let status = response.status();
        let (body, cut) = read_capped(response, MAX_LIST_BYTES).await.map_err(failed)?;
        if status != StatusCode::OK {
            let refusal = refusal::with_status(status.as_u16(), &body);
            return Err(refused(&endpoint.id, refusal, key));
        }
        let body = (!cut).then(|| serde_json::from_slice::<Value>(&body).ok());
        let body = body.flatten().ok_or_else(garbage)?;
        // Most put the list under `data`, some send it bare.
        let list = body.get("data").unwrap_or(&body);
        let list = list.as_array().ok_or_else(garbage)?;
        let listed = list.iter().filter_map(|entry| family.listed(entry));
        let listed = listed.filter(|listed| is_a_name(&listed.name));
        Ok(Arc::new(listed.take(MAX_MODELS).collect()))
    }

    /// The model of a provider to take when nobody said one.
    pub(crate) async fn default_model(
        &self,
        endpoint: &Endpoint<'_>,
    ) -> Result<String, ModelError> {
        if let Some(first) = endpoint.models.first() {
            return Ok(first.clone());
        }
        let vendors = endpoint
            .is_vendor()
            .then(|| family(endpoint.kind).default_model().to_owned());
        let none = || {
            let id = &endpoint.id;
            ModelError::not_configured(
                "models.default",
                format!("The model provider {id} names no model; set models.default to {id}/<model>."),
            )
        };
        match self.models_of(endpoint).await {
            Ok(listed) => preferred(endpoint.kind, &listed)
                .or(vendors)
                .ok_or_else(none),
            // A chat will tell what is wrong.
            Err(error) => match (vendors, error) {
                (Some(model), _) => Ok(model),
                (
                    None,
                    ModelError::Failed {
                        status: Some(404 | 405 | 501),
                        ..
                    },
                ) => Err(none()),
                (None, error) => Err(error),
            },
        }
    }
}

fn named(name: &str) -> Listed {
    Listed {
        name: name.to_owned(),
        context: None,
    }
}

fn is_a_name(name: &str) -> bool {
    (1..=MAX_NAME_BYTES).contains(&name.len()) && !name.chars().any(char::is_control)
}

/// What stands in the names of models that do not chat.
const OTHER_TRADES: &[&str] = &[
    "embed", "whisper", "tts", "dall-e", "moderation", "rerank", "transcribe", "realtime", "image",
    "audio", "sora", "davinci", "babbage", "instruct-0914",
];

/// The family's usual model when the provider has it, else the first that seems to chat.
pub(crate) fn preferred(kind: ProviderKind, listed: &[Listed]) -> Option<String> {
    let usual = family(kind).default_model();
    if listed.iter().any(|listed| listed.name == usual) {
        return Some(usual.to_owned());
    }
    let chats = |name: &str| {
        let name = name.to_ascii_lowercase();
        !OTHER_TRADES.iter().any(|trade| name.contains(trade))
    };
    let mut names = listed.iter().map(|listed| &listed.name);
    names.find(|name| chats(name)).cloned()
}

/// Kept here so that a list and a chat tell the same.
pub(crate) fn is_key_refused(refusal: Refusal) -> bool {
    matches!(refusal.status(), Some(401 | 403))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_model_or_the_first_that_chats() {
        let list = |names: &[&str]| names.iter().map(|name| named(name)).collect::<Vec<_>>();
        let pick = |names: &[&str]| preferred(ProviderKind::Openai, &list(names));
        assert_eq!(pick(&["whisper-1", "gpt-4.1-mini"]).unwrap(), "gpt-4.1-mini");
        assert_eq!(pick(&["nomic-Embed-text", "llama3.2"]).unwrap(), "llama3.2");
        assert_eq!(pick(&["text-embedding-3"]), None);
        assert_eq!(pick(&[]), None);
    }

    #[test]
    fn names_have_a_length_and_no_control_characters() {
        for (name, good) in [
            ("", false),
            ("a/b:c", true),
            ("a\nb", false),
            (&"n".repeat(256), true),
            (&"n".repeat(257), false),
        ] {
            assert_eq!(is_a_name(name), good, "{name}");
        }
    }
}
