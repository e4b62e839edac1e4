//! Creating, changing, finding and deleting accounts.

use crate::harness::{actor, blame, give_up, harness, harnesses, object, problem};
use gatehouse_channels::{AccountChange, Channels, NewAccount};
use gatehouse_domain::ErrorCode;
use serde_json::{Value, json};

const MASK: &str = "••••";

fn invalid(field: &str) -> (ErrorCode, String) {
    (ErrorCode::InvalidParams, field.to_owned())
}

#[test]
fn only_mail_and_ntfy_have_a_title() {
    for (target, key) in [
        ("email", Some("subject")),
        ("ntfy:ops", Some("title")),
        ("http", None),
        ("telegram", None),
        ("log", None),
        ("unknown", None),
    ] {
        assert_eq!(Channels::title_key(target), key, "{target}");
    }
}

fn fields(value: Value) -> AccountChange {
    AccountChange {
        fields: object(value),
        ..AccountChange::default()
    }
}

#[tokio::test]
async fn an_account_shows_its_secrets_masked() {
    for harness in harnesses().await {
        let made = harness
            .create("telegram", json!({ "bot_token": "1:a", "chat_id": 5 }))
            .await;
        assert_eq!(
            serde_json::to_value(&made).unwrap(),
            json!({
                "id": "telegram", "type": "telegram", "label": "My telegram",
                "fields": { "chat_id": "5", "bot_token": MASK }, "enabled": true,
            })
        );
        let all = harness.channels.list().await.unwrap();
        let ids: Vec<_> = all.iter().map(|account| account.id.as_str()).collect();
        assert_eq!(ids, ["inbox", "log", "telegram"]);
        assert_eq!(all[2], made);
        assert_eq!(
            harness.audit().await,
            [(
                "channel.created".to_owned(),
                json!({
                    "id": "telegram", "type": "telegram", "label": "My telegram", "enabled": true,
                })
            )]
        );
    }
}

#[tokio::test]
async fn ids_are_made_from_the_type_or_given_once() {
    for harness in harnesses().await {
        for expected in ["ntfy", "ntfy-2", "ntfy-3"] {
            assert_eq!(
                harness.create("ntfy", json!({ "topic": "t" })).await.id,
                expected
            );
        }
        let named = harness
            .try_create("ntfy", Some("Ops_1"), json!({}))
            .await
            .unwrap();
        assert_eq!(named.id, "Ops_1");
        for taken in ["Ops_1", "ntfy", "inbox", "log"] {
            let again = harness.try_create("ntfy", Some(taken), json!({})).await;
            assert_eq!(blame(again).0, ErrorCode::Conflict, "{taken}");
        }
        for bad in ["", "a:b", "a b", "x/y"] {
            assert_eq!(
                blame(harness.try_create("ntfy", Some(bad), json!({})).await),
                invalid("id")
            );
        }
    }
}

#[tokio::test]
async fn what_is_wrong_is_named() {
    let harness = harness().await;
    let refused = |kind: &'static str, value: Value| async {
        blame(harness.try_create(kind, None, value).await)
    };
    assert_eq!(refused("teletype", json!({})).await, invalid("type"));
    assert_eq!(refused("telegram", json!({})).await, invalid("bot_token"));
    assert_eq!(
        refused("telegram", json!({ "bot_token": "" })).await,
        invalid("bot_token")
    );
    assert_eq!(
        refused("telegram", json!({ "bot_token": "1:a", "chatid": "5" })).await,
        invalid("chatid")
    );
    assert_eq!(
        refused("slack", json!({ "channel": "C1" })).await,
        invalid("bot_token")
    );
    assert_eq!(refused("discord", json!({})).await, invalid("webhook_url"));
    assert_eq!(
        refused("matrix", json!({ "access_token": "x" })).await,
        invalid("homeserver")
    );
    assert_eq!(
        refused("email", json!({ "host": "x", "from": "y" })).await,
        invalid("from")
    );
    assert_eq!(
        refused("http", json!({ "url": "http://x", "secret": "whsec_!" })).await,
        invalid("secret")
    );
    assert_eq!(
        refused("inbox", json!({ "topic": "x" })).await,
        invalid("topic")
    );
    assert_eq!(
        harness.channels.list().await.unwrap().len(),
        2,
        "nothing was stored"
    );
}

