//! Tests for ingest, from request to stored delivery. Covers each step of the contract's table.

use crate::requests::{
    accepted, code, create, of_profile, open_webhook, post, post_from, rows, secret_of, sender,
    until_rows,
};
use crate::worker::harness::{Harness, everywhere};
use gatehouse_domain::{Actor, DeliveryStatus, ErrorCode};
use gatehouse_sources::AuthMode;
use gatehouse_sources::verify::{SignInput, sign};
use gatehouse_webhooks::{HandshakeReply, Ingested, Webhook};
use http::HeaderMap;
use serde_json::json;
use std::time::Duration;

#[tokio::test]
async fn a_delivery_that_is_accepted_is_on_disk_and_whole() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let made = create(
            &harness,
            json!({ "name": "Repo", "source_profile": "github", "session_mode": "per_entity",
                    "system_prompt_suffix": "Be kind." }),
        )
        .await;
        let body = r#"{"b":1.0,"action":"opened","a":{"x":"é"},
            "repository":{"full_name":"o/r"},"pull_request":{"number":7}}"#;
        let signature = sign(&SignInput {
            mode: made.webhook.auth_mode,
            header: None,
            secret: &secret_of(&made),
            url: "",
            body: body.as_bytes(),
            now_ms: 0,
            id: "x",
        });
        let signature = signature[0].1.to_str().unwrap().to_owned();
        let sent = [
            ("x-hub-signature-256", signature.as_str()),
            ("x-github-event", "pull_request"),
            ("x-github-delivery", "guid-1"),
            ("content-type", "application/json"),
            ("authorization", "Basic c2VjcmV0"),
            ("cookie", "a=b"),
        ];
        let id = accepted(post(&harness, &made.webhook, &sent, body).await);
        let delivery = harness.webhooks.delivery(id.as_str()).await.unwrap();
        let shown = serde_json::to_value(&delivery).unwrap();
        let public_id = &made.webhook.public_id;
        assert_eq!(
            shown,
            json!({
                "id": id, "webhook_id": made.webhook.id, "status": "queued",
                "event_type": "pull_request.opened", "entity_key": "codehost_a:o/r:pr:7",
                "delivery_key": "guid-1", "received_at": shown["received_at"], "attempts": 0,
                "headers": { "content-type": "application/json", "x-github-delivery": "guid-1",
                             "x-github-event": "pull_request" },
                "body_size": body.len(), "body_preview": body,
                "session_key": format!("webhook:{public_id}:codehost_a:o/r:pr:7"),
                "summary": "Someone opened pull request #7.", "response_actions": [],
            })
        );
        let payload = harness.webhooks.payload(id.as_str()).await.unwrap();
        let payload = serde_json::to_string(&payload).unwrap();
        assert_eq!(
            payload,
            format!(r#"{{"payload":{body}}}"#),
            "as it was sent"
        );
        let copied = id.clone();
        let config = harness
            .store
            .read(|conn| Box::pin(async move { conn.find_delivery_config(copied.as_str()).await }));
        let config = config.await.unwrap().unwrap();
        assert!(
            config.contains("Be kind.") && !config.contains("auth"),
            "{config}"
        );
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn unknown_and_disabled_are_the_same() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let off = open_webhook(&harness, json!({ "enabled": false })).await;
        let unknown = post_from(&harness, "192.0.2.1", "wh_0", &[], b"{}")
            .await
            .unwrap_err();
        let disabled = post(&harness, &off, &[], "{}").await.unwrap_err();
        assert_eq!(unknown.code, ErrorCode::NotFound);
        assert_eq!(unknown, disabled);
        assert!(rows(&harness).await.is_empty());
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_sealed_vault_is_said_after_the_look_up_and_before_all_else() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        harness.initialize_vault().await;
        let made = create(&harness, json!({ "name": "n", "secret": "s3cret" }))
            .await
            .webhook;
        let none = open_webhook(&harness, json!({ "allowed_cidrs": ["198.51.100.1"] })).await;
        let good = [("x-webhook-secret", "s3cret")];
        accepted(post(&harness, &made, &good, "1").await);
        harness.seal().await;
        for webhook in [&made, &none] {
            let problem = post(&harness, webhook, &good, "2").await.unwrap_err();
            assert_eq!(problem.code, ErrorCode::VaultSealed);
            assert_eq!(problem.details["status"], "sealed");
        }
        let unknown = post_from(&harness, "192.0.2.1", "wh_0", &[], b"{}")
            .await
            .unwrap_err();
        assert_eq!(unknown.code, ErrorCode::NotFound);
        // A process that starts with a sealed vault loads the webhooks without their secrets.
        harness.webhooks.reload().await.unwrap();
        assert_eq!(
            code(post(&harness, &made, &good, "2").await),
            ErrorCode::VaultSealed
        );
        harness.unseal().await;
        accepted(post(&harness, &made, &good, "2").await);
        assert_eq!(
            rows(&harness).await.len(),
            2,
            "refusals of a sealed vault leave no row"
        );
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn an_address_that_is_not_allowed_is_refused_before_the_body() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let members = json!({ "allowed_cidrs": ["192.0.2.0/31", "2001:db8::/64"] });
        let webhook = open_webhook(&harness, members).await;
        let from = async |ip: &str| post_from(&harness, ip, &webhook.public_id, &[], b"{}").await;
        for (number, ip) in ["192.0.2.0", "192.0.2.1", "2001:db8::1", "::ffff:192.0.2.1"]
            .into_iter()
            .enumerate()
        {
            let body = number.to_string();
            let taken = post_from(&harness, ip, &webhook.public_id, &[], body.as_bytes()).await;
            accepted(taken);
        }
        for ip in ["192.0.2.2", "2001:db8:0:1::1", "::1"] {
            assert_eq!(code(from(ip).await), ErrorCode::Forbidden, "{ip}");
        }
        let rows = until_rows(&harness, 7).await;
        let refused = rows
            .iter()
            .filter(|row| row.status == DeliveryStatus::Rejected);
        for row in refused {
            assert_eq!(row.error.as_deref(), Some("address_not_allowed"));
        }
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_body_is_taken_at_the_limit_and_not_past_it() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let webhook = open_webhook(&harness, json!({ "max_body_bytes": 10 })).await;
        accepted(post(&harness, &webhook, &[], "\"45678901\"").await);
        let problem = post(&harness, &webhook, &[], "\"456789012\"")
            .await
            .unwrap_err();
        assert_eq!(problem.code, ErrorCode::PayloadTooLarge);
        assert_eq!(problem.details["max_bytes"], 10);
        let rows = until_rows(&harness, 2).await;
        assert_eq!(rows[0].status, DeliveryStatus::Rejected);
        assert_eq!(
            (rows[0].body_size, rows[0].body_preview.as_str()),
            (11, "\"456789012")
        );
        assert_eq!(rows[0].error.as_deref(), Some("body_too_large"));
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn what_cannot_be_verified_leaves_a_row_without_payload() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let made = create(&harness, json!({ "name": "n", "secret": "right" }))
            .await
            .webhook;
        for (number, sent) in [
            &[][..],
            &[("x-webhook-secret", "wrong")],
            &[("x-webhook-secret", "")],
        ]
        .into_iter()
        .enumerate()
        {
            // Verification comes first: an unverified body is not parsed.
            let problem = post(&harness, &made, sent, "{").await.unwrap_err();
            assert_eq!(problem.code, ErrorCode::InvalidCredentials);
            let rows = until_rows(&harness, number + 1).await;
            assert_eq!(rows[0].status, DeliveryStatus::Rejected);
            assert_eq!(rows[0].body_preview, "{");
            let payload = harness
                .webhooks
                .payload(rows[0].id.as_str())
                .await
                .unwrap_err();
            assert_eq!(
                gatehouse_domain::Problem::from(payload).code,
                ErrorCode::NotFound
            );
        }
        let good = [("x-webhook-secret", "right")];
        assert_eq!(
            code(post(&harness, &made, &good, "{").await),
            ErrorCode::ParseError
        );
        assert_eq!(
            until_rows(&harness, 4).await[0].error.as_deref(),
            Some("not_json")
        );
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_filtered_delivery_is_answered_with_its_row() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let filter =
            json!({ "events": { "allow": ["push", "issues.*"], "deny": ["issues.closed"] } });
        let webhook = open_webhook(&harness, filter).await;
        let post_event = async |event: Option<&str>, body: &str| {
            let sent: Vec<_> = event.iter().map(|event| ("x-event-type", *event)).collect();
            post(&harness, &webhook, &sent, body).await
        };
        accepted(post_event(Some("push"), "1").await);
        accepted(post_event(Some("issues.opened"), "2").await);
        for event in [Some("issues.closed"), Some("fork"), None] {
            match post_event(event, "3").await.unwrap() {
                Ingested::Filtered(id) => {
                    // The delivery is already stored when the response is sent.
                    let delivery = harness.webhooks.delivery(id.as_str()).await.unwrap();
                    assert_eq!(delivery.status, DeliveryStatus::Filtered);
                    assert_eq!(delivery.event_type.as_deref(), event);
                    assert_eq!(delivery.session_key, None);
                    assert!(harness.webhooks.payload(id.as_str()).await.is_err());
                }
                other => panic!("{other:?}"),
            }
        }
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_handshake_is_answered_after_verification_and_leaves_nothing() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let members = json!({ "source_profile": "slack" });
        let webhook = open_webhook(&harness, members).await;
        let body = r#"{"type":"url_verification","challenge":"abc","token":"x"}"#;
        let answered = post(&harness, &webhook, &[], body).await.unwrap();
        let reply = HandshakeReply::Json(json!({ "challenge": "abc" }));
        assert_eq!(answered, Ingested::Handshake(reply));
        let strict = create(&harness, json!({ "name": "n", "source_profile": "slack" })).await;
        let refused = post(&harness, &strict.webhook, &[], body).await;
        assert_eq!(code(refused), ErrorCode::InvalidCredentials);
        assert_eq!(
            until_rows(&harness, 1).await[0].status,
            DeliveryStatus::Rejected
        );
        harness.stop().await;
    })
    .await;
}

