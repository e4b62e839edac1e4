//! Requests the properties of a model from an Ollama server, because its OpenAI-compatible list contains only names.
//!
//! Format: <https://docs.ollama.com/api-reference/show-model-details>: `capabilities`, `model_info` with
//! `<architecture>.context_length`, and `parameters`, a text with lines such as `num_ctx 32768`. Without `num_ctx`, the
//! server decides how much of the window it uses (<https://docs.ollama.com/context-length>) and does not report it
//! here. The owner can configure it in the settings.

use crate::ModelError;
use crate::call_error::outbound_error;
use crate::candidates::Endpoint;
use crate::handle::{Inner, Models};
use crate::keys::Key;
use crate::model_ref::ModelRef;
use gatehouse_domain::ModelFacts;
use gatehouse_outbound::read_capped;
use reqwest::header::CONTENT_TYPE;
use reqwest::{Method, Request, StatusCode};
use serde_json::{Value, json};

const MAX_BYTES: usize = 4 << 20;

impl Models {
    /// Requests the facts about a model whose context window is unknown: the provider's list, and on Ollama also the
    /// model. With `with_vision`, also does this if it is unknown whether the model reads images. Sends each request
    /// only once. A failure is not an error; the facts then stay unknown.
    pub async fn learn_facts(&self, model: &ModelRef, with_vision: bool) {
        let inner = &self.inner;
        let settings = inner.settings.load_full();
        let is_known = || {
            let facts = self.facts(model);
            facts.context.is_some() && (facts.vision.is_some() || !with_vision)
        };
        if is_known() || inner.shown.of(model).is_some() {
            return;
        }
        let Some(endpoint) = inner.candidates(&settings).find(&model.provider) else {
            return;
        };
        let _listed = inner.models_of(&endpoint).await;
        let facts = if !is_known() && endpoint.is_local() {
            inner
                .show(&endpoint, &model.model)
                .await
                .unwrap_or_default()
        } else {
            ModelFacts::default()
        };
        inner.shown.put(model, facts);
    }
}

impl Inner {
    async fn show(&self, endpoint: &Endpoint<'_>, model: &str) -> Result<ModelFacts, ModelError> {
        let key = self.key(endpoint).await?;
        let asked = self.fetch_shown(endpoint, &key, model);
        let asked = tokio::time::timeout(self.tuning.timeouts.list, asked).await;
        asked.unwrap_or_else(|_| {
            Err(ModelError::Timeout {
                provider: endpoint.id.to_string(),
            })
        })
    }

    async fn fetch_shown(
        &self,
        endpoint: &Endpoint<'_>,
        key: &Key<'_>,
        model: &str,
    ) -> Result<ModelFacts, ModelError> {
        let failed = |error| outbound_error(&endpoint.id, error);
        let garbage = || ModelError::failed(endpoint.id.to_string(), false);
        let mut url = endpoint.base_url.clone().into_owned();
        url.set_path("/api/show");
        url.set_query(None);
        let mut request = Request::new(Method::POST, url);
        *request.headers_mut() = endpoint.headers(key.text()).ok_or_else(garbage)?;
        let json = reqwest::header::HeaderValue::from_static("application/json");
        request.headers_mut().insert(CONTENT_TYPE, json);
        *request.body_mut() = Some(json!({ "model": model }).to_string().into());
        let response = self.send(endpoint, request).await.map_err(failed)?;
        if response.status() != StatusCode::OK {
            return Err(garbage());
        }
        let (body, _) = read_capped(response, MAX_BYTES).await.map_err(failed)?;
        let body: Value = serde_json::from_slice(&body).map_err(|_| garbage())?;
        Ok(facts(&body))
    }
}

fn facts(body: &Value) -> ModelFacts {
    let capabilities = body.get("capabilities").and_then(Value::as_array);
    let can =
        |word: &str| capabilities.map(|all| all.iter().any(|listed| listed.as_str() == Some(word)));
    let info = body.get("model_info").and_then(Value::as_object);
    let trained = info.and_then(|info| {
        let mut lengths = info
            .iter()
            .filter(|(name, _)| name.ends_with(".context_length"));
        lengths.find_map(|(_, length)| length.as_u64())
    });
    let parameters = body.get("parameters").and_then(Value::as_str);
    let set = parameters.and_then(|text| {
        let mut lines = text.lines().map(str::split_whitespace);
        lines.find_map(|mut words| {
            let is_context = words.next() == Some("num_ctx");
            words.next().filter(|_| is_context)?.parse::<u64>().ok()
        })
    });
    let context = match (set, trained) {
        (Some(set), Some(trained)) => Some(set.min(trained)),
        (set, trained) => set.or(trained),
    };
    ModelFacts {
        context,
        tools: can("tools"),
        vision: can("vision"),
        reasoning: can("thinking"),
        ..ModelFacts::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_shows() {
        let body = |parameters: &str| {
            json!({
                "parameters": parameters,
                "capabilities": ["completion", "tools", "thinking"],
                "model_info": { "general.architecture": "qwen3", "qwen3.context_length": 40_960 },
            })
        };
        let seen = facts(&body(
            "stop \"<|im_end|>\"\nnum_ctx                        32768",
        ));
        assert_eq!(seen.context, Some(32_768));
        assert_eq!(
            (seen.tools, seen.vision, seen.reasoning),
            (Some(true), Some(false), Some(true))
        );
        assert_eq!(facts(&body("num_ctx 999999")).context, Some(40_960));
        assert_eq!(facts(&body("temperature 0.6")).context, Some(40_960));
        assert_eq!(facts(&json!({})), ModelFacts::default());
    }
}
