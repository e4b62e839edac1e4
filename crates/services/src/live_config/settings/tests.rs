//! Tests of the parent module.

use super::*;
use crate::live_config::auth_settings;
use gatehouse_config::{Environment, Invocation};
use serde_json::json;

fn layers(variables: &[(&str, &str)]) -> Layers {
    let environment = Environment::from_pairs(variables.iter().copied());
    let invocation = Invocation {
        data_dir: Some(std::env::temp_dir()),
        ..Default::default()
    };
    Layers::load(&environment, &invocation).unwrap()
}

fn resolved(layers: &Layers, rows: &[(&str, serde_json::Value)]) -> Resolved {
    let rows = rows
        .iter()
        .map(|(key, value)| ((*key).to_owned(), value.clone()));
    layers.resolve(&rows.collect::<BTreeMap<_, _>>()).unwrap()
}

/// Browsers may use another name of the certificate, or a port other than the one that is forwarded.
#[test]
fn the_name_of_a_certificate_is_the_public_url_and_restricts_no_origins() {
    let acme = [
        ("SERVICE_SERVER__TLS__ACME__DOMAINS", "a.example,b.example"),
        ("SERVICE_SERVER__TLS__ACME__EMAIL", "a@a.example"),
    ];
    let found = |variables: &[(&str, &str)]| {
        let layers = layers(variables);
        let resolved = resolved(&layers, &[]);
        let of_auth = auth_settings(&resolved, &layers).external_url;
        (base_url(&resolved.settings), of_auth.is_some())
    };
    assert_eq!(found(&acme), ("https://a.example".to_owned(), false));
    let [domains, email] = acme;
    let given = ("SERVICE_SERVER__EXTERNAL_URL", "https://a.example:8443");
    assert_eq!(
        found(&[domains, email, given]),
        ("https://a.example:8443".to_owned(), true)
    );
}

#[test]
fn a_key_does_not_follow_an_address_or_kind_that_was_set_at_run_time() {
    let layers = layers(&[
        ("OPENAI_API_KEY", "from-environment"),
        ("SERVICE_MODELS__PROVIDERS__OPENAI__API_KEY", "given"),
        ("SERVICE_MODELS__PROVIDERS__OPENAI__HEADERS", "x-key=given"),
    ]);
    let keys = |rows: &[(&str, serde_json::Value)]| {
        let made = models_settings(&resolved(&layers, rows), &layers);
        let provider = made.providers.get("openai").unwrap();
        assert_eq!(provider.headers.is_empty(), provider.api_key.is_none());
        (provider.api_key.is_some(), made.openai_api_key.is_some())
    };
    let base_url = "models.providers.openai.base_url";
    assert_eq!(keys(&[]), (true, true));
    let same = json!("https://api.openai.com/v2");
    assert_eq!(keys(&[(base_url, same)]), (true, true));
    let moved = json!("https://elsewhere.example/v1");
    assert_eq!(keys(&[(base_url, moved)]), (false, false));
    let kind = ("models.providers.openai.kind", json!("anthropic"));
    assert_eq!(keys(std::slice::from_ref(&kind)), (false, false));
    // A different kind is a different service, even at the same URL.
    let same = (base_url, json!("https://api.openai.com/v1"));
    assert_eq!(keys(&[kind, same]), (false, false));
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test without async code")]
fn headers_of_an_mcp_server_do_not_follow_an_address_that_was_set_at_run_time() {
    let directory = tempfile::tempdir().unwrap();
    let file = "[mcp.servers.far]\nurl = \"https://mcp.example/a\"\n\
                headers = { x-key = \"given\", x-other = \"1\" }";
    std::fs::write(directory.path().join("gatehouse.toml"), file).unwrap();
    let invocation = Invocation {
        data_dir: Some(directory.path().to_path_buf()),
        ..Default::default()
    };
    let layers = Layers::load(&Environment::from_pairs([("", ""); 0]), &invocation).unwrap();
    let names = |rows: &[(&str, serde_json::Value)]| {
        let made = tools_settings(&resolved(&layers, rows), &layers);
        match made.mcp_servers.get("far") {
            Some(config::McpServer::Url { headers, .. }) => {
                headers.keys().cloned().collect::<Vec<_>>()
            }
            other => panic!("{other:?}"),
        }
    };
    let url = |text: &str| ("mcp.servers.far.url", json!(text));
    assert_eq!(names(&[]), ["x-key", "x-other"]);
    assert_eq!(names(&[url("https://mcp.example/b")]), ["x-key", "x-other"]);
    assert_eq!(names(&[url("https://evil.example/a")]).len(), 0);
}

#[test]
fn a_key_of_the_search_service_does_not_follow_another_one() {
    let key = ("SERVICE_TOOLS__WEB_SEARCH__API_KEY", "given");
    let brave = ("tools.web_search.provider", json!("brave"));
    let base_url = "tools.web_search.base_url";
    let has_key = |layers: &Layers, rows: &[(&str, serde_json::Value)]| {
        let made = tools_settings(&resolved(layers, rows), layers);
        made.web_search.api_key.is_some()
    };
    let written = layers(&[key, ("SERVICE_TOOLS__WEB_SEARCH__PROVIDER", "brave")]);
    assert!(has_key(&written, &[]));
    assert!(!has_key(
        &written,
        &[(base_url, json!("https://evil.example"))]
    ));
    let own = json!("https://api.search.brave.com");
    assert!(has_key(&written, &[(base_url, own)]));
    // No setting states which service the key is for.
    let alone = layers(&[key]);
    assert!(!has_key(&alone, &[brave]));
    let toml = layers(&[key, ("SERVICE_TOOLS__WEB_SEARCH__BASE_URL", "http://h")]);
    let tavily = ("tools.web_search.provider", json!("tavily"));
    assert!(!has_key(&toml, &[tavily]));
}