/// Zoom compares the response with its own secret, which may still be the old one.
#[tokio::test]
async fn a_handshake_is_answered_with_the_secret_that_the_sender_uses() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let (old, new) = ("the old secret token", "the new secret token");
        let members = json!({ "name": "n", "source_profile": "zoom", "secret": old });
        let webhook = create(&harness, members).await.webhook;
        let body = r#"{"event":"endpoint.url_validation","payload":{"plainToken":"abc"}}"#;
        let ask = async |secret: &str| {
            let signature = sign(&SignInput {
                mode: webhook.auth_mode,
                header: None,
                secret,
                url: "",
                body: body.as_bytes(),
                now_ms: harness.clock_ms(),
                id: "x",
            });
            let pairs = signature.iter();
            let pairs = pairs.map(|(name, value)| (name.as_str(), value.to_str().unwrap()));
            let pairs: Vec<_> = pairs.collect();
            match post(&harness, &webhook, &pairs, body).await.unwrap() {
                Ingested::Handshake(reply) => reply,
                other => panic!("{other:?}"),
            }
        };
        let before = ask(old).await;
        let (actor, secret) = (Actor::cli(), Some(secrecy::SecretString::from(new)));
        let webhooks = &harness.webhooks;
        let rotated = webhooks.rotate_secret(&actor, webhook.id.as_str(), secret, None);
        drop(rotated.await.unwrap());
        assert_eq!(ask(old).await, before);
        assert_ne!(ask(new).await, before);
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn the_old_secret_is_good_for_its_time() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let made = create(&harness, json!({ "name": "n", "secret": "first" }))
            .await
            .webhook;
        let rotate = async |secret: &str, overlap| {
            let secret = Some(secrecy::SecretString::from(secret));
            let id = made.id.as_str();
            drop(
                harness
                    .webhooks
                    .rotate_secret(&Actor::cli(), id, secret, overlap)
                    .await
                    .unwrap(),
            );
        };
        let with = async |secret: &str, body: &str| {
            post(&harness, &made, &[("x-webhook-secret", secret)], body).await
        };
        rotate("second", Some(10)).await;
        accepted(with("first", "1").await);
        accepted(with("second", "2").await);
        let shown = harness.webhooks.get(made.id.as_str()).await.unwrap();
        assert!(shown.auth.previous_secret_expires_at.is_some());
        harness.advance(Duration::from_millis(9_999));
        accepted(with("first", "3").await);
        harness.advance(Duration::from_millis(1));
        assert_eq!(
            code(with("first", "4").await),
            ErrorCode::InvalidCredentials
        );
        let shown = harness.webhooks.get(made.id.as_str()).await.unwrap();
        assert_eq!(shown.auth.previous_secret_expires_at, None);
        rotate("third", Some(0)).await;
        assert_eq!(
            code(with("second", "5").await),
            ErrorCode::InvalidCredentials
        );
        rotate("fourth", None).await;
        rotate("fifth", None).await;
        accepted(with("third", "6").await);
        accepted(with("fourth", "7").await);
        accepted(with("fifth", "8").await);
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_sample_takes_the_way_of_a_delivery_in_every_profile_and_mode() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let actor = Actor::cli();
        for profile in gatehouse_sources::profile::all() {
            let made = create(&harness, of_profile(profile.id)).await;
            let tested = harness
                .webhooks
                .test(&actor, made.webhook.id.as_str(), None)
                .await;
            if !profile.default_auth_mode.can_sign() {
                assert!(tested.is_err(), "{profile}");
                continue;
            }
            let tested = tested.unwrap();
            assert_eq!(tested.status, DeliveryStatus::Queued, "{profile}");
            let delivery = harness
                .webhooks
                .delivery(tested.delivery_id.as_str())
                .await
                .unwrap();
            assert!(delivery.event_type.is_some(), "{profile}");
        }
        for mode in AuthMode::all() {
            let members = json!({ "name": "n", "auth_mode": mode, "allowed_cidrs": ["192.0.2.1"] });
            let made = create(&harness, members).await;
            let tested = harness
                .webhooks
                .test(&actor, &made.webhook.public_id, None)
                .await;
            if !mode.can_sign() {
                assert!(tested.is_err(), "{mode}");
                continue;
            }
            assert_eq!(tested.unwrap().status, DeliveryStatus::Queued, "{mode}");
        }
        let picky =
            json!({ "name": "n", "source_profile": "payments", "events": ["invoice.paid"] });
        let picky = create(&harness, picky).await.webhook;
        let test = async |event| {
            let tested = harness
                .webhooks
                .test(&actor, picky.id.as_str(), Some(event))
                .await;
            tested.unwrap().status
        };
        assert_eq!(test("invoice.paid").await, DeliveryStatus::Queued);
        assert_eq!(
            test("charge.dispute.created").await,
            DeliveryStatus::Filtered
        );
        let off = open_webhook(&harness, json!({ "enabled": false })).await;
        let refused = harness
            .webhooks
            .test(&actor, off.id.as_str(), None)
            .await
            .unwrap_err();
        assert_eq!(
            gatehouse_domain::Problem::from(refused).code,
            ErrorCode::Conflict
        );
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn the_url_is_needed_to_verify_it_and_while_a_client_forwards() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let webhooks = &harness.webhooks;
        let needs_url = async |webhook: &Webhook| {
            let (from, headers) = (sender("192.0.2.1"), HeaderMap::new());
            let begun = webhooks.begin_ingest(&webhook.public_id, &from, &headers);
            begun.await.unwrap().needs_url()
        };
        let signed = create(&harness, of_profile("twilio")).await.webhook;
        assert!(needs_url(&signed).await);
        let open = open_webhook(&harness, json!({})).await;
        assert!(!needs_url(&open).await);
        for stop in [false, true] {
            let forwarding = webhooks.forward(open.id.as_str(), stop).await.unwrap();
            let is_shared = harness.store.engine().is_shared();
            assert_eq!(forwarding.has_other_nodes, is_shared);
            assert_eq!(needs_url(&open).await, !stop);
        }
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn each_stored_status_is_published() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let webhook = open_webhook(&harness, json!({ "events": ["push"] })).await;
        let mut feed = harness.webhooks.subscribe(|| true);
        let push = [("x-event-type", "push")];
        let id = accepted(post(&harness, &webhook, &push, "1").await);
        let event = feed.recv().await.unwrap();
        assert_eq!((&event.id, event.status), (&id, DeliveryStatus::Queued));
        drop(post(&harness, &webhook, &push, "1").await);
        let event = feed.recv().await.unwrap();
        assert_eq!(
            (event.duplicate_of.as_ref(), event.status),
            (Some(&id), DeliveryStatus::Deduplicated)
        );
        drop(post(&harness, &webhook, &[], "2").await);
        assert_eq!(feed.recv().await.unwrap().status, DeliveryStatus::Filtered);
        drop(post(&harness, &webhook, &push, "{").await);
        assert_eq!(feed.recv().await.unwrap().status, DeliveryStatus::Rejected);
        harness.stop().await;
    })
    .await;
}
