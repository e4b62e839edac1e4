//! Deliveries that are held while the vault is sealed.

use crate::requests::{accepted, create, open_webhook, post, post_from, rows};
use crate::worker::harness::{Harness, PASSWORD, everywhere, settings};
use crate::worker::model::FakeModel;
use gatehouse_domain::{Actor, DeliveryId, DeliveryStatus, ErrorCode, Timestamp};
use gatehouse_sources::AuthMode;
use gatehouse_sources::verify::{SignInput, sign};
use gatehouse_store::testing::{TestDatabase, run_sql};
use gatehouse_store::{DeliveryRow, HeldDelivery, HoldLimit};
use gatehouse_webhooks::{DeliveryQuery, HandshakeReply, Ingested, WebhooksSettings};
use secrecy::SecretString;
use serde_json::json;
use std::time::Duration;

/// 32 bytes, as Standard Webhooks requires.
const SIGNING: &str = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";

fn holding() -> WebhooksSettings {
    WebhooksSettings {
        hold_while_sealed: true,
        ..settings()
    }
}

const ROOM: HoldLimit = HoldLimit {
    deliveries: 100,
    bytes: 1 << 20,
};

async fn insert(
    harness: &Harness,
    row: HeldDelivery,
    of_webhook: HoldLimit,
    of_client: HoldLimit,
) -> bool {
    let write = harness.store.write(move |conn| {
        let row = row.clone();
        Box::pin(async move { conn.insert_held_delivery(&row, of_webhook, of_client).await })
    });
    write.await.unwrap()
}

/// Waits until no delivery is held.
async fn until_none(harness: &Harness) {
    while held(harness).await > 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

async fn held(harness: &Harness) -> i64 {
    let read = harness
        .store
        .read(|conn| Box::pin(async move { conn.count_held_deliveries().await }));
    read.await.unwrap()
}

fn of<'r>(rows: &'r [DeliveryRow], id: &DeliveryId) -> &'r DeliveryRow {
    rows.iter().find(|row| row.id == *id).unwrap()
}

/// Returns the headers of a Standard Webhooks request that is signed now.
fn signed(harness: &Harness, id: &str, body: &str) -> Vec<(String, String)> {
    let headers = sign(&SignInput {
        mode: AuthMode::STANDARD_WEBHOOKS,
        header: None,
        secret: SIGNING,
        url: "",
        body: body.as_bytes(),
        now_ms: harness.clock_ms(),
        id,
    });
    let pair = |(name, value): &(http::HeaderName, http::HeaderValue)| {
        (name.to_string(), value.to_str().unwrap().to_owned())
    };
    headers.iter().map(pair).collect()
}

