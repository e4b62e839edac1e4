//! `web_search` against fake services, which check the requests.

use crate::harness::{Harness, serve};
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::{get, post};
use axum::{Json, Router};
use gatehouse_config::{SearchProvider, WebSearch};
use gatehouse_domain::Actor;
use gatehouse_tools::ToolsSettings;
use secrecy::SecretString;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use url::Url;

fn settings(provider: SearchProvider, base_url: Option<Url>, key: Option<&str>) -> ToolsSettings {
    ToolsSettings {
        web_search: WebSearch {
            provider: Some(provider),
            api_key: key.map(SecretString::from),
            base_url,
        },
        ..ToolsSettings::default()
    }
}

/// Private addresses are closed to tools, but the owner chooses the search service.
async fn harness(settings: ToolsSettings) -> Harness {
    Harness::open(false, settings).await
}

/// <https://api-dashboard.search.brave.com/app/documentation/web-search/get-started>
async fn brave() -> Url {
    let answer = async |headers: HeaderMap, Query(query): Query<BTreeMap<String, String>>| {
        if headers
            .get("x-subscription-token")
            .is_none_or(|token| token != "brave-key")
        {
            return Err(StatusCode::UNAUTHORIZED);
        }
        assert!(!headers.contains_key("authorization"));
        assert_eq!(headers["accept"], "application/json");
        assert_eq!(query["q"], "gate & house");
        let count: usize = query["count"].parse().unwrap();
        let results: Vec<Value> = (1..=count)
            .map(|n| {
                json!({"title": format!("Title <b>{n}</b>"), "url": format!("https://r.example/{n}"),
                    "description": "A <strong>snippet</strong> &amp; more\u{202e}", "age": "1 day"})
            })
            .collect();
        Ok(Json(
            json!({"type": "search", "web": {"type": "search", "results": results}}),
        ))
    };
    serve(Router::new().route("/res/v1/web/search", get(answer))).await
}

#[tokio::test]
async fn brave_is_asked_as_it_wants_to_be() {
    let url = brave().await;
    let harness = harness(settings(
        SearchProvider::Brave,
        Some(url.clone()),
        Some("brave-key"),
    ))
    .await;
    let found = harness
        .call("web_search", json!({"query": "gate & house", "count": 2}))
        .await;
    let expected = "1. Title 1\n   https://r.example/1\n   A snippet & more\n\
                    2. Title 2\n   https://r.example/2\n   A snippet & more";
    assert_eq!(found.as_deref(), Ok(expected));
    let default = harness
        .call("web_search", json!({"query": " gate & house "}))
        .await
        .unwrap();
    assert_eq!(default.lines().count(), 5 * 3);
    let with_path = settings(
        SearchProvider::Brave,
        Some(url.join("/res/v1").unwrap()),
        Some("brave-key"),
    );
    harness.tools.update_settings(with_path);
    assert!(
        harness
            .call("web_search", json!({"query": "gate & house"}))
            .await
            .is_ok()
    );
    harness
        .tools
        .update_settings(settings(SearchProvider::Brave, Some(url), Some("other")));
    let refusal = harness
        .refusal("web_search", json!({"query": "gate & house"}))
        .await;
    assert!(
        refusal.contains("rejected the API key") && !refusal.contains("other"),
        "{refusal}"
    );
}

/// <https://docs.tavily.com/documentation/api-reference/endpoint/search>
async fn tavily() -> Url {
    let answer = async |headers: HeaderMap, Json(body): Json<Value>| {
        assert_eq!(headers["authorization"], "Bearer tvly-key");
        assert_eq!(
            body,
            json!({"query": "gate", "max_results": 3, "search_depth": "basic"})
        );
        Json(
            json!({"query": "gate", "answer": null, "images": [], "response_time": "1.67", "results": [
                {"title": "One", "url": "https://r.example/1", "content": "first", "score": 0.9, "raw_content": null},
                {"title": "Two", "url": "https://r.example/2", "content": "second", "score": 0.8},
            ]}),
        )
    };
    serve(Router::new().route("/search", post(answer))).await
}

#[tokio::test]
async fn tavily_takes_its_key_from_the_vault() {
    let harness = harness(settings(SearchProvider::Tavily, Some(tavily().await), None)).await;
    let input = json!({"query": "gate", "count": 3});
    let refusal = harness.refusal("web_search", input.clone()).await;
    assert!(refusal.contains("TAVILY_API_KEY"), "{refusal}");
    harness.set_variable("TAVILY_API_KEY", "tvly-key").await;
    let found = harness.call("web_search", input.clone()).await.unwrap();
    assert!(
        found.starts_with("1. One\n   https://r.example/1\n   first\n2. Two"),
        "{found}"
    );
    // A sealed key is unavailable, and the error says so.
    let password = SecretString::from("correct horse battery");
    harness
        .secrets
        .initialize(&Actor::cli(), password)
        .await
        .unwrap();
    assert!(harness.call("web_search", input.clone()).await.is_ok());
    harness.secrets.seal(&Actor::cli()).await.unwrap();
    let refusal = harness.refusal("web_search", input).await;
    assert!(refusal.contains("sealed"), "{refusal}");
}

/// <https://docs.searxng.org/dev/search_api.html>
async fn searxng(status: StatusCode) -> Url {
    let answer = async |State(status): State<StatusCode>,
                        Query(query): Query<BTreeMap<String, String>>| {
        assert_eq!(query["format"], "json");
        let results =
            json!([{"url": "https://r.example/", "title": "T", "content": null, "engine": "x"}]);
        (
            status,
            Json(json!({"query": query["q"], "number_of_results": 0, "results": results})),
        )
    };
    serve(
        Router::new()
            .route("/searx/search", get(answer))
            .with_state(status),
    )
    .await
}

