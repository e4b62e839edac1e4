use super::*;
use crate::webhook::{SessionMode, WebhookAuth};
use gatehouse_domain::{Timestamp, WebhookId};
use gatehouse_sources::filter::EventFilter;
use gatehouse_sources::verify::{SignInput, VerifyInput, prove, sign};
use http::{HeaderMap, HeaderName, HeaderValue};

const URL: &str = "https://gate.example/api/webhooks/ingest/wh_a";
/// A secret that works in every mode.
const REAL: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

fn webhook(profile: &str, auth_mode: AuthMode, header: Option<&str>) -> Webhook {
    Webhook {
        id: WebhookId::from_text("hook_a"),
        public_id: "wh_a".to_owned(),
        url: Some(URL.to_owned()),
        name: "n".to_owned(),
        source_profile: profile.to_owned(),
        auth_mode,
        auth: WebhookAuth {
            header: header.map(str::to_owned),
            configured: true,
            secret_hint: None,
            awaits_secret: false,
            previous_secret_expires_at: None,
        },
        verify_token: None,
        events: EventFilter::default(),
        payload_filter: Vec::new(),
        agent: None,
        model: None,
        system_prompt_suffix: None,
        tool_policy: None,
        session_mode: SessionMode::PerDelivery,
        session_key: None,
        deliver_only: false,
        prompt_template: None,
        template_format: crate::TemplateFormat::Text,
        deliver_to: None,
        deliver_extra: None,
        rate_limit_per_minute: 60,
        max_body_bytes: 1,
        allowed_cidrs: None,
        event_header: None,
        replay_guard: gatehouse_sources::ReplayGuard::Key,
        redeliver_failed: false,
        on_limit: crate::OnLimit::Refuse,
        schedule: None,
        next_runs: None,
        enabled: true,
        paused: false,
        delivery_count: 0,
        last_delivery_at: None,
        created_at: Timestamp::from_millis(0),
        updated_at: Timestamp::from_millis(0),
    }
}

/// Returns the headers of the test command, with a real secret.
fn tried(steps: &str) -> Option<HeaderMap> {
    let (_, line) = steps.split_once("curl -X POST ")?;
    let given = line.split("-H '").skip(1);
    let pair = |given: &str| {
        let (name, value) = given.split('\'').next().unwrap().split_once(": ").unwrap();
        let value = HeaderValue::from_str(&value.replace(SECRET, REAL)).unwrap();
        (name.parse::<HeaderName>().unwrap(), value)
    };
    Some(given.map(pair).collect())
}

#[test]
fn each_mode_names_its_headers_and_a_line_to_try_is_right() {
    let senders = profile::all().iter();
    for profile in senders.filter(|profile| profile.id != profile::SCHEDULE) {
        for mode in AuthMode::all() {
            let header = mode.takes_header().then_some("X-Mine");
            let steps = steps(&webhook(profile.id, *mode, header));
            assert!(steps.contains(URL), "{steps}");
            assert!(!steps.contains("{url}") && !steps.contains("{secret}"));
            if *mode == profile.default_auth_mode && header.is_none() {
                continue;
            }
            let signed = sign(&SignInput {
                mode: *mode,
                header,
                secret: REAL,
                url: URL,
                body: b"{}",
                now_ms: 1_000,
                id: "msg_1",
            });
            for (name, _) in &signed {
                let said = steps.to_ascii_lowercase().contains(name.as_str());
                assert!(said, "{profile} {mode}: {name}\n{steps}");
            }
            assert_eq!(steps.contains(SECRET), !signed.is_empty(), "{steps}");
            let Some(headers) = tried(&steps) else {
                let says = if mode.can_sign() {
                    "HMAC-SHA"
                } else {
                    "Ed25519"
                };
                assert!(steps.contains(says), "{mode}: {steps}");
                continue;
            };
            let verified = prove(&VerifyInput {
                mode: *mode,
                header,
                secrets: &[REAL],
                headers: &headers,
                body: br#"{"hello": "world"}"#,
                url: URL,
                now_ms: 1_000,
                tracker_tolerance_seconds: 300,
            });
            assert_eq!(verified.map(drop), Ok(()), "{profile} {mode}: {steps}");
        }
    }
}

#[test]
fn modes_in_which_the_secret_itself_is_sent_have_a_line_to_try() {
    for mode in AuthMode::all() {
        let plain = ["none", "static_header", "bearer"].contains(&mode.as_str())
            || mode.as_str().ends_with("_token");
        let steps = steps(&webhook("payments", *mode, None));
        assert_eq!(tried(&steps).is_some(), plain, "{mode}: {steps}");
    }
    let bearer = steps(&webhook("generic", AuthMode::BEARER, None));
    assert!(
        bearer.contains("Authorization: Bearer <secret>"),
        "{bearer}"
    );
    assert!(!bearer.contains("X-Webhook-Secret"), "{bearer}");
}

#[test]
fn the_guide_of_the_profile_stands_where_it_fits() {
    let usual = steps(&webhook(
        "generic",
        AuthMode::STATIC_HEADER,
        Some(DEFAULT_HEADER),
    ));
    assert!(usual.contains("X-Webhook-Secret: <secret>"), "{usual}");
    assert!(usual.contains("X-Event-Type"), "{usual}");
    let own = steps(&webhook("generic", AuthMode::STATIC_HEADER, Some("X-Mine")));
    assert!(own.contains("'X-Mine: <secret>'"), "{own}");
    assert!(!own.contains("X-Webhook-Secret"), "{own}");
    let codehost = steps(&webhook(
        "codehost_a",
        "github_hmac_sha256".parse().unwrap(),
        None,
    ));
    assert!(codehost.contains("4. Secret: <secret>"), "{codehost}");
}