#[tokio::test]
async fn held_deliveries_are_verified_in_order_after_the_unseal_and_as_of_their_arrival() {
    everywhere(async |database, model| {
        let harness = Harness::open_with(&database, &model, holding()).await;
        harness.initialize_vault().await;
        let members = json!({
            "name": "n", "secret": SIGNING, "auth_mode": "standard_webhooks",
            "deliver_only": true, "prompt_template": "{n}",
        });
        let webhook = create(&harness, members).await.webhook;
        harness.seal().await;
        // A process that starts with a sealed vault loads the webhooks without their secrets.
        harness.webhooks.reload().await.unwrap();
        harness.work();
        let send = async |body: &str, proof: &[(String, String)]| {
            let list: Vec<_> = proof
                .iter()
                .map(|(n, v)| (n.as_str(), v.as_str()))
                .collect();
            accepted(post(&harness, &webhook, &list, body).await)
        };
        let body = r#"{"n":"first"}"#;
        let proof = signed(&harness, "one", body);
        let first = send(body, &proof).await;
        let again = send(body, &proof).await;
        let forged = send(r#"{"n":"forged"}"#, &proof).await;
        let unreadable = send("{", &signed(&harness, "three", "{")).await;
        let body = r#"{"n":"last"}"#;
        let last = send(body, &signed(&harness, "four", body)).await;
        harness.worker_has_looked().await;
        assert_eq!((held(&harness).await, rows(&harness).await.len()), (5, 0));

        // Longer than the tolerance of the signed time stamp.
        harness.advance(Duration::from_hours(2));
        harness.unseal().await;
        until_none(&harness).await;
        harness.worker_has_looked().await;
        let rows = rows(&harness).await;
        let outcome = |id| {
            let row = of(&rows, id);
            (row.status, row.error.as_deref())
        };
        assert_eq!(outcome(&first), (DeliveryStatus::Completed, None));
        assert_eq!(outcome(&last), (DeliveryStatus::Completed, None));
        assert_eq!(outcome(&again), (DeliveryStatus::Deduplicated, None));
        assert_eq!(of(&rows, &again).duplicate_of.as_ref(), Some(&first));
        assert_eq!(outcome(&forged).0, DeliveryStatus::Rejected);
        assert_eq!(outcome(&unreadable).0, DeliveryStatus::Rejected);
        assert_eq!(rows.len(), 5);
        assert_eq!(harness.inbox().await, ["first", "last"]);
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn held_deliveries_go_with_their_webhook() {
    everywhere(async |database, model| {
        let harness = Harness::open_with(&database, &model, holding()).await;
        harness.initialize_vault().await;
        let one = open_webhook(&harness, json!({ "deliver_only": true })).await;
        let other = open_webhook(&harness, json!({ "deliver_only": true })).await;
        harness.seal().await;
        for webhook in [&one, &other] {
            accepted(post(&harness, webhook, &[], "1").await);
        }
        let (webhooks, actor) = (&harness.webhooks, Actor::cli());
        webhooks.delete(&actor, one.id.as_str()).await.unwrap();
        assert_eq!(held(&harness).await, 1);
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_webhook_that_cannot_be_read_holds_up_no_other() {
    everywhere(async |database, model| {
        let harness = Harness::open_with(&database, &model, holding()).await;
        harness.initialize_vault().await;
        let damaged = open_webhook(&harness, json!({ "deliver_only": true })).await;
        let other = open_webhook(&harness, json!({ "deliver_only": true })).await;
        harness.seal().await;
        let mut ids = Vec::new();
        for webhook in [&damaged, &other, &damaged, &other] {
            ids.push(accepted(post(&harness, webhook, &[], "1").await));
        }
        let id = damaged.id.as_str();
        let damage = format!("UPDATE webhooks SET config = '{{' WHERE id = '{id}'");
        run_sql(&database.location, &damage).await;
        let harness = restart(harness, &database, &model).await;
        harness.work();
        harness.unseal().await;
        while held(&harness).await > 2 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let rows = rows(&harness).await;
        let stored: Vec<_> = [1, 3].map(|at| &of(&rows, &ids[at]).webhook_id).into();
        assert_eq!(stored, [&other.id, &other.id]);
        assert_eq!(rows.len(), 2, "the others are held");
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_list_says_since_when_deliveries_are_held() {
    everywhere(async |database, model| {
        let harness = Harness::open_with(&database, &model, holding()).await;
        harness.initialize_vault().await;
        let webhook = open_webhook(&harness, json!({ "deliver_only": true })).await;
        let other = open_webhook(&harness, json!({ "deliver_only": true })).await;
        let before = accepted(post(&harness, &webhook, &[], r#"{"n":0}"#).await);
        let list = async |webhook: Option<&str>, cursor: Option<&DeliveryId>| {
            let query = DeliveryQuery {
                webhook: webhook.map(str::to_owned),
                cursor: cursor.map(|id| id.as_str().to_owned()),
                limit: 10,
                ..DeliveryQuery::default()
            };
            harness.webhooks.deliveries(query).await.unwrap()
        };
        let id = webhook.id.as_str();
        assert_eq!(list(Some(id), None).await.held_since, None);
        harness.seal().await;
        let arrived = harness.clock_ms();
        for body in [r#"{"n":1}"#, r#"{"n":2}"#] {
            accepted(post(&harness, &webhook, &[], body).await);
            harness.advance(Duration::from_mins(10));
        }
        let page = list(Some(id), None).await;
        assert_eq!(page.held_since, Some(Timestamp::from_millis(arrived)));
        assert_eq!(page.deliveries.len(), 1);
        assert_eq!(list(Some(id), Some(&before)).await.held_since, None);
        assert_eq!(list(Some(other.id.as_str()), None).await.held_since, None);
        assert_eq!(list(None, None).await.held_since, None);
        harness.work();
        harness.unseal().await;
        until_none(&harness).await;
        let page = list(Some(id), None).await;
        assert_eq!((page.held_since, page.deliveries.len()), (None, 3));
        harness.stop().await;
    })
    .await;
}

/// Opens another process on the same database, with a sealed vault.
async fn restart(harness: Harness, database: &TestDatabase, model: &FakeModel) -> Harness {
    harness.stop().await;
    Harness::open_with(database, model, holding()).await
}

#[tokio::test]
async fn held_deliveries_survive_a_restart_and_a_new_data_key() {
    everywhere(async |database, model| {
        let harness = Harness::open_with(&database, &model, holding()).await;
        harness.initialize_vault().await;
        let webhook = open_webhook(&harness, json!({ "deliver_only": true })).await;
        harness.seal().await;
        let id = accepted(post(&harness, &webhook, &[], r#"{"a":1}"#).await);
        let harness = restart(harness, &database, &model).await;
        // No worker runs, so the delivery is still held when the key is replaced.
        harness.unseal().await;
        let password = SecretString::from(PASSWORD);
        let rotated = harness.secrets.rotate(&Actor::cli(), password).await;
        drop(rotated.unwrap());
        assert_eq!(held(&harness).await, 1);
        let harness = restart(harness, &database, &model).await;
        harness.work();
        harness.unseal().await;
        until_none(&harness).await;
        assert_eq!(rows(&harness).await[0].id, id);
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn an_outcome_that_a_crash_left_beside_its_held_delivery_is_not_repeated() {
    everywhere(async |database, model| {
        let harness = Harness::open_with(&database, &model, holding()).await;
        harness.initialize_vault().await;
        let webhook = open_webhook(&harness, json!({ "deliver_only": true })).await;
        harness.seal().await;
        let id = accepted(post(&harness, &webhook, &[], r#"{"a":1}"#).await);
        let find = harness
            .store
            .read(|conn| Box::pin(async move { conn.find_next_held_delivery(None).await }));
        let row = find.await.unwrap().unwrap();
        harness.work();
        harness.unseal().await;
        until_none(&harness).await;
        assert!(insert(&harness, row, ROOM, ROOM).await);
        harness.seal().await;
        harness.unseal().await;
        until_none(&harness).await;
        let rows = rows(&harness).await;
        assert_eq!((rows.len(), &rows[0].id), (1, &id));
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_damaged_delivery_is_rejected_and_holds_up_no_other() {
    everywhere(async |database, model| {
        let harness = Harness::open_with(&database, &model, holding()).await;
        harness.initialize_vault().await;
        let webhook = open_webhook(&harness, json!({ "deliver_only": true })).await;
        harness.seal().await;
        let good = accepted(post(&harness, &webhook, &[], r#"{"a":1}"#).await);
        let damaged = HeldDelivery {
            id: DeliveryId::from_text("del_0"),
            webhook_id: webhook.id.clone(),
            client: "192.0.2.1".to_owned(),
            size: 1,
            sealed: "AAAA.AAAA".to_owned(),
        };
        assert!(insert(&harness, damaged, ROOM, ROOM).await);
        harness.work();
        harness.unseal().await;
        until_none(&harness).await;
        let rows = rows(&harness).await;
        let damaged = of(&rows, &DeliveryId::from_text("del_0"));
        assert_eq!(damaged.status, DeliveryStatus::Rejected);
        assert_eq!(damaged.error.as_deref(), Some("held_unreadable"));
        assert_ne!(of(&rows, &good).status, DeliveryStatus::Rejected);
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn the_limits_of_a_webhook_and_of_a_client_hold_at_their_value_and_one_past_it() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let webhook = open_webhook(&harness, json!({})).await;
        let insert_one = async |n: u32, client: &str, size: i64| {
            let row = HeldDelivery {
                id: DeliveryId::from_text(format!("del_{n}")),
                webhook_id: webhook.id.clone(),
                client: client.to_owned(),
                size,
                sealed: String::new(),
            };
            let of_webhook = HoldLimit {
                deliveries: 3,
                bytes: 100,
            };
            let of_client = HoldLimit {
                deliveries: 2,
                bytes: 60,
            };
            insert(&harness, row, of_webhook, of_client).await
        };
        assert!(
            !insert_one(1, "a", 61).await,
            "one byte more than a client's share"
        );
        assert!(insert_one(1, "a", 60).await);
        assert!(
            !insert_one(2, "b", 41).await,
            "one byte more than the webhook's share"
        );
        assert!(insert_one(2, "b", 20).await);
        assert!(insert_one(3, "b", 20).await);
        assert!(!insert_one(4, "c", 0).await, "a fourth delivery");
        let delete = harness.store.write(|conn| {
            Box::pin(async move {
                conn.delete_held_delivery(&DeliveryId::from_text("del_1"))
                    .await
            })
        });
        delete.await.unwrap();
        assert!(
            !insert_one(4, "b", 0).await,
            "a third delivery of one client"
        );
        assert!(insert_one(4, "c", 0).await);
        harness.stop().await;
    })
    .await;
}

/// The sender waits for the answer, so a handshake is not stored for later.
#[tokio::test]
async fn a_handshake_is_answered_without_a_secret_or_else_refused() {
    everywhere(async |database, model| {
        let harness = Harness::open_with(&database, &model, holding()).await;
        harness.initialize_vault().await;
        let slack = json!({ "name": "n", "source_profile": "slack", "secret": "0".repeat(32) });
        let slack = create(&harness, slack).await.webhook;
        let zoom = json!({ "name": "n", "source_profile": "zoom", "secret": "0".repeat(32) });
        let zoom = create(&harness, zoom).await.webhook;
        let open = open_webhook(&harness, json!({ "source_profile": "slack" })).await;
        harness.seal().await;
        harness.webhooks.reload().await.unwrap();
        let of_slack = r#"{"type":"url_verification","challenge":"abc"}"#;
        let of_zoom = r#"{"event":"endpoint.url_validation","payload":{"plainToken":"p"}}"#;
        for (webhook, body) in [(&slack, of_slack), (&zoom, of_zoom)] {
            let refused = post(&harness, webhook, &[], body).await.unwrap_err();
            assert_eq!(refused.code, ErrorCode::VaultSealed);
        }
        let answered = post(&harness, &open, &[], of_slack).await.unwrap();
        let Ingested::Handshake(HandshakeReply::Json(reply)) = answered else {
            panic!("{answered:?}");
        };
        assert_eq!(reply, json!({ "challenge": "abc" }));
        assert_eq!(held(&harness).await, 0);
        // Other deliveries are still held.
        accepted(post(&harness, &slack, &[], r#"{"type":"event_callback"}"#).await);
        assert_eq!(held(&harness).await, 1);
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_client_that_has_used_its_share_is_asked_to_retry_and_others_are_not() {
    everywhere(async |database, model| {
        let wanted = WebhooksSettings {
            section: gatehouse_config::Webhooks {
                global_rate_limit_per_minute: 1_000_000,
                ..gatehouse_config::Webhooks::default()
            },
            ..holding()
        };
        let harness = Harness::open_with(&database, &model, wanted).await;
        harness.initialize_vault().await;
        let webhook = open_webhook(&harness, json!({ "rate_limit_per_minute": 100_000 })).await;
        harness.seal().await;
        for _ in 0..500 {
            accepted(post(&harness, &webhook, &[], "1").await);
        }
        let refused = post(&harness, &webhook, &[], "1").await.unwrap_err();
        assert_eq!(refused.code, ErrorCode::VaultSealed);
        let id = &webhook.public_id;
        accepted(post_from(&harness, "198.51.100.1", id, &[], b"1").await);
        assert_eq!(held(&harness).await, 501);
        // All senders behind a proxy on this machine have its address.
        for _ in 501..1000 {
            accepted(post_from(&harness, "127.0.0.1", id, &[], b"1").await);
        }
        let refused = post_from(&harness, "127.0.0.1", id, &[], b"1").await;
        assert_eq!(refused.unwrap_err().code, ErrorCode::VaultSealed);
        harness.stop().await;
    })
    .await;
}