#[tokio::test]
async fn a_change_keeps_what_it_does_not_name() {
    for harness in harnesses().await {
        harness
            .create("telegram", json!({ "bot_token": "1:a", "chat_id": "5" }))
            .await;
        let update = |change| harness.channels.update(actor(), true, "telegram", change);
        let kept = update(fields(json!({ "bot_token": MASK, "chat_id": "6" })))
            .await
            .unwrap();
        assert_eq!(
            Value::Object(kept.fields),
            json!({ "chat_id": "6", "bot_token": MASK })
        );
        assert_eq!(harness.secret_rows().await[0].value, "1:a");
        let changed = update(AccountChange {
            label: Some("Other".to_owned()),
            enabled: Some(false),
            fields: object(json!({ "bot_token": "2:b", "chat_id": null })),
        });
        let changed = changed.await.unwrap();
        assert_eq!((changed.label.as_str(), changed.enabled), ("Other", false));
        assert_eq!(Value::Object(changed.fields), json!({ "bot_token": MASK }));
        assert_eq!(harness.secret_rows().await[0].value, "2:b");
        assert_eq!(
            blame(update(fields(json!({ "bot_token": null }))).await),
            invalid("bot_token")
        );
        assert_eq!(
            blame(update(fields(json!({ "x": "y" }))).await),
            invalid("x")
        );
        let nobody = harness
            .channels
            .update(actor(), true, "none", AccountChange::default());
        assert_eq!(blame(nobody.await).0, ErrorCode::NotFound);
        assert_eq!(
            harness
                .audit()
                .await
                .iter()
                .filter(|row| row.0 == "channel.updated")
                .count(),
            2
        );
    }
}

#[tokio::test]
async fn an_optional_secret_can_be_cleared() {
    let harness = harness().await;
    harness
        .create("ntfy", json!({ "topic": "t", "token": "tk_1" }))
        .await;
    let change = fields(json!({ "token": null }));
    let cleared = harness
        .channels
        .update(actor(), true, "ntfy", change)
        .await
        .unwrap();
    assert_eq!(Value::Object(cleared.fields), json!({ "topic": "t" }));
    assert!(harness.secret_rows().await.is_empty());
}

#[tokio::test]
async fn deleting_takes_the_secrets_along() {
    for harness in harnesses().await {
        harness
            .create("telegram", json!({ "bot_token": "1:a" }))
            .await;
        harness.channels.delete(actor(), "telegram").await.unwrap();
        assert!(harness.secret_rows().await.is_empty());
        let again = harness.channels.delete(actor(), "telegram").await;
        assert_eq!(blame(again).0, ErrorCode::NotFound);
        for built_in in ["inbox", "log"] {
            let refused = harness.channels.delete(actor(), built_in).await;
            assert_eq!(blame(refused).0, ErrorCode::Conflict);
            let refused = harness
                .channels
                .update(actor(), true, built_in, AccountChange::default())
                .await;
            assert_eq!(blame(refused).0, ErrorCode::Conflict);
        }
    }
}

