//! Tests for creating, listing, changing and deleting webhooks.

use crate::requests::{as_json, create, refused, update};
use crate::worker::harness::{Harness, everywhere};
use gatehouse_domain::{Actor, ErrorCode};
use gatehouse_webhooks::WebhooksSettings;
use serde_json::{Value, json};

#[tokio::test]
async fn a_new_webhook_has_the_defaults_and_shows_its_secret_once() {
    everywhere(async |database, model| {
        let settings = WebhooksSettings {
            base_url: "https://gate.example/".to_owned(),
            ..WebhooksSettings::default()
        };
        let harness = Harness::open_with(&database, &model, settings).await;
        let made = create(&harness, json!({ "name": "Builds" })).await;
        let record = as_json(&made);
        let public_id = record["public_id"].as_str().unwrap();
        assert!(
            public_id.len() == 39 && public_id.starts_with("wh_"),
            "{public_id}"
        );
        let hex = &public_id[3..];
        assert!(
            hex.bytes()
                .all(|byte| byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase())
        );
        assert_eq!(
            record["url"],
            format!("https://gate.example/api/webhooks/ingest/{public_id}")
        );
        let secret = record["secret"].as_str().unwrap();
        assert_eq!(secret.len(), 64);
        let expected = json!({
            "id": record["id"], "public_id": public_id, "url": record["url"], "name": "Builds",
            "source_profile": "generic", "auth_mode": "static_header",
            "auth": {
                "header": "X-Webhook-Secret", "configured": true,
                "secret_hint": format!("…{}", &secret[60..]),
            },
            "events": { "allow": [], "deny": [] },
            "session_mode": "per_delivery", "deliver_only": false,
            "rate_limit_per_minute": 60, "max_body_bytes": 1_048_576,
            "template_format": "text",
            "replay_guard": "key", "redeliver_failed": false, "on_limit": "refuse",
            "enabled": true, "delivery_count": 0,
            "created_at": record["created_at"], "updated_at": record["created_at"],
            "secret": secret,
        });
        assert_eq!(record, expected);
        let shown = as_json(&harness.webhooks.get(public_id).await.unwrap());
        assert_eq!(shown.get("secret"), None);
        assert_eq!(shown["id"], record["id"]);
        let listed = as_json(&harness.webhooks.list(50, None).await.unwrap());
        assert_eq!(listed, json!({ "webhooks": [shown] }));
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn every_member_is_taken_in_both_spellings() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let camel = json!({
            "name": "All", "sourceProfile": "github", "authMode": "static_header",
            "secret": "a-secret-of-mine-0123", "header": "X-Mine",
            "events": ["push", "issues.*"], "agent": "default", "model": "fake/m",
            "systemPromptSuffix": "Be brief.", "toolPolicy": { "allow": ["calc"] },
            "sessionMode": "named_session", "sessionKey": "ops", "deliverOnly": true,
            "promptTemplate": "{action}", "deliverTo": "inbox",
            "deliverExtra": { "chat_id": 17, "topic": "t" }, "rateLimitPerMinute": 5,
            "maxBodyBytes": 2048, "allowedCidrs": ["192.0.2.0/24", "2001:db8::1"],
            "eventHeader": "X-Kind", "enabled": false,
        });
        let record = as_json(&create(&harness, camel).await);
        let expected = json!({
            "id": record["id"], "public_id": record["public_id"], "url": record["url"],
            "name": "All", "source_profile": "codehost_a", "auth_mode": "static_header",
            "auth": { "header": "X-Mine", "configured": true, "secret_hint": "…0123" },
            "events": { "allow": ["push", "issues.*"], "deny": [] },
            "agent": "default", "model": "fake/m", "system_prompt_suffix": "Be brief.",
            "toolPolicy": { "allow": ["calc"], "deny": [] },
            "session_mode": "named_session", "session_key": "ops", "deliver_only": true,
            "prompt_template": "{action}", "deliver_to": "inbox",
            "deliver_extra": { "chat_id": "17", "topic": "t" },
            "rate_limit_per_minute": 5, "max_body_bytes": 2048,
            "allowed_cidrs": ["192.0.2.0/24", "2001:db8::1/128"], "event_header": "X-Kind",
            "template_format": "text",
            "replay_guard": "key", "redeliver_failed": false, "on_limit": "refuse",
            "enabled": false, "delivery_count": 0,
            "created_at": record["created_at"], "updated_at": record["updated_at"],
            "secret": "a-secret-of-mine-0123",
        });
        assert_eq!(record, expected);
        let id = record["id"].as_str().unwrap();
        // A response can be sent back as input unchanged.
        let mut again = expected.clone();
        let members = again.as_object_mut().unwrap();
        for shown_only in [
            "id",
            "public_id",
            "url",
            "auth",
            "delivery_count",
            "created_at",
            "updated_at",
            "secret",
        ] {
            members.remove(shown_only);
        }
        members.insert("tool_policy".to_owned(), members["toolPolicy"].clone());
        members.remove("toolPolicy");
        let same = as_json(&update(&harness, id, again).await.unwrap());
        for (name, value) in expected.as_object().unwrap() {
            if name != "updated_at" && name != "secret" {
                assert_eq!(&same[name], value, "{name}");
            }
        }
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn null_goes_back_to_the_default() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let made = json!({
            "name": "n", "header": "X-Mine", "events": ["push"], "agent": "default", "model": "m",
            "system_prompt_suffix": "s", "toolPolicy": {}, "session_mode": "named_session",
            "session_key": "ops", "deliver_only": true, "prompt_template": "t",
            "deliver_to": "inbox", "deliver_extra": {}, "rate_limit_per_minute": 5,
            "max_body_bytes": 5, "allowed_cidrs": ["192.0.2.1"], "event_header": "X-Kind",
            "enabled": false,
        });
        let made = create(&harness, made).await;
        let id = made.webhook.id.as_str();
        let cleared = json!({
            "events": null, "agent": null, "model": null, "system_prompt_suffix": null,
            "toolPolicy": null, "session_mode": null, "session_key": null, "deliver_only": null,
            "prompt_template": null, "deliver_to": null, "deliver_extra": null,
            "rate_limit_per_minute": null, "max_body_bytes": null, "allowed_cidrs": null,
            "event_header": null, "enabled": null, "header": null,
        });
        let record = as_json(&update(&harness, id, cleared).await.unwrap());
        for gone in [
            "agent",
            "model",
            "system_prompt_suffix",
            "toolPolicy",
            "session_key",
            "prompt_template",
            "deliver_to",
            "deliver_extra",
            "allowed_cidrs",
            "event_header",
        ] {
            assert_eq!(record.get(gone), None, "{gone}");
        }
        assert_eq!(record["events"], json!({ "allow": [], "deny": [] }));
        assert_eq!(record["auth"]["header"], "X-Webhook-Secret");
        assert_eq!(
            (&record["enabled"], &record["deliver_only"]),
            (&json!(true), &json!(false))
        );
        assert_eq!(record["max_body_bytes"], 1_048_576);
        harness.stop().await;
    })
    .await;
}

