//! Retries: conditions, count and delays.

use crate::harness::{Harness, ask, hello, listen, model, one, tuning};
use crate::vendor::{Answer, Then, Vendor, events};
use gatehouse_models::ModelError;
use gatehouse_models::ProviderKind::{Anthropic, Openai};
use serde_json::json;
use std::time::Duration;

const TEXT: &str = r#"{"choices":[{"index":0,"delta":{"content":"Hello"}}]}"#;

fn good() -> Answer {
    Answer::stream([events(&[TEXT, "[DONE]"])])
}

fn busy(status: u16) -> Answer {
    Answer::json(status, &json!({ "error": { "message": "busy" } }))
}

#[tokio::test]
async fn temporary_failures_are_retried() {
    for status in [429, 500, 502, 503, 529, 408] {
        let vendor = Vendor::new([busy(status), good()]).await;
        let (collected, error) = ask(Openai, &vendor).await;
        assert!(error.is_none(), "{status}: {error:?}");
        assert_eq!(collected.text, "Hello");
        let asked = vendor.asked();
        assert_eq!(asked.len(), 2);
        assert_eq!(asked[0].body, asked[1].body);
        assert_eq!(asked[0].headers, asked[1].headers);
    }
    // A connection that breaks before the first chunk is retried.
    for first in [
        Answer::stream([": wait\n\n"]).then(Then::Break),
        Answer::stream([": wait\n\n"]),
    ] {
        let vendor = Vendor::new([first, good()]).await;
        let (collected, error) = ask(Openai, &vendor).await;
        assert!(error.is_none(), "{error:?}");
        assert_eq!(collected.text, "Hello");
    }
}

#[tokio::test]
async fn what_will_not_pass_is_not() {
    let no_money = json!({ "error": { "code": "insufficient_quota", "message": "pay" } });
    for (answer, status, retryable) in [
        (busy(400), 400, false),
        (busy(401), 401, false),
        (busy(404), 404, false),
        (Answer::json(429, &no_money), 429, true),
    ] {
        let vendor = Vendor::new([answer, good()]).await;
        let (_, error) = ask(Anthropic, &vendor).await;
        let seen = matches!(error, Some(ModelError::Failed { status: Some(s), retryable: r, .. })
            if s == status && r == retryable);
        assert!(seen, "{error:?}");
        vendor.only();
    }
}

#[tokio::test]
async fn three_times_and_no_more() {
    let vendor = Vendor::new([busy(503), busy(503), busy(503), good()]).await;
    let (collected, _) = ask(Openai, &vendor).await;
    assert_eq!(collected.text, "Hello");
    let vendor = Vendor::new([busy(503), busy(503), busy(503), busy(503), good()]).await;
    let (_, error) = ask(Openai, &vendor).await;
    let expected = matches!(
        error,
        Some(ModelError::Failed {
            status: Some(503),
            retryable: true,
            ..
        })
    );
    assert!(expected, "{error:?}");
    assert_eq!(vendor.asked().len(), 4);
}

#[tokio::test]
async fn the_time_that_the_vendor_asks_for_counts() {
    let harness = Harness::new().await;
    let mut own = tuning();
    // Our own delay would be too long, so a retry proves that the provider's delay was used.
    own.timeouts.retry_base = Duration::from_hours(1);
    for (name, value, tries) in [
        ("retry-after", "0", 2),
        // The clock is set to 2026-11-20T00:00:00Z.
        ("retry-after", "Thu, 19 Nov 2026 10:00:00 GMT", 2),
        ("retry-after", "Fri, 20 Nov 2026 10:00:00 GMT", 1),
        ("retry-after-ms", "1", 2),
        ("retry-after", "21", 1),
        ("retry-after", "18446744073709551615", 1),
        ("retry-after", "nonsense", 1),
        ("x-other", "0", 1),
    ] {
        let vendor = Vendor::new([busy(429).with(name, value), good()]).await;
        let models = harness.models_with(one(Openai, &vendor.url), own.clone());
        let (_, error) = listen(&models, &model(), hello()).await;
        assert_eq!(error.is_none(), tries == 2, "{name}: {value}");
        assert_eq!(vendor.asked().len(), tries, "{name}: {value}");
    }
}

#[tokio::test]
async fn the_time_that_gemini_asks_for_in_its_error_counts() {
    let harness = Harness::new().await;
    let mut own = tuning();
    own.timeouts.retry_base = Duration::from_hours(1);
    for (delay, tries) in [("0.001s", 2), ("31s", 1)] {
        // Gemini's OpenAI-compatible API wraps errors in an array.
        let refusal = json!([{ "error": { "code": 429, "message": "quota", "status": "RESOURCE_EXHAUSTED",
            "details": [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay }] } }]);
        let vendor = Vendor::new([Answer::json(429, &refusal), good()]).await;
        let models = harness.models_with(one(Openai, &vendor.url), own.clone());
        let (_, error) = listen(&models, &model(), hello()).await;
        assert_eq!(vendor.asked().len(), tries, "{delay}");
        assert_eq!(error.is_none(), tries == 2, "{delay}");
        if let Some(error) = error {
            let problem = gatehouse_domain::Problem::from(error);
            assert_eq!(problem.details["retry_after_seconds"], 31);
            assert_eq!(problem.details["reason"], "rate_limited");
        }
    }
}

#[tokio::test]
async fn no_try_begins_after_its_time() {
    let harness = Harness::new().await;
    let mut short = tuning();
    short.timeouts.retries_total = Duration::ZERO;
    short.timeouts.retry_base = Duration::from_millis(1);
    let vendor = Vendor::new([busy(503), good()]).await;
    let models = harness.models_with(one(Openai, &vendor.url), short);
    let (_, error) = listen(&models, &model(), hello()).await;
    assert!(error.is_some());
    vendor.only();
}