#[tokio::test]
async fn a_new_address_requires_admin() {
    let harness = harness().await;
    let create = |kind: &'static str, value: Value| {
        let new = NewAccount {
            kind: kind.to_owned(),
            label: "x".to_owned(),
            fields: object(value),
            id: None,
            enabled: true,
        };
        harness.channels.create(actor(), false, new)
    };
    for (kind, value) in [
        ("http", json!({})),
        ("http", json!({ "url": "http://127.0.0.1/" })),
        (
            "telegram",
            json!({ "bot_token": "1:a", "base_url": "http://127.0.0.1/" }),
        ),
        ("slack", json!({ "webhook_url": "http://127.0.0.1/" })),
        ("ntfy", json!({ "url": "http://127.0.0.1/" })),
        (
            "matrix",
            json!({ "homeserver": "http://127.0.0.1/", "access_token": "x" }),
        ),
    ] {
        let refused = problem(create(kind, value).await);
        assert_eq!(refused.code, ErrorCode::Forbidden, "{kind}");
        assert_eq!(refused.details["required_scope"], "operator.admin");
    }
    create("telegram", json!({ "bot_token": "1:a" }))
        .await
        .unwrap();
    create("ntfy", json!({ "topic": "t" })).await.unwrap();
    let move_it = fields(json!({ "base_url": "http://127.0.0.1/" }));
    let refused = harness
        .channels
        .update(actor(), false, "telegram", move_it)
        .await;
    assert_eq!(blame(refused).0, ErrorCode::Forbidden);
    harness
        .channels
        .update(
            actor(),
            false,
            "telegram",
            fields(json!({ "chat_id": "1" })),
        )
        .await
        .unwrap();
}

#[tokio::test]
async fn a_new_mail_server_requires_admin() {
    for harness in harnesses().await {
        let mail = json!({
            "host": "mail.example.com", "user": "me", "password": "p", "from": "a@example.com",
        });
        let new = NewAccount {
            kind: "email".to_owned(),
            label: "x".to_owned(),
            fields: object(mail.clone()),
            id: None,
            enabled: true,
        };
        let refused = problem(harness.channels.create(actor(), false, new).await);
        assert_eq!(refused.code, ErrorCode::Forbidden);
        assert_eq!(refused.details["required_scope"], "operator.admin");
        harness.create("email", mail).await;
        let update = |is_admin, value| {
            harness
                .channels
                .update(actor(), is_admin, "email", fields(value))
        };
        for moved in [
            json!({ "host": "evil.example.com" }),
            json!({ "host": "10.0.0.1", "password": "q" }),
            json!({ "port": 2525 }),
        ] {
            assert_eq!(
                blame(update(false, moved.clone()).await).0,
                ErrorCode::Forbidden
            );
            update(true, moved).await.unwrap();
        }
        // The fields as a form submits them, with another recipient.
        let same = json!({ "host": "10.0.0.1", "port": 2525, "to": "b@example.com" });
        let changed = update(false, same).await.unwrap();
        assert_eq!(changed.fields["to"], "b@example.com");
        let cleared = update(false, json!({ "port": null })).await;
        assert_eq!(blame(cleared).0, ErrorCode::Forbidden);
    }
}

#[tokio::test]
async fn a_mail_server_is_no_metadata_service() {
    let harness = harness().await;
    let mail = json!({ "host": "169.254.169.254", "from": "a@example.com" });
    let refused = harness.try_create("email", None, mail).await;
    assert_eq!(blame(refused), invalid("host"));
}

#[tokio::test]
async fn a_test_without_words_is_refused() {
    let harness = harness().await;
    for empty in ["", " \n"] {
        let refused = harness.channels.test("inbox", Some(empty)).await;
        assert_eq!(blame(refused), invalid("text"), "{empty:?}");
    }
    harness.channels.test("inbox", Some("x")).await.unwrap();
}

#[tokio::test]
async fn a_target_is_a_type_or_one_of_its_accounts() {
    for harness in harnesses().await {
        let check = |target: &'static str| harness.channels.check_target(target);
        for good in ["inbox", "log", "inbox:inbox"] {
            check(good).await.unwrap();
        }
        for bad in [
            "",
            "teletype",
            "telegram",
            "telegram:telegram",
            "inbox:other",
            ":",
            "Inbox",
            "inbox:",
        ] {
            assert_eq!(blame(check(bad).await), invalid("deliver_to"), "{bad}");
        }
        harness
            .create("telegram", json!({ "bot_token": "1:a" }))
            .await;
        harness.create("ntfy", json!({})).await;
        for good in ["telegram", "telegram:telegram", "ntfy"] {
            check(good).await.unwrap();
        }
        assert_eq!(blame(check("ntfy:telegram").await), invalid("deliver_to"));
        assert!(give_up(harness.send("slack", "x").await).contains("no such slack channel"));
    }
}