/// Invalid inputs, and the field that the error names. `%n` stands for a text of n characters.
const WRONG: &[(&str, &str)] = &[
    (r"{}", "name"),
    (r#"{"name":null}"#, "name"),
    (r#"{"name":" "}"#, "name"),
    (r#"{"name":"%201"}"#, "name"),
    (r#"{"name":"a\nb"}"#, "name"),
    (r#"{"name":"n","colour":1}"#, "colour"),
    (r#"{"name":"n","id":"x"}"#, "id"),
    (
        r#"{"name":"n","source_profile":"unknown"}"#,
        "source_profile",
    ),
    (r#"{"name":"n","auth_mode":"magic"}"#, "auth_mode"),
    (r#"{"name":"n","secret":""}"#, "secret"),
    (r#"{"name":"n","secret":"%1025"}"#, "secret"),
    (r#"{"name":"n","secret":"a\nb"}"#, "secret"),
    (
        r#"{"name":"n","auth_mode":"standard_webhooks","secret":"no base64!"}"#,
        "secret",
    ),
    (r#"{"name":"n","header":"no header"}"#, "header"),
    (r#"{"name":"n","header":"Content-Length"}"#, "header"),
    (
        r#"{"name":"n","auth_mode":"bearer","header":"X-A"}"#,
        "header",
    ),
    (r#"{"name":"n","events":"push"}"#, "events"),
    (r#"{"name":"n","events":{"allowed":[]}}"#, "events"),
    (r#"{"name":"n","events":["pu*sh"]}"#, "events"),
    (r#"{"name":"n","events":["*"]}"#, "events"),
    (r#"{"name":"n","events":[".*"]}"#, "events"),
    (r#"{"name":"n","events":{"deny":[""]}}"#, "events"),
    (r#"{"name":"n","agent":"nobody"}"#, "agent"),
    (r#"{"name":"n","model":""}"#, "model"),
    (
        r#"{"name":"n","system_prompt_suffix":"%16385"}"#,
        "system_prompt_suffix",
    ),
    (r#"{"name":"n","toolPolicy":["calc"]}"#, "toolPolicy"),
    (
        r#"{"name":"n","toolPolicy":{"allow":"calc"}}"#,
        "toolPolicy",
    ),
    (r#"{"name":"n","toolPolicy":{"only":[]}}"#, "toolPolicy"),
    (r#"{"name":"n","session_mode":"always"}"#, "session_mode"),
    (r#"{"name":"n","session_key":"%201"}"#, "session_key"),
    (r#"{"name":"n","deliver_only":"yes"}"#, "deliver_only"),
    (
        r#"{"name":"n","prompt_template":"%65537"}"#,
        "prompt_template",
    ),
    (
        r#"{"name":"n","template_format":"json"}"#,
        "template_format",
    ),
    (
        r#"{"name":"n","template_format":"json","deliver_to":"slack:a"}"#,
        "template_format",
    ),
    (
        r#"{"name":"n","template_format":"json","deliver_to":"http:a","prompt_template":"{b}"}"#,
        "prompt_template",
    ),
    (
        r#"{"name":"n","template_format":"json","deliver_to":"http:a","deliver_extra":{"a":"b"}}"#,
        "deliver_extra",
    ),
    (r#"{"name":"n","deliver_to":"pigeon"}"#, "deliver_to"),
    (
        r#"{"name":"n","deliver_to":"telegram:nobody"}"#,
        "deliver_to",
    ),
    (r#"{"name":"n","deliver_extra":{"a":[]}}"#, "deliver_extra"),
    (r#"{"name":"n","deliver_extra":["a"]}"#, "deliver_extra"),
    (
        r#"{"name":"n","rate_limit_per_minute":0}"#,
        "rate_limit_per_minute",
    ),
    (
        r#"{"name":"n","rate_limit_per_minute":1000001}"#,
        "rate_limit_per_minute",
    ),
    (
        r#"{"name":"n","rate_limit_per_minute":-1}"#,
        "rate_limit_per_minute",
    ),
    (
        r#"{"name":"n","rate_limit_per_minute":"60"}"#,
        "rate_limit_per_minute",
    ),
    (r#"{"name":"n","max_body_bytes":0}"#, "max_body_bytes"),
    (
        r#"{"name":"n","max_body_bytes":26214401}"#,
        "max_body_bytes",
    ),
    (
        r#"{"name":"n","allowed_cidrs":["everywhere"]}"#,
        "allowed_cidrs",
    ),
    (r#"{"name":"n","event_header":"X-Secret"}"#, "event_header"),
    (
        r#"{"name":"n","header":"X-Kind","event_header":"x-kind"}"#,
        "event_header",
    ),
    (r#"{"name":"n","enabled":1}"#, "enabled"),
    (r#"{"name":"n","header":"x-EVENT-type"}"#, "header"),
    (r#"{"name":"n","header":"X-GitHub-Delivery"}"#, "header"),
    (r#"{"name":"n","header":"Content-Type"}"#, "header"),
    (r#"{"name":"n","model":"a/"}"#, "model"),
    (
        r#"{"name":"n","auth_mode":"none","secret":"abc"}"#,
        "secret",
    ),
];

fn spelled_out(text: &str) -> Value {
    let mut members: Value = serde_json::from_str(text).unwrap();
    for value in members.as_object_mut().unwrap().values_mut() {
        let length = value.as_str().and_then(|text| text.strip_prefix('%'));
        if let Some(length) = length {
            *value = "x".repeat(length.parse().unwrap()).into();
        }
    }
    members
}

#[tokio::test]
async fn what_is_wrong_is_named() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        for (text, field) in WRONG {
            let expected = (ErrorCode::InvalidParams, (*field).to_owned());
            assert_eq!(
                refused(&harness, spelled_out(text)).await,
                expected,
                "{text}"
            );
        }
        let many = |count: usize| vec!["a"; count];
        let expected = (ErrorCode::InvalidParams, "events".to_owned());
        let too_many = json!({ "name": "n", "events": many(201) });
        assert_eq!(refused(&harness, too_many).await, expected);
        let good = json!({
            "name": "%200", "secret": "%1024", "system_prompt_suffix": "%16384",
            "session_key": "%200", "prompt_template": "%65536", "events": many(200),
            "rate_limit_per_minute": 1_000_000, "max_body_bytes": 26_214_400, "allowed_cidrs": [],
        });
        let record = as_json(&create(&harness, spelled_out(&good.to_string())).await);
        let cidrs = record.get("allowed_cidrs");
        assert_eq!(cidrs, None, "an empty list is from everywhere");
        let least = json!({ "name": "n", "rate_limit_per_minute": 1, "max_body_bytes": 1 });
        drop(create(&harness, least).await);
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_session_key_of_another_origin_is_refused() {
    everywhere(async |database, model| {
        use gatehouse_agents::{Origin, SendRequest, Target};
        let harness = Harness::open(&database, &model).await;
        let send = |key: &str, origin| SendRequest {
            session: Target::Keyed {
                key: key.to_owned(),
                label: key.to_owned(),
            },
            origin,
            ..SendRequest::new("hello", Actor::cli())
        };
        let webhook = Origin::Webhook {
            policy: None,
            targets: Vec::new(),
            delivery: gatehouse_domain::DeliveryId::from_text("del_1"),
            written_by: gatehouse_agents::MessageOrigin::Stranger,
        };
        drop(
            harness
                .agents
                .send_sync(send("made-by-webhook", webhook))
                .await
                .unwrap(),
        );
        let mine = harness
            .agents
            .send(SendRequest::new("hello", Actor::cli()))
            .await;
        let mine = mine.unwrap().session_key;
        let named =
            |key: &str| json!({ "name": "n", "session_mode": "named_session", "session_key": key });
        drop(create(&harness, named("made-by-webhook")).await);
        drop(create(&harness, named("new")).await);
        let expected = (ErrorCode::InvalidParams, "session_key".to_owned());
        assert_eq!(refused(&harness, named(&mine)).await, expected);
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn pages_follow_each_other() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let mut made = Vec::new();
        for number in 0..5 {
            made.push(
                create(&harness, json!({ "name": format!("{number}") }))
                    .await
                    .webhook
                    .id,
            );
            harness.advance(std::time::Duration::from_millis(1));
        }
        let (mut seen, mut cursor) = (Vec::new(), None);
        loop {
            let page = harness.webhooks.list(2, cursor.as_deref()).await.unwrap();
            seen.extend(page.webhooks.into_iter().map(|webhook| webhook.id));
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(seen, made);
        for cursor in ["zzz", "", "del_0198c0de0198c0de0198c0de0198c0de"] {
            let error = harness.webhooks.list(2, Some(cursor)).await.unwrap_err();
            let problem = gatehouse_domain::Problem::from(error);
            assert_eq!(problem.code, ErrorCode::InvalidParams);
            assert_eq!(problem.details["field"], "cursor");
        }
        harness.stop().await;
    })
    .await;
}
