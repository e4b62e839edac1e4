//! The handshakes of each vendor that has one. Values that vendors compute are recomputed with `openssl`.

use super::*;
use crate::profile::find;
use http::HeaderValue;
use serde_json::json;
use std::process::Command;

fn ask(profile: &str, headers: &HeaderMap, body: &Value) -> Option<HandshakeReply> {
    let profile = find(profile).unwrap();
    handshake(&HandshakeInput {
        profile,
        mode: profile.default_auth_mode,
        headers,
        payload: &Payload::from_json(&body.to_string()).unwrap(),
        secret: Some("s3cret of ours"),
    })
}

fn openssl_hmac(key: &str, text: &str) -> String {
    let command =
        format!("printf '%s' '{text}' | openssl dgst -sha256 -hmac '{key}' | sed 's/^.* //'");
    let output = Command::new("sh").args(["-c", &command]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn slack_proves_its_address() {
    let of = |profile, body: Value| ask(profile, &HeaderMap::new(), &body);
    let proof = json!({ "type": "url_verification", "challenge": "abc", "token": "t" });
    let echo = HandshakeReply::Json(json!({ "challenge": "abc" }));
    assert_eq!(of("slack", proof.clone()), Some(echo));
    assert_eq!(of("generic", proof), None);
    for other in [
        json!({ "type": "event_callback", "challenge": "abc" }),
        json!({ "type": "url_verification", "challenge": 7 }),
        json!({ "type": "url_verification" }),
    ] {
        assert_eq!(of("slack", other), None);
    }
    let echo = |chars| json!({ "type": "url_verification", "challenge": "c".repeat(chars) });
    assert!(of("slack", echo(MAX_ECHO_CHARS)).is_some());
    assert!(of("slack", echo(MAX_ECHO_CHARS + 1)).is_none());
}

#[test]
fn zoom_gets_the_token_and_its_hmac() {
    let plain = "qgg8vlvZRS6UYooatFL8Aw";
    let body = json!({ "event": "endpoint.url_validation", "payload": { "plainToken": plain }, "event_ts": 1 });
    let reply = ask("zoom", &HeaderMap::new(), &body);
    let encrypted = openssl_hmac("s3cret of ours", plain);
    assert_eq!(encrypted.len(), 64);
    let expected = json!({ "plainToken": plain, "encryptedToken": encrypted });
    assert_eq!(reply, Some(HandshakeReply::Json(expected)));
    let other = json!({ "event": "meeting.started", "payload": { "plainToken": plain } });
    assert_eq!(ask("zoom", &HeaderMap::new(), &other), None);
}

#[test]
fn twitch_gets_its_challenge_as_text() {
    let headers = |kind: &'static str| {
        let name = "twitch-eventsub-message-type";
        let mut headers = HeaderMap::new();
        headers.insert(name, HeaderValue::from_static(kind));
        headers
    };
    let body = json!({ "challenge": "pogchamp-kappa-360noscope-vohiyo", "subscription": {} });
    assert_eq!(
        ask("twitch", &headers("webhook_callback_verification"), &body),
        Some(HandshakeReply::Text(
            "pogchamp-kappa-360noscope-vohiyo".to_owned()
        ))
    );
    assert_eq!(ask("twitch", &headers("notification"), &body), None);
    assert_eq!(ask("twitch", &HeaderMap::new(), &body), None);
    let odd = json!({ "challenge": "a\r\nb" });
    assert_eq!(
        ask("twitch", &headers("webhook_callback_verification"), &odd),
        None
    );
}

#[test]
fn discord_gets_a_pong() {
    let of = |body: Value| ask("discord_interactions", &HeaderMap::new(), &body);
    let pong = HandshakeReply::Json(json!({ "type": 1 }));
    assert_eq!(of(json!({ "type": 1, "id": "1" })), Some(pong));
    assert_eq!(of(json!({ "type": 2, "id": "1" })), None);
    assert_eq!(of(json!({ "type": 11 })), None);
}

fn hub(token: &str, challenge: &str) -> HubRequest {
    HubRequest {
        mode: Some("subscribe".to_owned()),
        token: Some(token.to_owned()),
        challenge: Some(challenge.to_owned()),
    }
}

#[test]
fn a_hub_gets_its_challenge_for_the_token_alone() {
    let token = verify_token("app secret", "wh_1");
    let expected = openssl_hmac("app secret", "gatehouse verify token\nwh_1");
    assert_eq!(token, expected[..32]);
    let answer = |request: &HubRequest| answer_hub(request, &["app secret"], "wh_1");
    assert_eq!(
        answer(&hub(&token, "1158201444")),
        Ok("1158201444".to_owned())
    );
    // The token of another webhook or of another secret, a part of the token, a longer token, and no token.
    for wrong in [
        &*verify_token("app secret", "wh_2"),
        &*verify_token("another", "wh_1"),
        &token[..31],
        &format!("{token}0"),
        "",
        "app secret",
    ] {
        assert_eq!(answer(&hub(wrong, "1")), Err(VerifyError::Wrong), "{wrong}");
    }
    let missing = HubRequest {
        token: None,
        ..hub("", "1")
    };
    assert_eq!(answer(&missing), Err(VerifyError::Missing));
    let unsubscribe = HubRequest {
        mode: Some("unsubscribe".to_owned()),
        ..hub(&token, "1")
    };
    assert_eq!(answer(&unsubscribe), Err(VerifyError::Malformed));
    for odd in [
        "",
        "<script>",
        "a b",
        "a\r\nb",
        &"1".repeat(MAX_ECHO_CHARS + 1),
    ] {
        assert_eq!(
            answer(&hub(&token, odd)),
            Err(VerifyError::Malformed),
            "{odd}"
        );
    }
    assert!(answer(&hub(&token, &"1".repeat(MAX_ECHO_CHARS))).is_ok());
    assert_eq!(
        answer_hub(&hub(&token, "1"), &[], "wh_1"),
        Err(VerifyError::NoSecret)
    );
    assert!(answer_hub(&hub(&token, "1"), &["new", "app secret"], "wh_1").is_ok());
}

#[test]
fn a_hubs_query_is_read() {
    let query = "hub.mode=subscribe&hub.verify_token=a%2Bb&hub.challenge=1&x=y";
    let read = HubRequest::parse(query);
    assert!(read == hub("a+b", "1"));
    assert!(HubRequest::parse("") == HubRequest::default());
}