#[tokio::test]
async fn the_default_is_the_oldest_that_is_enabled() {
    let harness = harness().await;
    harness.create("inbox", json!({})).await;
    let vendor = crate::vendor::Vendor::start(|_| (200, Vec::new(), String::new())).await;
    for topic in ["first", "second"] {
        harness
            .create("ntfy", json!({ "topic": topic, "url": vendor.url("") }))
            .await;
        harness.clock.advance(std::time::Duration::from_secs(1));
    }
    harness.send("ntfy", "x").await.unwrap();
    assert_eq!(vendor.take_one().target, "/first");
    let off = |id: &'static str| {
        let change = AccountChange {
            enabled: Some(false),
            ..AccountChange::default()
        };
        harness.channels.update(actor(), false, id, change)
    };
    off("ntfy").await.unwrap();
    harness.send("ntfy", "x").await.unwrap();
    assert_eq!(vendor.take_one().target, "/second");
    assert!(give_up(harness.send("ntfy:ntfy", "x").await).contains("disabled"));
    off("ntfy-2").await.unwrap();
    harness.channels.check_target("ntfy").await.unwrap();
    assert!(give_up(harness.send("ntfy", "x").await).contains("disabled"));
    // A disabled account can be tested.
    harness.channels.test("ntfy", Some("try")).await.unwrap();
    assert_eq!(vendor.take_one().text(), "try");
}

#[tokio::test]
async fn types_say_what_they_need_and_where_they_can_send() {
    let harness = harness().await;
    harness
        .create("telegram", json!({ "bot_token": "1:a" }))
        .await;
    let types = serde_json::to_value(harness.channels.types().await.unwrap()).unwrap();
    let of = |kind: &str| {
        let mut types = types.as_array().unwrap().iter();
        types.find(|it| it["type"] == kind).unwrap()
    };
    let telegram = of("telegram");
    assert_eq!(of("inbox")["targets"], json!(["inbox", "inbox:inbox"]));
    assert_eq!(
        telegram["targets"],
        json!(["telegram", "telegram:telegram"])
    );
    assert_eq!(of("slack")["targets"], json!([]));
    assert_eq!(of("ntfy")["fields"][1]["per_message"], true);
    let token = &telegram["fields"][0];
    assert_eq!(token["per_message"], false);
    assert_eq!(
        (&token["name"], &token["secret"], &token["required"]),
        (&json!("bot_token"), &json!(true), &json!(true))
    );
    assert_eq!(telegram["extra"][0]["name"], "chat_id");
}

#[tokio::test]
async fn a_test_says_what_is_wrong() {
    let harness = harness().await;
    let vendor = crate::vendor::Vendor::start(|_| (200, Vec::new(), String::new())).await;
    harness
        .create("ntfy", json!({ "url": vendor.url("") }))
        .await;
    assert_eq!(
        blame(harness.channels.test("ntfy", None).await),
        invalid("topic")
    );
    assert_eq!(
        blame(harness.channels.test("none", None).await).0,
        ErrorCode::NotFound
    );
    harness.channels.test("inbox", None).await.unwrap();
    let topic = fields(json!({ "topic": "t" }));
    harness
        .channels
        .update(actor(), true, "ntfy", topic)
        .await
        .unwrap();
    harness.channels.test("ntfy", None).await.unwrap();
    assert_eq!(
        vendor.take_one().text(),
        "This is a test message from Gatehouse."
    );
    for (status, retryable) in [(500, true), (429, true), (403, false)] {
        vendor.next((status, Vec::new(), "secret answer".to_owned()));
        let failed = problem(harness.channels.test("ntfy", None).await);
        assert_eq!(failed.code, ErrorCode::ProviderFailed);
        assert_eq!(
            (&failed.details["provider"], &failed.details["retryable"]),
            (&json!("ntfy"), &json!(retryable))
        );
        assert!(!failed.message.contains("secret"));
    }
}
