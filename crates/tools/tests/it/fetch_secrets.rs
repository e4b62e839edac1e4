//! Secrets in requests of `web_fetch`.

use crate::harness::{Harness, serve};
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::get;
use gatehouse_agents::{Audience, Effect};
use gatehouse_config::ToolSecret;
use gatehouse_domain::Actor;
use gatehouse_tools::ToolsSettings;
use secrecy::SecretString;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use url::Url;

/// With characters that URLs, JSON, HTML and Markdown escape.
const TOKEN: &str = "sk_live_1/2+\"3\"&<4>";

/// The requests of a server: path and query, and the headers.
type Seen = Arc<Mutex<Vec<(String, HeaderMap)>>>;

async fn echo(State(seen): State<Seen>, request: Request) -> Response {
    let path = request.uri().to_string();
    let headers = request.headers().clone();
    let token = headers.get("x-token").map(|value| value.to_str().unwrap());
    let token = token.unwrap_or_default().to_owned();
    seen.lock().unwrap().push((path.clone(), headers));
    match request.uri().path() {
        "/json" => axum::Json(json!({ "token": token, "path": path })).into_response(),
        "/slashes" => {
            let text = json!({ "token": token }).to_string().replace('/', "\\/");
            ([(header::CONTENT_TYPE, "application/json")], text).into_response()
        }
        "/html" => {
            let escaped = token.replace('&', "&amp;").replace('<', "&lt;");
            Html(format!(
                "<p>{} and {escaped}</p>",
                token.replace('<', "&lt;")
            ))
            .into_response()
        }
        "/broken" => StatusCode::IM_A_TEAPOT.into_response(),
        "/earlier" => format!("Earlier requests had {TOKEN}.").into_response(),
        "/long" => {
            let shown = TOKEN.len() / 2;
            format!("{}{TOKEN}", "a ".repeat((1 << 20) - shown / 2)).into_response()
        }
        _ => path.into_response(),
    }
}

async fn server() -> (Url, Seen) {
    let seen = Seen::default();
    let router = Router::new().fallback(echo).with_state(Arc::clone(&seen));
    (serve(router).await, seen)
}

fn allow(name: &str, url: &Url) -> ToolSecret {
    format!("{name}:{}", url.authority()).parse().unwrap()
}

async fn open(secrets: Vec<ToolSecret>) -> Harness {
    let settings = ToolsSettings {
        secrets,
        ..ToolsSettings::default()
    };
    let harness = Harness::open(true, settings).await;
    harness.set_variable("TOKEN", TOKEN).await;
    harness
}

fn asking(url: &Url, path: &str) -> Value {
    json!({ "url": format!("{url}{path}"), "headers": { "X-Token": "{{secret:TOKEN}}" } })
}

#[tokio::test]
async fn a_secret_reaches_its_host_and_not_the_model() {
    let (url, seen) = server().await;
    let harness = open(vec![allow("TOKEN", &url)]).await;
    for path in ["json", "slashes", "html"] {
        let answer = harness.call("web_fetch", asking(&url, path)).await.unwrap();
        assert!(answer.contains("{{secret:TOKEN}}"), "{answer}");
        for part in ["sk_live", "sk\\_live", "2+"] {
            assert!(!answer.contains(part), "{path}: {answer}");
        }
    }
    let input =
        json!({ "url": format!("{url}a/{{{{secret:TOKEN}}}}/b?key={{{{secret:TOKEN}}}}&q=1") });
    let answer = harness.call("web_fetch", input).await.unwrap();
    assert!(!answer.contains("live"), "{answer}");
    let refused = harness.refusal("web_fetch", asking(&url, "broken")).await;
    assert!(!refused.contains("live"), "{refused}");
    let seen = seen.lock().unwrap().clone();
    assert_eq!(seen.len(), 5);
    for (path, headers) in &seen {
        let is_in_url = path.contains("sk%5Flive%5F1%2F2%2B%223%22%26%3C4%3E");
        let is_in_header = headers.get("x-token").is_some_and(|value| value == TOKEN);
        assert!(is_in_url || is_in_header, "{path}");
    }
    let last = &seen[3].0;
    assert_eq!(last.matches("sk%5Flive").count(), 2, "{last}");
    harness.stop().await;
}

