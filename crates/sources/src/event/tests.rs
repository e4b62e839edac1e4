//! Tests for event types, keys and recorded headers, with constructed deliveries.

use http::{HeaderName, HeaderValue};
use serde_json::{Value, json};

use super::*;
use crate::profile::find;

mod shopify;

const BODY_HASH: &str = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";

fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
    pairs
        .iter()
        .map(|(name, value)| {
            (
                name.parse::<HeaderName>().unwrap(),
                HeaderValue::from_bytes(value.as_bytes()).unwrap(),
            )
        })
        .collect()
}

fn read_as(profile: &str, own: Option<&str>, pairs: &[(&str, &str)], body: &Value) -> Event {
    let profile = find(profile).unwrap();
    let body = body.to_string();
    let payload = Payload::from_json(&body).unwrap();
    read(profile, own, &headers(pairs), &payload, body.as_bytes())
}

fn type_of(profile: &str, pairs: &[(&str, &str)], body: &Value) -> Option<String> {
    read_as(profile, None, pairs, body).event_type
}

fn entity_of(profile: &str, pairs: &[(&str, &str)], body: &Value) -> Option<String> {
    read_as(profile, None, pairs, body).entity_key
}

fn key_of(profile: &str, pairs: &[(&str, &str)], body: &Value) -> Option<String> {
    read_as(profile, None, pairs, body).delivery_key
}

#[test]
fn codehost_a_adds_the_action_and_the_neutral_header_wins() {
    let body = json!({ "action": "opened" });
    let both = [
        ("x-github-event", "issues"),
        ("x-codehost-a-event", "pull_request"),
    ];
    assert_eq!(
        type_of("codehost_a", &both, &body),
        Some("pull_request.opened".into())
    );
    assert_eq!(
        type_of("github", &both[..1], &body),
        Some("issues.opened".into())
    );
    assert_eq!(
        type_of("github", &both[..1], &json!({})),
        Some("issues".into())
    );
    assert_eq!(
        type_of("github", &both[..1], &json!({ "action": 7 })),
        Some("issues".into())
    );
    assert_eq!(type_of("github", &[], &body), None);
    let empty = [("x-codehost-a-event", " "), ("x-github-event", "push")];
    assert_eq!(type_of("github", &empty, &json!({})), Some("push".into()));
}

#[test]
fn codehost_a_takes_the_action_of_a_form_too() {
    let profile = find("github").unwrap();
    let body = b"payload=%7B%22action%22%3A%22opened%22%7D";
    let headers = headers(&[("x-github-event", "issues")]);
    let payload = Payload::read(profile.body, body).unwrap();
    let event = read(profile, None, &headers, &payload, body);
    assert_eq!(event.event_type, Some("issues.opened".into()));
}

#[test]
fn codehost_b_translates_its_hooks() {
    let open = json!({ "object_attributes": { "action": "open" } });
    for (header, body, expected) in [
        ("Merge Request Hook", &open, "merge_request.open"),
        ("Issue Hook", &open, "issue.open"),
        ("Confidential Issue Hook", &open, "issue.open"),
        ("Push Hook", &open, "push"),
        ("Note Hook", &open, "note"),
        ("Confidential Note Hook", &open, "note"),
        ("Pipeline Hook", &open, "pipeline"),
        ("Tag Push Hook", &open, "tag_push"),
        ("Job Hook", &open, "job"),
        ("Deployment Hook", &open, "deployment"),
        ("Wiki Page Hook", &open, "wiki_page"),
        (
            "Release Hook",
            &json!({ "action": "create" }),
            "release.create",
        ),
        (
            "Merge Request Hook",
            &json!({ "action": "merge" }),
            "merge_request.merge",
        ),
        (
            "System Hook",
            &json!({ "event_name": "project_create" }),
            "system.project_create",
        ),
        (
            "System Hook",
            &json!({ "object_kind": "merge_request" }),
            "system.merge_request",
        ),
        ("Brand New Thing Hook", &json!({}), "brand_new_thing"),
        // These names are already in the profile's list.
        ("merge_request.open", &open, "merge_request.open"),
        ("push", &json!({ "action": "x" }), "push"),
        ("note", &json!({ "action": "x" }), "note"),
        ("merge_request", &open, "merge_request.open"),
        ("issue", &open, "issue.open"),
    ] {
        let event = type_of("codehost_b", &[("x-codehost-b-event", header)], body);
        assert_eq!(event.as_deref(), Some(expected), "{header}");
        let theirs = type_of("gitlab", &[("x-gitlab-event", header)], body);
        assert_eq!(theirs, event, "{header}");
    }
    assert_eq!(type_of("gitlab", &[], &open), None);
}

