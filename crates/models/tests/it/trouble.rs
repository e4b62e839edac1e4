//! Invalid answers, and callers that disconnect.

use crate::harness::{Harness, ask, hello, listen, model, one, provider, tuning};
use crate::vendor::{Answer, Then, Vendor, events, nobody};
use futures_util::StreamExt;
use gatehouse_domain::Problem;
use gatehouse_models::ProviderKind::{Anthropic, Openai};
use gatehouse_models::{Chunk, ModelError, ModelsSettings};
use serde_json::json;
use std::time::Duration;
use url::Url;

const TEXT: &str = r#"{"choices":[{"index":0,"delta":{"content":"Hello"}}]}"#;

fn is_failed(error: Option<&ModelError>, status: Option<u16>, retryable: bool) -> bool {
    matches!(error, Some(ModelError::Failed { provider, status: s, retryable: r, .. })
        if provider == "p" && *s == status && *r == retryable)
}

#[tokio::test]
async fn an_unreadable_response_is_not_retried() {
    for text in [
        "data: {broken\n\n".to_owned(),
        "data: 5\n\n".to_owned(),
        "data: {\"choices\": 7}\n\n".to_owned(),
        "data: {\"choices\": [{\"delta\": {\"content\": {}}}]}\n\n".to_owned(),
        format!("{}data: \u{0}\n\n", events(&[TEXT])),
        events(&[&"[".repeat(500)]),
    ] {
        let vendor = Vendor::new([Answer::stream([&text])]).await;
        let (collected, error) = ask(Openai, &vendor).await;
        assert!(is_failed(error.as_ref(), None, false), "{text}: {error:?}");
        assert!(collected.end.is_none());
        vendor.only();
    }
    for text in [
        "data: {}\n\n",
        "data: {\"type\":\"message_delta\"}\n\n",
        "data: <html>\n\n",
    ] {
        let vendor = Vendor::new([Answer::stream([text])]).await;
        let (_, error) = ask(Anthropic, &vendor).await;
        assert!(is_failed(error.as_ref(), None, false), "{text}: {error:?}");
    }
}

#[tokio::test]
async fn an_answer_without_an_end_is_an_error() {
    let begun = events(&[TEXT]);
    for then in [Then::End, Then::Break] {
        let vendor = Vendor::new([Answer::stream([&begun]).then(then.clone())]).await;
        let (collected, error) = ask(Openai, &vendor).await;
        assert_eq!(collected.text, "Hello");
        assert!(is_failed(error.as_ref(), None, true), "{then:?}: {error:?}");
        vendor.only();
    }
    // The connection may break in the middle of a line. Half a frame is not garbage.
    let vendor = Vendor::new([Answer::stream([&format!("{begun}data: {{\"cho")])]).await;
    let (_, error) = ask(Openai, &vendor).await;
    assert!(is_failed(error.as_ref(), None, true), "{error:?}");
}

#[tokio::test]
async fn a_page_instead_of_a_stream_is_an_error() {
    let page = Answer::stream(["<html><body>Welcome</body></html>"]);
    let vendor = Vendor::new(vec![page; 4]).await;
    let (_, error) = ask(Openai, &vendor).await;
    assert!(is_failed(error.as_ref(), None, true), "{error:?}");
}

#[tokio::test]
async fn nobody_listens() {
    let harness = Harness::new().await;
    let models = harness.models(one(Openai, &nobody().await));
    let (_, error) = listen(&models, &model(), hello()).await;
    assert!(is_failed(error.as_ref(), None, true), "{error:?}");
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = Vendor::new([]).await;
    let moved = Answer::json(307, &json!({})).with("location", elsewhere.url.as_str());
    let vendor = Vendor::new([moved]).await;
    let (_, error) = ask(Openai, &vendor).await;
    assert!(is_failed(error.as_ref(), Some(307), false), "{error:?}");
    assert!(elsewhere.asked().is_empty());
}

