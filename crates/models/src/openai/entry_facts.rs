//! The facts in an entry of an OpenAI-compatible model list. `OpenAI` itself reports none.
//!
//! Sources: `OpenRouter` <https://openrouter.ai/docs/api-reference/list-available-models> (prices are decimal strings
//! per token), Mistral <https://docs.mistral.ai/api/endpoint/models>, Groq
//! <https://console.groq.com/docs/api-reference#models>, vLLM's `ModelCard`, llama.cpp's `tools/server/README.md`.

use gatehouse_domain::ModelFacts;
use serde_json::Value;

/// The names of the context window: `OpenRouter`, Groq, vLLM, Mistral, and llama.cpp (first the configured size, then
/// the size in training).
const CONTEXT: [&str; 6] = [
    "/context_length",
    "/context_window",
    "/max_model_len",
    "/max_context_length",
    "/meta/n_ctx",
    "/meta/n_ctx_train",
];

pub(super) fn facts(entry: &Value) -> ModelFacts {
    let number = |path: &str| entry.pointer(path).and_then(Value::as_u64);
    let flag = |path: &str| entry.pointer(path).and_then(Value::as_bool);
    let has = |path: &str, word: &str| {
        let words = entry.pointer(path).and_then(Value::as_array)?;
        Some(words.iter().any(|listed| listed.as_str() == Some(word)))
    };
    let price = |name: &str| million_times(entry.get("pricing")?.get(name)?);
    ModelFacts {
        context: CONTEXT.into_iter().find_map(number),
        max_output: number("/top_provider/max_completion_tokens")
            .or_else(|| number("/max_completion_tokens")),
        tools: has("/supported_parameters", "tools")
            .or_else(|| flag("/capabilities/function_calling")),
        vision: has("/architecture/input_modalities", "image")
            .or_else(|| flag("/capabilities/vision")),
        reasoning: has("/supported_parameters", "reasoning"),
        price_in: price("prompt"),
        price_out: price("completion"),
        price_cached: price("input_cache_read"),
    }
}

/// Converts a price per token to a price per million tokens. `OpenRouter` reports -1 for a price that varies.
fn million_times(price: &Value) -> Option<f64> {
    let price: f64 = price.as_str()?.parse().ok()?;
    (price.is_finite() && price >= 0.0).then_some(price * 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_context_has_many_names() {
        for (entry, context) in [
            (json!({"id": "m"}), None),
            (json!({"context_length": 5}), Some(5)),
            (json!({"context_window": 6}), Some(6)),
            (json!({"max_model_len": 7}), Some(7)),
            (json!({"max_context_length": 8}), Some(8)),
            (json!({"meta": {"n_ctx": 3, "n_ctx_train": 8}}), Some(3)),
            (json!({"meta": null}), None),
        ] {
            assert_eq!(facts(&entry).context, context, "{entry}");
        }
    }

    #[test]
    fn openrouter_reports_limits_capabilities_and_prices() {
        let entry = json!({
            "id": "anthropic/claude-sonnet-4.5",
            "context_length": 1_000_000,
            "architecture": {"input_modalities": ["text", "image"]},
            "pricing": {"prompt": "0.000003", "completion": "0.000015", "input_cache_read": "0.0000003"},
            "top_provider": {"max_completion_tokens": 64000},
            "supported_parameters": ["max_tokens", "reasoning", "temperature", "tools"],
        });
        let close = |seen: Option<f64>, price: f64| (seen.unwrap() - price).abs() < 1e-9;
        let seen = facts(&entry);
        assert_eq!(
            (seen.context, seen.max_output),
            (Some(1_000_000), Some(64_000))
        );
        assert_eq!(
            (seen.tools, seen.vision, seen.reasoning),
            (Some(true), Some(true), Some(true))
        );
        assert!(close(seen.price_in, 3.0) && close(seen.price_out, 15.0));
        assert!(close(seen.price_cached, 0.3));
        let poor =
            json!({"supported_parameters": [], "pricing": {"prompt": "-1", "completion": "0"}});
        let seen = facts(&poor);
        assert_eq!(
            (seen.tools, seen.price_in, seen.price_out),
            (Some(false), None, Some(0.0))
        );
    }

    #[test]
    fn mistral_reports_capabilities() {
        let entry = json!({
            "id": "mistral-small-latest",
            "capabilities": {"completion_chat": true, "function_calling": true, "vision": false},
            "max_context_length": 131_072,
        });
        let seen = facts(&entry);
        assert_eq!((seen.tools, seen.vision), (Some(true), Some(false)));
        assert_eq!(seen.context, Some(131_072));
    }
}