#[test]
fn other_event_types() {
    let typed = json!({ "type": "invoice.paid" });
    assert_eq!(
        type_of("payments", &[], &typed),
        Some("invoice.paid".into())
    );
    assert_eq!(type_of("payments", &[], &json!({ "type": ["a"] })), None);
    let incident = json!({ "event": { "event_type": "incident.triggered" } });
    assert_eq!(
        type_of("incident", &[], &incident),
        Some("incident.triggered".into())
    );
    let created = json!({ "action": "created" });
    let resource = [("sentry-hook-resource", "issue")];
    assert_eq!(
        type_of("sentry", &resource, &created),
        Some("issue.created".into())
    );
    let linear = [("linear-event", "Issue")];
    let body = json!({ "action": "create", "type": "Comment" });
    assert_eq!(
        type_of("linear", &linear, &body),
        Some("Issue.create".into())
    );
    assert_eq!(type_of("linear", &[], &body), Some("Comment.create".into()));
    let message = json!({ "type": "event_callback", "event": { "type": "message", "subtype": "bot_message" } });
    assert_eq!(
        type_of("slack", &[], &message),
        Some("message.bot_message".into())
    );
    let mention = json!({ "event": { "type": "app_mention", "subtype": "x" } });
    assert_eq!(type_of("slack", &[], &mention), Some("app_mention".into()));
    let topic = [("x-shopify-topic", "orders/create")];
    assert_eq!(
        type_of("shopify", &topic, &json!({})),
        Some("orders/create".into())
    );
    let sms = json!({ "SmsStatus": "received", "Body": "hi" });
    assert_eq!(
        type_of("twilio", &[], &sms),
        Some("message.received".into())
    );
    let call = json!({ "CallStatus": "ringing" });
    assert_eq!(type_of("twilio", &[], &call), Some("call.ringing".into()));
}

#[test]
fn generic_has_its_own_header_first_then_the_two_common_ones() {
    let pairs = [
        ("x-webhook-event", "c"),
        ("x-event-type", "b"),
        ("x-mine", "a"),
    ];
    let of = |own, pairs: &[(&str, &str)]| read_as("generic", own, pairs, &json!({})).event_type;
    assert_eq!(of(Some("X-Mine"), &pairs), Some("a".into()));
    assert_eq!(of(Some("x-absent"), &pairs), Some("b".into()));
    assert_eq!(of(None, &pairs), Some("b".into()));
    assert_eq!(of(None, &pairs[..1]), Some("c".into()));
    assert_eq!(of(None, &[]), None);
    let author = [("x-author-event", "d")];
    assert_eq!(of(Some("X-Author-Event"), &author), Some("d".into()));
    let elsewhere = read_as("codehost_a", Some("x-mine"), &pairs, &json!({}));
    assert_eq!(elsewhere.event_type, None);
}

#[test]
fn a_credential_is_never_read_as_an_event_type_nor_kept() {
    let profile = find("generic").unwrap();
    for name in [
        "Authorization",
        "cookie",
        "X-Webhook-Secret",
        "x-api-key",
        "X-Hub-Signature-256",
    ] {
        let pairs = [(name, "secret-value"), ("x-event-type", "b")];
        let event = read_as("generic", Some(name), &pairs, &json!({}));
        assert_eq!(event.event_type, Some("b".into()), "{name}");
        let kept = safe_headers(profile, Some(name), &headers(&pairs));
        assert_eq!(
            kept.into_iter().collect::<Vec<_>>(),
            [("x-event-type".into(), "b".into())]
        );
    }
}