#[tokio::test]
async fn an_address_of_a_metadata_service_is_not_called() {
    let harness = Harness::new().await;
    let url = Url::parse("http://169.254.169.254/v1").unwrap();
    let mut settings = ModelsSettings::default();
    settings
        .providers
        .insert("p".to_owned(), provider(Openai, &url, Some("k")));
    let (_, error) = listen(&harness.models(settings), &model(), hello()).await;
    assert!(
        matches!(error, Some(ModelError::RefusedAddress { .. })),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_vendors_text_is_never_reported() {
    let words = json!({ "error": { "message": "your key sk-test said SECRET", "code": "x" } });
    for (kind, status) in [(Openai, 401), (Anthropic, 400), (Openai, 418)] {
        let vendor = Vendor::new([Answer::json(status, &words)]).await;
        let (_, error) = ask(kind, &vendor).await;
        assert!(is_failed(error.as_ref(), Some(status), false), "{error:?}");
        let error = error.unwrap();
        let (shown, debug) = (error.to_string(), format!("{error:?}"));
        let problem = Problem::from(error);
        let received = format!("{problem:?} {shown} {debug}");
        assert!(
            !received.contains("SECRET") && !received.contains("sk-test"),
            "{received}"
        );
        assert_eq!(problem.code.name(), "PROVIDER_FAILED");
        assert_eq!(problem.details["provider"], "p");
        assert_eq!(problem.details["retryable"], false);
    }
}

#[tokio::test]
async fn a_conversation_that_is_too_long_has_an_error_of_its_own() {
    for (kind, status, error) in [
        (
            Openai,
            400,
            json!({ "error": { "code": "context_length_exceeded", "message": "x" } }),
        ),
        (
            Openai,
            400,
            json!({ "error": { "code": 400, "type": "exceed_context_size_error", "n_ctx": 512 } }),
        ),
        (
            Anthropic,
            400,
            json!({ "type": "error", "error": { "type": "invalid_request_error", "message": "prompt is too long: 201000 tokens > 200000 maximum" } }),
        ),
        (Anthropic, 413, json!({})),
    ] {
        let vendor = Vendor::new([Answer::json(status, &error)]).await;
        let (_, seen) = ask(kind, &vendor).await;
        assert!(
            matches!(seen, Some(ModelError::ContextTooLong { .. })),
            "{error}: {seen:?}"
        );
        vendor.only();
    }
    // The same applies within a stream.
    let frame = json!({ "error": { "code": "context_length_exceeded" } }).to_string();
    let vendor = Vendor::new([Answer::stream([events(&[&frame])])]).await;
    let (_, seen) = ask(Openai, &vendor).await;
    assert!(
        matches!(seen, Some(ModelError::ContextTooLong { .. })),
        "{seen:?}"
    );
}

#[tokio::test]
async fn a_vendor_that_says_nothing() {
    let harness = Harness::new().await;
    let begun = events(&[TEXT]);
    let mut short = tuning();
    short.timeouts.first = Duration::from_millis(50);
    short.timeouts.idle = Duration::from_millis(50);
    for (answer, heard) in [
        (Answer::stream([""; 0]).then(Then::Hang), ""),
        (Answer::stream([&begun]).then(Then::Hang), "Hello"),
    ] {
        let vendor = Vendor::new([answer]).await;
        let models = harness.models_with(one(Openai, &vendor.url), short.clone());
        let (collected, error) = listen(&models, &model(), hello()).await;
        assert_eq!(collected.text, heard);
        assert!(
            matches!(error, Some(ModelError::Timeout { .. })),
            "{error:?}"
        );
        vendor.only();
    }
}

#[tokio::test]
async fn a_vendor_that_never_ends() {
    let harness = Harness::new().await;
    let mut short = tuning();
    short.timeouts.whole = Duration::from_millis(200);
    // Comments keep a connection alive, but only for a limited time.
    let vendor = Vendor::new([Answer::stream([""; 0]).then(Then::Repeat(": wait\n\n"))]).await;
    let mut wide = short.clone();
    wide.limits.reply_bytes = usize::MAX;
    let models = harness.models_with(one(Openai, &vendor.url), wide);
    let (_, error) = listen(&models, &model(), hello()).await;
    assert!(
        matches!(error, Some(ModelError::Timeout { .. })),
        "{error:?}"
    );
    // Endless text, an endless line and an endless event stop at their limits.
    for repeated in [
        "data: {\"choices\":[{\"delta\":{\"content\":\"xxxxxxxxxxxxxxxx\"}}]}\n\n",
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "data: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n",
    ] {
        let vendor = Vendor::new([Answer::stream([""; 0]).then(Then::Repeat(repeated))]).await;
        let models = harness.models_with(one(Openai, &vendor.url), tuning());
        let (_, error) = listen(&models, &model(), hello()).await;
        assert!(
            is_failed(error.as_ref(), None, false),
            "{repeated}: {error:?}"
        );
    }
}

#[tokio::test]
async fn letting_an_answer_go_closes_its_connection() {
    let harness = Harness::new().await;
    let begun = events(&[TEXT]);
    let mut vendor = Vendor::new([Answer::stream([&begun]).then(Then::Hang)]).await;
    let models = harness.models(one(Openai, &vendor.url));
    let mut stream = models.chat(&model(), hello()).await.unwrap();
    assert_eq!(
        stream.next().await.unwrap().unwrap(),
        Chunk::Text("Hello".to_owned())
    );
    drop(stream);
    vendor.body_dropped().await;
    // Also before the first chunk.
    vendor.then_answers(Answer::stream([": nothing yet\n\n"]).then(Then::Hang));
    {
        let model = model();
        let chat = models.chat(&model, hello());
        tokio::pin!(chat);
        while vendor.asked().len() < 2 {
            tokio::select! {
                _ = &mut chat => panic!("an answer that was never given"),
                () = tokio::task::yield_now() => {}
            }
        }
    }
    vendor.body_dropped().await;
}

#[tokio::test]
async fn a_finished_answer_closes_its_connection_even_when_the_vendor_does_not() {
    let harness = Harness::new().await;
    let whole = events(&[TEXT, "[DONE]"]);
    let mut vendor = Vendor::new([Answer::stream([&whole]).then(Then::Hang)]).await;
    let models = harness.models(one(Openai, &vendor.url));
    let mut stream = models.chat(&model(), hello()).await.unwrap();
    let mut last = None;
    while let Some(item) = stream.next().await {
        last = Some(item.unwrap());
    }
    assert!(matches!(last, Some(Chunk::End { .. })));
    // The stream is still held.
    vendor.body_dropped().await;
    drop(stream);
}