#[tokio::test]
async fn searxng_needs_a_url_and_no_key() {
    let at = async |status| Some(searxng(status).await.join("/searx/").unwrap());
    let harness = harness(settings(SearchProvider::Searxng, None, None)).await;
    let input = json!({"query": "q"});
    let refusal = harness.refusal("web_search", input.clone()).await;
    assert!(refusal.contains("base_url"), "{refusal}");
    for (status, said) in [
        (StatusCode::OK, "1. T\n   https://r.example/"),
        (StatusCode::FORBIDDEN, "search.formats"),
        (StatusCode::TOO_MANY_REQUESTS, "too many requests"),
        (StatusCode::BAD_GATEWAY, "status 502"),
    ] {
        harness
            .tools
            .update_settings(settings(SearchProvider::Searxng, at(status).await, None));
        let answer = match harness.call("web_search", input.clone()).await {
            Ok(found) => found,
            Err(error) => error.message,
        };
        assert!(answer.contains(said), "{status}: {answer}");
    }
}

#[tokio::test]
async fn unconfigured_it_says_what_to_set() {
    let harness = harness(ToolsSettings::default()).await;
    let refusal = harness.refusal("web_search", json!({"query": "q"})).await;
    assert!(refusal.contains("not configured") && refusal.contains("tools.web_search.provider"));
}

#[tokio::test]
async fn bad_answers_and_bad_input() {
    let nonsense = async || "<html>not json</html>";
    let none = async || Json(json!({"results": []}));
    let large = async || Json(json!({"results": [], "x": "x".repeat(2 << 20)}));
    let router = Router::new()
        .route("/nonsense/search", get(nonsense))
        .route("/none/search", get(none))
        .route("/large/search", get(large));
    let base = serve(router).await;
    let harness = harness(ToolsSettings::default()).await;
    for (path, said) in [
        ("/nonsense", "cannot be read"),
        ("/large", "cannot be read"),
        ("/none", "No results."),
        ("/missing", "status 404"),
    ] {
        let url = Some(base.join(path).unwrap());
        harness
            .tools
            .update_settings(settings(SearchProvider::Searxng, url, None));
        let answer = match harness.call("web_search", json!({"query": "q"})).await {
            Ok(found) => found,
            Err(error) => error.message,
        };
        assert!(answer.contains(said), "{path}: {answer}");
    }
    harness.tools.update_settings(settings(
        SearchProvider::Searxng,
        Some(base.join("/none").unwrap()),
        None,
    ));
    for (input, fits) in [
        (json!({"query": "x".repeat(400)}), true),
        (json!({"query": "x".repeat(401)}), false),
        (json!({"query": " "}), false),
        (json!({"query": "q", "count": 1}), true),
        (json!({"query": "q", "count": 20}), true),
        (json!({"query": "q", "count": 0}), false),
        (json!({"query": "q", "count": 21}), false),
        (json!({"query": "q", "page": 1}), false),
        (json!({}), false),
    ] {
        assert_eq!(
            harness.call("web_search", input.clone()).await.is_ok(),
            fits,
            "{input}"
        );
    }
    // The owner's own URL may be private, but never a metadata service.
    let metadata = Some(Url::parse("http://169.254.169.254/").unwrap());
    harness
        .tools
        .update_settings(settings(SearchProvider::Searxng, metadata, None));
    let refusal = harness.refusal("web_search", json!({"query": "q"})).await;
    assert!(refusal.contains("must not be called"), "{refusal}");
}

/// Returns a service that records the keys it receives.
async fn recorder() -> (Url, std::sync::Arc<std::sync::Mutex<Vec<String>>>) {
    let seen = std::sync::Arc::<std::sync::Mutex<Vec<String>>>::default();
    let answer = async |State(seen): State<std::sync::Arc<std::sync::Mutex<Vec<String>>>>,
                        headers: HeaderMap| {
        let names = ["authorization", "x-subscription-token"];
        let sent = names.iter().filter_map(|name| headers.get(*name));
        let sent = sent.map(|value| value.to_str().unwrap().to_owned());
        seen.lock().unwrap().extend(sent);
        Json(json!({"results": [], "web": {"results": []}}))
    };
    let router = Router::new().fallback(answer).with_state(seen.clone());
    (serve(router).await, seen)
}

#[tokio::test]
async fn a_key_of_the_vault_does_not_follow_another_address() {
    for (provider, variable) in [
        (SearchProvider::Brave, "BRAVE_API_KEY"),
        (SearchProvider::Tavily, "TAVILY_API_KEY"),
    ] {
        let (own, seen) = recorder().await;
        let (other, stolen) = recorder().await;
        let harness = harness(settings(provider, Some(own.clone()), None)).await;
        harness.set_variable(variable, "key-of-the-owner").await;
        let input = json!({"query": "q"});
        harness.call("web_search", input.clone()).await.unwrap();
        assert_eq!(seen.lock().unwrap().len(), 1);
        harness
            .tools
            .update_settings(settings(provider, Some(other), None));
        let refusal = harness.call("web_search", input.clone()).await;
        assert_eq!(*stolen.lock().unwrap(), Vec::<String>::new());
        let message = refusal.unwrap_err().message;
        assert!(message.contains(variable), "{message}");
        // The key works again at its old address. After it is entered again, it works at the new
        // address.
        harness
            .tools
            .update_settings(settings(provider, Some(own), None));
        harness.call("web_search", input).await.unwrap();
    }
}