#[test]
fn kept_headers_are_event_type_delivery_id_and_content_type() {
    let pairs = [
        ("content-type", "application/json"),
        ("x-github-event", "push"),
        ("x-github-delivery", "1"),
        ("x-hub-signature-256", "sha256=00"),
        ("authorization", "Bearer x"),
        ("user-agent", "x"),
    ];
    let kept = safe_headers(find("github").unwrap(), None, &headers(&pairs));
    let names: Vec<_> = kept.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        ["content-type", "x-github-delivery", "x-github-event"]
    );
    let own = [("x-mine", "a\tb\u{202e}c")];
    let kept = safe_headers(find("generic").unwrap(), Some("X-Mine"), &headers(&own));
    assert_eq!(kept.get("x-mine").map(String::as_str), Some("abc"));
    let signed = [("svix-id", "msg_\t1"), ("svix-signature", "v1,x")];
    let ids = crate::verify::id_headers(crate::auth_mode::AuthMode::STANDARD_WEBHOOKS);
    let kept = named_headers(ids, &headers(&signed));
    assert_eq!(
        kept.into_iter().collect::<Vec<_>>(),
        [("svix-id".into(), "msg_1".into())]
    );
}

#[test]
fn delivery_keys_are_exactly_those_specified() {
    let nothing = json!({});
    for (name, value) in [("x-codehost-a-delivery", "1"), ("x-github-delivery", "2")] {
        assert_eq!(
            key_of("codehost_a", &[(name, value)], &nothing),
            Some(value.into())
        );
    }
    let both = [("x-github-delivery", "2"), ("x-codehost-a-delivery", "1")];
    assert_eq!(key_of("codehost_a", &both, &nothing), Some("1".into()));
    assert_eq!(key_of("codehost_a", &[], &nothing), None);
    assert_eq!(
        key_of("codehost_b", &[("idempotency-key", "k")], &nothing),
        Some("k".into())
    );
    let shared = [("x-gitlab-event-uuid", "u"), ("x-gitlab-webhook-uuid", "w")];
    assert_eq!(
        key_of("codehost_b", &shared, &nothing),
        Some(BODY_HASH.into())
    );
    assert_eq!(
        key_of("payments", &[], &json!({ "id": "evt_1" })),
        Some("evt_1".into())
    );
    assert_eq!(key_of("payments", &[], &nothing), None);
    let ids = [("x-request-id", "r"), ("x-delivery-id", "d")];
    assert_eq!(key_of("generic", &ids, &nothing), Some("d".into()));
    assert_eq!(key_of("generic", &ids[..1], &nothing), Some("r".into()));
    assert_eq!(key_of("generic", &[], &nothing), Some(BODY_HASH.into()));
    assert_eq!(
        key_of("tracker_a", &[("linear-delivery", "l")], &nothing),
        Some("l".into())
    );
    assert_eq!(key_of("tracker_a", &[], &nothing), None);
    assert_eq!(
        key_of("errors", &[("request-id", "q")], &nothing),
        Some("q".into())
    );
    assert_eq!(key_of("errors", &[], &nothing), None);
    assert_eq!(
        key_of("incident", &[], &json!({ "event": { "id": "i" } })),
        Some("i".into())
    );
    assert_eq!(
        key_of("slack", &[], &json!({ "event_id": "Ev1" })),
        Some("Ev1".into())
    );
    let token = [("i-twilio-idempotency-token", "t")];
    assert_eq!(key_of("twilio", &token, &nothing), Some("t".into()));
}

/// These senders send the same body for different events: an alert that still fires, or a second test.
#[test]
fn where_equal_bodies_are_different_events_nothing_is_a_duplicate() {
    for profile in ["grafana", "alertmanager", "uptime_kuma"] {
        let body = json!({ "status": "firing", "heartbeat": null, "msg": "Kuma Testing" });
        assert_eq!(key_of(profile, &[], &body), None, "{profile}");
    }
}

#[test]
fn long_keys_are_bounded_and_stay_different() {
    let of = |id: &str| key_of("github", &[("x-github-delivery", id)], &json!({})).unwrap();
    let limit = "k".repeat(MAX_VALUE_CHARS);
    assert_eq!(of(&limit), limit);
    let (one, other) = (of(&format!("{limit}1")), of(&format!("{limit}2")));
    assert_eq!(one.chars().count(), MAX_VALUE_CHARS);
    assert_ne!(one, other);
}

