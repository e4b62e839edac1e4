//! Selects the model: the agent's, otherwise the default of the settings. Otherwise, selects the model of the first
//! usable provider, or of a local server that has only one model.

use crate::ModelError;
use crate::call_error::unknown_provider;
use crate::candidates::{Candidates, LOCAL};
use crate::default_model::only_chat_model;
use crate::handle::Models;
use crate::model_ref::ModelRef;

const HINT: &str = "No language model is configured. Set OPENAI_API_KEY or ANTHROPIC_API_KEY, or \
                    define a provider in the settings and enter its key, or run Ollama on this \
                    machine and pull a model.";

impl Models {
    /// Selects a model. `model` may be `provider/model`. With an explicit `provider`, it is always a model of that
    /// provider, because model names may contain slashes.
    pub async fn choose(
        &self,
        provider: Option<&str>,
        model: Option<&str>,
    ) -> Result<ModelRef, ModelError> {
        let settings = self.inner.settings.load_full();
        let candidates = self.inner.candidates(&settings);
        let wanted = wanted(&candidates, given(provider), given(model));
        let Some(id) = wanted.provider else {
            return self.first_usable(&candidates, wanted.model).await;
        };
        let endpoint = candidates.find(id).ok_or_else(|| unknown_provider(id))?;
        self.inner.key(&endpoint).await?.check(&endpoint)?;
        let model = match wanted.model {
            Some(model) => model.to_owned(),
            None => self.inner.default_model(&endpoint).await?,
        };
        Ok(ModelRef {
            provider: id.to_owned(),
            model,
        })
    }

    async fn first_usable(
        &self,
        candidates: &Candidates<'_>,
        model: Option<&str>,
    ) -> Result<ModelRef, ModelError> {
        let mut sealed = false;
        for endpoint in candidates.all() {
            let key = self.inner.key(&endpoint).await?;
            sealed |= key.is_sealed();
            if key.serves(&endpoint) {
                let model = match model {
                    Some(model) => model.to_owned(),
                    None => self.inner.default_model(&endpoint).await?,
                };
                return Ok(ModelRef {
                    provider: endpoint.id.into_owned(),
                    model,
                });
            }
        }
        if sealed {
            return Err(ModelError::Sealed);
        }
        let none = || ModelError::not_configured("models", HINT);
        let listed = self.inner.local_models().await.ok_or_else(none)?;
        let several = || {
            ModelError::not_configured(
                "models.default",
                "Ollama offers several models. Choose one: set models.default to ollama/<model>.",
            )
        };
        let model = match model {
            Some(model) => model.to_owned(),
            None if listed.is_empty() => return Err(none()),
            None => only_chat_model(&listed).ok_or_else(several)?,
        };
        Ok(ModelRef {
            provider: LOCAL.to_owned(),
            model,
        })
    }
}

fn given(text: Option<&str>) -> Option<&str> {
    text.map(str::trim).filter(|text| !text.is_empty())
}

#[derive(Debug, PartialEq, Eq)]
struct RequestedModel<'a> {
    provider: Option<&'a str>,
    model: Option<&'a str>,
}

fn wanted<'a>(
    candidates: &Candidates<'a>,
    provider: Option<&'a str>,
    model: Option<&'a str>,
) -> RequestedModel<'a> {
    let default = candidates.settings.default.as_deref();
    let default = default.and_then(|path| path.split_once('/'));
    match (provider, model) {
        (Some(id), Some(model)) => RequestedModel {
            provider: Some(id),
            model: Some(without_prefix(candidates, id, model)),
        },
        (Some(id), None) => RequestedModel {
            provider: Some(id),
            model: default
                .filter(|(own, _)| *own == id)
                .map(|(_, model)| model),
        },
        (None, Some(path)) => match path.split_once('/') {
            Some((id, model)) if !model.is_empty() && candidates.find(id).is_some() => {
                RequestedModel {
                    provider: Some(id),
                    model: Some(model),
                }
            }
            _ => RequestedModel {
                provider: default.map(|(id, _)| id),
                model: Some(path),
            },
        },
        (None, None) => RequestedModel {
            provider: default.map(|(id, _)| id),
            model: default.map(|(_, model)| model),
        },
    }
}

/// Removes the provider prefix from `provider/model`, unless the settings contain a model with
/// exactly this name.
fn without_prefix<'a>(candidates: &Candidates<'_>, id: &str, model: &'a str) -> &'a str {
    let named = candidates
        .find(id)
        .is_some_and(|endpoint| endpoint.models.iter().any(|name| name == model));
    let short = model
        .strip_prefix(id)
        .and_then(|rest| rest.strip_prefix('/'));
    short
        .filter(|short| !named && !short.is_empty())
        .unwrap_or(model)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ModelsSettings, ProviderKind, ProviderSettings};
    use url::Url;

    #[test]
    fn what_is_meant() {
        let url = Url::parse("https://router.example/v1").unwrap();
        let router = ProviderSettings {
            models: vec!["router/auto".to_owned()],
            ..ProviderSettings::new(ProviderKind::Openai, url)
        };
        let mut settings = ModelsSettings::default();
        settings.providers.insert("router".to_owned(), router);
        let check = |settings: &ModelsSettings, cases: &[[Option<&str>; 4]]| {
            let candidates = Candidates {
                settings,
                local: None,
            };
            for [provider, model, p, m] in cases {
                let seen = wanted(&candidates, *provider, *model);
                let meant = RequestedModel {
                    provider: *p,
                    model: *m,
                };
                assert_eq!(seen, meant, "{provider:?} {model:?}");
            }
        };
        check(
            &settings,
            &[
                [None, None, None, None],
                [None, Some("gpt"), None, Some("gpt")],
                [None, Some("openai/gpt"), Some("openai"), Some("gpt")],
                [None, Some("meta/llama"), None, Some("meta/llama")],
                [None, Some("openai/"), None, Some("openai/")],
                [Some("openai"), None, Some("openai"), None],
                [Some("openai"), Some("gpt"), Some("openai"), Some("gpt")],
                [
                    Some("openai"),
                    Some("openai/gpt"),
                    Some("openai"),
                    Some("gpt"),
                ],
                // Resellers prefix model names with the maker's name.
                [
                    Some("router"),
                    Some("anthropic/claude"),
                    Some("router"),
                    Some("anthropic/claude"),
                ],
                [
                    Some("router"),
                    Some("router/auto"),
                    Some("router"),
                    Some("router/auto"),
                ],
                [Some("router"), Some("router/x"), Some("router"), Some("x")],
                [Some("nobody"), None, Some("nobody"), None],
            ],
        );
        settings.default = Some("openai/gpt-4.1/x".to_owned());
        check(
            &settings,
            &[
                [None, None, Some("openai"), Some("gpt-4.1/x")],
                [None, Some("other"), Some("openai"), Some("other")],
                [Some("openai"), None, Some("openai"), Some("gpt-4.1/x")],
                [Some("anthropic"), None, Some("anthropic"), None],
            ],
        );
    }
}