#[tokio::test]
async fn a_secret_is_removed_from_answers_to_requests_without_it() {
    let (url, seen) = server().await;
    let harness = open(vec![allow("TOKEN", &url)]).await;
    let asking = |path: &str, offset: usize| {
        let input = json!({ "url": format!("{url}{path}"), "offset": offset });
        harness.call("web_fetch", input)
    };
    let answer = asking("earlier", 0).await.unwrap();
    assert!(answer.contains("had {{secret:TOKEN}}."), "{answer}");
    // The limit of a page cuts the value.
    let answer = asking("long", 2_095_000).await.unwrap();
    assert!(answer.contains("larger than 2 MiB"), "{answer}");
    assert!(!answer.contains("sk"), "{answer}");
    let password = SecretString::from("correct horse battery");
    let owner = Actor::cli();
    harness.secrets.initialize(&owner, password).await.unwrap();
    harness.secrets.seal(&owner).await.unwrap();
    let refused = asking("earlier", 0).await.unwrap_err().message;
    assert!(refused.contains("The vault is sealed"), "{refused}");
    assert_eq!(seen.lock().unwrap().len(), 2);
    harness.stop().await;
}

#[tokio::test]
async fn a_secret_is_sent_nowhere_else() {
    let (url, seen) = server().await;
    let (other, other_seen) = server().await;
    let harness = open(vec![allow("TOKEN", &url)]).await;
    harness.set_variable("ANOTHER", "another-value").await;
    let refused = harness.refusal("web_fetch", asking(&other, "json")).await;
    assert!(refused.contains("may not be sent to"), "{refused}");
    for (input, expected) in [
        (
            json!({ "url": format!("{url}?k={{{{secret:ANOTHER}}}}") }),
            "ANOTHER may not be sent",
        ),
        (
            json!({ "url": format!("{url}?k={{{{secret:MISSING}}}}") }),
            "MISSING may not be sent",
        ),
        (
            json!({ "url": format!("{url}?k={{{{secret:TOKEN") }),
            "is named like this",
        ),
        (
            json!({ "url": format!("{url}?k={{{{secret:}}}}") }),
            "is named like this",
        ),
        (
            json!({ "url": url.as_str(), "headers": { "Host": "{{secret:TOKEN}}" } }),
            "headers cannot be set",
        ),
        (
            json!({ "url": "http://example.com/", "headers": { "A": "{{secret:TOKEN}}" } }),
            "over https only",
        ),
    ] {
        let refused = harness.refusal("web_fetch", input).await;
        assert!(refused.contains(expected), "{refused}");
    }
    let stranger = harness.call_as(Audience::Public, "web_fetch", asking(&url, "json"));
    let refused = stranger.await.unwrap_err().message;
    assert!(refused.contains("untrusted text"), "{refused}");
    let password = SecretString::from("correct horse battery");
    let owner = Actor::cli();
    harness.secrets.initialize(&owner, password).await.unwrap();
    harness.secrets.seal(&owner).await.unwrap();
    let refused = harness.refusal("web_fetch", asking(&url, "json")).await;
    assert!(refused.contains("The vault is sealed"), "{refused}");
    assert!(seen.lock().unwrap().is_empty() && other_seen.lock().unwrap().is_empty());

    // The owner withdraws the permission.
    harness.tools.update_settings(ToolsSettings::default());
    let refused = harness.refusal("web_fetch", asking(&url, "json")).await;
    assert!(refused.contains("may not be sent to"), "{refused}");
    assert!(seen.lock().unwrap().is_empty());
    harness.stop().await;
}

