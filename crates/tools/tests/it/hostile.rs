//! Runs the hostile corpus against the tools. No spelling of a private address is ever connected to, and no text
//! crashes a tool.

use crate::harness::{Harness, serve};
use axum::Router;
use futures_util::future::join_all;
use gatehouse_tools::ToolsSettings;
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeSet;
use std::net::{Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::net::TcpListener;

#[derive(Deserialize)]
struct Entry {
    family: String,
    text: String,
}

fn corpus() -> Vec<Entry> {
    serde_json::from_str(include_str!("../hostile/corpus.json")).unwrap()
}

#[test]
fn the_corpus_is_whole() {
    let corpus = corpus();
    let families: BTreeSet<_> = corpus.iter().map(|entry| entry.family.as_str()).collect();
    assert!(corpus.len() >= 200, "{}", corpus.len());
    for family in [
        "gain_tools",
        "fence_escape",
        "hyphen_lines",
        "fake_system",
        "mass_ping",
        "markup",
        "template",
        "control",
        "bidi",
        "zero_width",
        "unicode",
        "huge",
        "url_private",
        "url_metadata",
        "url_tricks",
        "url_rebinding",
        "url_in_text",
    ] {
        assert!(families.contains(family), "{family}");
    }
}

/// Counts connections to any address of this machine.
#[expect(clippy::disallowed_methods, reason = "it ends with its test's runtime")]
async fn trap() -> (u16, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let v4 = TcpListener::bind("0.0.0.0:0").await.unwrap();
    let port = v4.local_addr().unwrap().port();
    let v6 = TcpListener::bind(SocketAddr::from((Ipv6Addr::LOCALHOST, port))).await;
    for listener in [Some(v4), v6.ok()].into_iter().flatten() {
        let count = Arc::clone(&count);
        tokio::spawn(async move {
            while listener.accept().await.is_ok() {
                count.fetch_add(1, Ordering::SeqCst);
            }
        });
    }
    (port, count)
}

#[tokio::test]
async fn no_spelling_of_a_private_address_is_connected_to() {
    let harness = Harness::open(false, ToolsSettings::default()).await;
    let (port, count) = trap().await;
    let urls: Vec<String> = corpus()
        .into_iter()
        .filter(|entry| entry.family.starts_with("url_") && entry.family != "url_in_text")
        .map(|entry| entry.text.replace("{port}", &port.to_string()))
        .collect();
    assert!(urls.len() > 100);
    let fetch = async |url: &String| {
        (
            url.clone(),
            harness.call("web_fetch", json!({"url": url})).await,
        )
    };
    for (url, fetched) in join_all(urls.iter().map(fetch)).await {
        assert!(fetched.is_err(), "{url:?} was fetched");
    }
    assert_eq!(count.load(Ordering::SeqCst), 0);
    // Check that the trap itself works.
    let open = Harness::open(true, ToolsSettings::default()).await;
    let url = format!("http://127.0.0.1:{port}/");
    let fetched = tokio::time::timeout(
        std::time::Duration::from_secs(5),
        open.call("web_fetch", json!({ "url": url })),
    );
    tokio::select! {
        _ = fetched => {},
        () = async { while count.load(Ordering::SeqCst) == 0 { tokio::task::yield_now().await; } } => {},
    }
    assert_eq!(count.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn metadata_stays_closed_when_private_addresses_are_open() {
    let harness = Harness::open(true, ToolsSettings::default()).await;
    let texts = corpus()
        .into_iter()
        .filter(|entry| entry.family == "url_metadata");
    for entry in texts.filter(|entry| {
        !entry.text.contains("192.0.0.192") && !entry.text.contains("instance-data")
    }) {
        let url = entry.text.replace("{port}", "80");
        let refusal = harness.refusal("web_fetch", json!({ "url": url })).await;
        assert!(refusal.contains("must not be called"), "{url}: {refusal}");
    }
}

#[tokio::test]
async fn no_text_brings_a_tool_down() {
    let harness = Harness::open(true, ToolsSettings::default()).await;
    let entries = Arc::new(corpus());
    let pages = Arc::clone(&entries);
    let page = async move |axum::extract::Path(index): axum::extract::Path<usize>| {
        axum::response::Html(pages[index].text.clone())
    };
    let base = serve(Router::new().route("/{index}", axum::routing::get(page))).await;
    for (index, entry) in entries.iter().enumerate() {
        let url = base.join(&index.to_string()).unwrap();
        let answer = harness
            .call("web_fetch", json!({"url": url.as_str(), "max_chars": 5000}))
            .await;
        let answer = answer.unwrap_or_else(|error| panic!("{}: {error}", entry.text));
        let (_, text) = answer.split_once("\n\n").unwrap();
        let text = text.split("\n[cut; ").next().unwrap();
        assert!(text.chars().count() <= 5000);
        let steers = |c: char| {
            c.is_control() && c != '\n' && c != '\t' || ('\u{202a}'..='\u{202e}').contains(&c)
        };
        assert!(!answer.chars().any(steers), "{answer:?}");
        if entry.text.chars().count() < 400 {
            let _ = harness
                .call("calc", json!({"expression": entry.text}))
                .await;
        }
    }
    assert!(
        harness
            .call("calc", json!({"expression": "1"}))
            .await
            .is_ok()
    );
}