#[test]
fn codehost_a_entities() {
    let repository = json!({ "full_name": "o/r" });
    let of = |body: Value| entity_of("codehost_a", &[], &body);
    let pull = json!({ "repository": repository, "pull_request": { "number": 2 } });
    assert_eq!(of(pull), Some("codehost_a:o/r:pr:2".into()));
    let issue = json!({ "repository": repository, "issue": { "number": 3 } });
    assert_eq!(of(issue), Some("codehost_a:o/r:issue:3".into()));
    let comment = json!({ "repository": repository, "issue": { "number": 2, "pull_request": {} }, "comment": {} });
    assert_eq!(of(comment), Some("codehost_a:o/r:pr:2".into()));
    let null = json!({ "repository": repository, "issue": { "number": 2, "pull_request": null } });
    assert_eq!(of(null), Some("codehost_a:o/r:issue:2".into()));
    assert_eq!(of(json!({ "issue": { "number": 3 } })), None);
    assert_eq!(
        of(
            json!({ "repository": repository, "workflow_run": { "pull_requests": [{ "number": 1 }] } })
        ),
        None
    );
    assert_eq!(
        of(json!({ "repository": repository, "issue": { "number": {} } })),
        None
    );
}

#[test]
fn codehost_b_entities() {
    let project = json!({ "path_with_namespace": "g/p" });
    let of = |hook, body: Value| entity_of("codehost_b", &[("x-gitlab-event", hook)], &body);
    let attributes = json!({ "project": project, "object_attributes": { "iid": 5 } });
    assert_eq!(
        of("Merge Request Hook", attributes.clone()),
        Some("codehost_b:g/p:mr:5".into())
    );
    assert_eq!(
        of("Issue Hook", attributes.clone()),
        Some("codehost_b:g/p:issue:5".into())
    );
    assert_eq!(of("Pipeline Hook", attributes), None);
    let on_merge_request = json!({ "project": project, "merge_request": { "iid": 5 }, "object_attributes": { "id": 1 } });
    assert_eq!(
        of("Note Hook", on_merge_request.clone()),
        Some("codehost_b:g/p:mr:5".into())
    );
    assert_eq!(of("Pipeline Hook", on_merge_request), None);
    let on_issue = json!({ "project": project, "issue": { "iid": 6 } });
    assert_eq!(
        of("Note Hook", on_issue),
        Some("codehost_b:g/p:issue:6".into())
    );
    assert_eq!(
        of("Note Hook", json!({ "project": project, "commit": {} })),
        None
    );
}

#[test]
fn payments_entities() {
    let of = |event: &str, object: Value| {
        entity_of(
            "payments",
            &[],
            &json!({ "type": event, "data": { "object": object } }),
        )
    };
    let subscription = json!({ "object": "subscription", "id": "sub_1" });
    let expected = Some("payments:sub_1".to_owned());
    assert_eq!(of("customer.subscription.created", subscription), expected);
    assert_eq!(
        of("customer.subscription.deleted", json!({ "id": "sub_1" })),
        expected
    );
    for invoice in [
        json!({ "object": "invoice", "id": "in_1", "subscription": "sub_1" }),
        json!({ "object": "invoice", "subscription": { "id": "sub_1" } }),
        json!({ "object": "invoice", "parent": { "subscription_details": { "subscription": "sub_1" } } }),
        json!({ "object": "invoice", "subscription": null,
                "parent": { "subscription_details": { "subscription": { "id": "sub_1" } } } }),
    ] {
        assert_eq!(of("invoice.paid", invoice), expected);
    }
    let dispute = json!({ "object": "dispute", "id": "du_1", "charge": "ch_1" });
    assert_eq!(
        of("charge.dispute.created", dispute),
        Some("payments:dispute:ch_1".into())
    );
    let expanded = json!({ "object": "dispute", "charge": { "id": "ch_1" } });
    assert_eq!(
        of("charge.dispute.created", expanded),
        Some("payments:dispute:ch_1".into())
    );
    assert_eq!(
        of("payment_intent.succeeded", json!({ "id": "pi_1" })),
        None
    );
    assert_eq!(of("invoice.paid", json!({ "subscription": "" })), None);
}

#[test]
fn generic_has_no_entities() {
    let body = json!({ "repository": { "full_name": "o/r" }, "issue": { "number": 1 } });
    assert_eq!(entity_of("generic", &[], &body), None);
}

#[test]
fn two_numbers_share_one_conversation_in_both_directions() {
    let incoming = json!({ "SmsStatus": "received", "From": "+1", "To": "+2" });
    let outgoing = json!({ "MessageStatus": "delivered", "From": "+2", "To": "+1" });
    assert_eq!(
        entity_of("twilio", &[], &incoming),
        Some("twilio:+2:+1".into())
    );
    assert_eq!(
        entity_of("twilio", &[], &outgoing),
        Some("twilio:+2:+1".into())
    );
}