#[tokio::test]
async fn headers_follow_a_redirect_only_within_their_origin() {
    let (other, other_seen) = server().await;
    let (seen, to) = (Seen::default(), other.join("away").unwrap());
    let router = Router::new()
        .route("/away", get(async move || Redirect::to(to.as_str())))
        .route("/here", get(async || Redirect::to("/json")))
        .fallback(echo)
        .with_state(Arc::clone(&seen));
    let url = serve(router).await;
    let harness = open(vec![allow("TOKEN", &url)]).await;
    harness
        .call("web_fetch", asking(&url, "here"))
        .await
        .unwrap();
    let refused = harness.refusal("web_fetch", asking(&url, "away")).await;
    assert!(refused.contains("must not receive the secret"), "{refused}");
    assert!(other_seen.lock().unwrap().is_empty());
    let plain = json!({ "url": format!("{url}away"), "headers": { "X-Token": "plain" } });
    harness.call("web_fetch", plain).await.unwrap();
    assert_eq!(seen.lock().unwrap()[0].1["x-token"], TOKEN);
    let other_seen = other_seen.lock().unwrap().clone();
    assert_eq!(other_seen[0].0, "/away");
    assert!(!other_seen[0].1.contains_key("x-token"));
    harness.stop().await;
}

#[tokio::test]
async fn limits_hold_at_their_edges() {
    let (url, seen) = server().await;
    let harness = open(vec![allow("SHORT", &url), allow("LONG", &url)]).await;
    harness.set_variable("SHORT", "1234567").await;
    harness.set_variable("LONG", "12345678").await;
    let query = |name: &str| json!({ "url": format!("{url}?k={{{{secret:{name}}}}}") });
    let refused = harness.refusal("web_fetch", query("SHORT")).await;
    assert!(refused.contains("shorter than 8 bytes"), "{refused}");
    harness.call("web_fetch", query("LONG")).await.unwrap();
    let headers = |count: usize, length: usize| {
        let headers = (0..count).map(|n| (format!("X-{n}"), Value::from("x".repeat(length))));
        json!({ "url": url.as_str(), "headers": headers.collect::<serde_json::Map<_, _>>() })
    };
    harness.call("web_fetch", headers(20, 2000)).await.unwrap();
    for (count, length) in [(21, 1), (1, 2001)] {
        let refused = harness.refusal("web_fetch", headers(count, length)).await;
        assert!(refused.contains("at most 20 entries"), "{refused}");
    }
    assert_eq!(seen.lock().unwrap().len(), 2);
    harness.stop().await;
}

#[tokio::test]
async fn a_request_with_a_secret_has_an_effect_and_returns_private_data() {
    let (url, _) = server().await;
    let harness = open(vec![allow("TOKEN", &url)]).await;
    let tool = harness.agents.tools().find("web_fetch").unwrap();
    let described = tool.parameters()["properties"]["headers"]["description"].to_string();
    let listed = format!("{{{{secret:TOKEN}}}} for {}", url.authority());
    assert!(described.contains(&listed), "{described}");
    let with = [
        asking(&url, ""),
        json!({ "url": format!("{url}?k={{{{secret:TOKEN}}}}") }),
        json!({ "url": format!("{url}%7B%7Bsecret:TOKEN%7D%7D/x") }),
        json!({ "url": format!("{url}{{%7Bsecret:TOKEN}}}}/x") }),
        json!({ "url": format!("{url}?k={{{{sec\nret:TOKEN}}}}") }),
    ];
    for input in &with {
        assert_eq!(tool.effect(input, false), Effect::Change, "{input}");
        assert!(tool.returns_private(input), "{input}");
    }
    let without = json!({ "url": url.as_str(), "headers": { "Accept": "text/plain" } });
    assert_eq!(tool.effect(&without, false), Effect::None);
    assert!(!tool.returns_private(&without));
    harness.tools.update_settings(ToolsSettings::default());
    assert!(tool.parameters()["properties"].get("headers").is_none());
    harness.stop().await;
}
