//! The requirements of a login and the errors of a failed login.

use super::{fields, why, with};
use crate::harness::{actor, blame, harness, object};
use crate::imap::{ImapServer, Offers, USER};
use gatehouse_channels::{AccountChange, ReceiverState};
use gatehouse_domain::ErrorCode;
use serde_json::{Value, json};

#[tokio::test]
async fn a_login_that_fails_says_why() {
    let server = ImapServer::start(Offers::default()).await;
    let harness = harness().await;
    let cases: [(&str, Value, bool, &str); 6] = [
        ("imap_password", json!("wrong"), true, "password"),
        ("imap_user", json!("nobody"), true, "password"),
        ("mailbox", json!("Missing"), true, "mailbox"),
        ("authserv_id", Value::Null, true, "authserv_id"),
        ("imap_security", json!("starttls"), true, "STARTTLS"),
        ("imap_security", json!("tls"), false, "TLS"),
    ];
    for (field, value, is_final, word) in cases {
        let account = harness
            .create("email", with(fields(&server), field, value))
            .await;
        let mut state = ReceiverState::default();
        let failed = harness
            .channels
            .receive(&account.id, &mut state, None)
            .await;
        let (stopped, words) = why(failed.unwrap_err());
        assert_eq!(stopped, is_final, "{field}: {words}");
        assert!(words.contains(word), "{words}");
        harness.channels.delete(actor(), &account.id).await.unwrap();
    }
    for (login, is_final) in [
        ("NO [UNAVAILABLE] later", false),
        ("NO [LIMIT] too many", false),
        ("NO [EXPIRED] old", true),
        ("NO no", true),
    ] {
        server.set(|offers| offers.login = Some(login));
        let account = harness.create("email", fields(&server)).await;
        let mut state = ReceiverState::default();
        let failed = harness
            .channels
            .receive(&account.id, &mut state, None)
            .await;
        assert_eq!(why(failed.unwrap_err()).0, is_final, "{login}");
        harness.channels.delete(actor(), &account.id).await.unwrap();
    }
    for greeting in ["* BYE full", "* PREAUTH welcome", "220 mail.test ESMTP"] {
        server.set(|offers| offers.greeting = greeting);
        let account = harness.create("email", fields(&server)).await;
        let mut state = ReceiverState::default();
        let failed = harness
            .channels
            .receive(&account.id, &mut state, None)
            .await;
        assert!(failed.is_err(), "{greeting}");
        harness.channels.delete(actor(), &account.id).await.unwrap();
    }
}

#[tokio::test]
async fn the_password_is_sent_only_after_tls() {
    for (security, offers) in [
        (
            "tls",
            Offers {
                tls: true,
                ..Offers::default()
            },
        ),
        (
            "starttls",
            Offers {
                starttls: true,
                ..Offers::default()
            },
        ),
    ] {
        let server = ImapServer::start(offers).await;
        let harness = harness().await;
        let account = with(fields(&server), "imap_security", json!(security));
        harness.create("email", account).await;
        harness.outbound.trust_only(&server.certificate).unwrap();
        let mut state = ReceiverState::default();
        let received = harness
            .channels
            .receive("email", &mut state, None)
            .await
            .unwrap();
        assert!(received.is_new_position);
        assert_eq!(server.refused(), Vec::<String>::new());
        assert_eq!(server.count("AUTHENTICATE"), 1);
        // Of two channels for one mailbox, only the older one receives.
        let deleted = harness.channels.delete(actor(), "email").await;
        deleted.unwrap();
        // The certificate is not trusted.
        let other = ImapServer::start(Offers {
            tls: true,
            ..Offers::default()
        })
        .await;
        let account = with(fields(&other), "imap_security", json!("tls"));
        let account = harness.create("email", account).await;
        let mut state = ReceiverState::default();
        let failed = harness
            .channels
            .receive(&account.id, &mut state, None)
            .await;
        assert!(why(failed.unwrap_err()).1.contains("certificate"));
        assert_eq!(other.count("AUTHENTICATE"), 0);
    }
}

#[tokio::test]
async fn words_before_tls_are_not_believed() {
    for before_tls in [
        "* CAPABILITY IMAP4rev1 AUTH=PLAIN\r\n",
        "* OK hi\r\n",
        "g3 OK done\r\n",
        "*",
    ] {
        let offers = Offers {
            starttls: true,
            before_tls,
            ..Offers::default()
        };
        let server = ImapServer::start(offers).await;
        let harness = harness().await;
        let account = with(fields(&server), "imap_security", json!("starttls"));
        harness.create("email", account).await;
        harness.outbound.trust_only(&server.certificate).unwrap();
        let mut state = ReceiverState::default();
        let failed = harness.channels.receive("email", &mut state, None).await;
        let (is_final, words) = why(failed.unwrap_err());
        assert!(
            !is_final && words.contains("before TLS"),
            "{before_tls}: {words}"
        );
        assert_eq!(server.log(), ["CAPABILITY", "STARTTLS"]);
    }
}

#[tokio::test]
async fn an_account_that_receives_has_all_it_needs() {
    let (harness, server) = (harness().await, ImapServer::start(Offers::default()).await);
    for field in ["imap_host", "imap_user", "imap_password"] {
        let account = with(fields(&server), field, Value::Null);
        let refused = harness.try_create("email", None, account.clone()).await;
        assert_eq!(blame(refused), (ErrorCode::InvalidParams, field.to_owned()));
        harness
            .create("email", with(account, "inbound", json!(false)))
            .await;
    }
    let odd = with(fields(&server), "imap_security", json!("ssl"));
    let refused = harness.try_create("email", None, odd).await;
    assert_eq!(
        blame(refused),
        (ErrorCode::InvalidParams, "imap_security".to_owned())
    );
    // `none` is allowed only for this machine.
    let away = with(fields(&server), "imap_host", json!("169.254.169.254"));
    assert_eq!(
        blame(harness.try_create("email", None, away).await).1,
        "imap_host"
    );
}

#[tokio::test]
async fn a_password_goes_only_to_the_server_that_it_was_entered_for() {
    let (harness, server) = (harness().await, ImapServer::start(Offers::default()).await);
    let account = with(fields(&server), "user", json!("u"));
    harness
        .create("email", with(account, "password", json!("smtp password")))
        .await;
    let update = |fields: Value| AccountChange {
        fields: object(fields),
        ..AccountChange::default()
    };
    let moved = update(json!({ "imap_host": "127.0.0.1" }));
    let refused = harness
        .channels
        .update(actor(), false, "email", moved.clone())
        .await;
    assert_eq!(blame(refused).0, ErrorCode::Forbidden);
    let changed = harness
        .channels
        .update(actor(), true, "email", moved)
        .await
        .unwrap();
    assert_eq!(
        changed.enter_again,
        ["imap_password"],
        "the other server has not changed"
    );
    let mut state = ReceiverState::default();
    let failed = harness.channels.receive("email", &mut state, None).await;
    assert!(why(failed.unwrap_err()).1.contains("enter it again"));
    assert_eq!(server.connections(), 0);
    let back = update(json!({ "imap_host": "localhost", "host": "127.0.0.1" }));
    let changed = harness
        .channels
        .update(actor(), true, "email", back)
        .await
        .unwrap();
    assert_eq!(changed.enter_again, ["password"]);
}

/// An email of a trusted person counts as the owner's email.
#[tokio::test]
async fn only_an_administrator_changes_what_decides_whose_mail_counts() {
    let (harness, server) = (harness().await, ImapServer::start(Offers::default()).await);
    harness.create("email", fields(&server)).await;
    let update = |is_admin: bool, changed: Value| {
        let change = AccountChange {
            fields: object(changed),
            ..AccountChange::default()
        };
        harness.channels.update(actor(), is_admin, "email", change)
    };
    for (field, value) in [
        ("authserv_id", json!("mx.evil.example")),
        ("authserv_id", Value::Null),
        ("imap_user", json!("other@example.com")),
        ("imap_addresses", json!("other@example.com")),
        ("from", json!("other@example.com")),
    ] {
        let refused = update(false, json!({ (field): value })).await;
        assert_eq!(blame(refused).0, ErrorCode::Forbidden, "{field}");
    }
    // Equal values are not a change, and other fields do not require an administrator.
    let same = json!({ "authserv_id": "mx.example.com", "imap_user": USER, "to": "a@example.com" });
    update(false, same).await.unwrap();
    let moved = json!({ "authserv_id": "mx.other.example" });
    let changed = update(true, moved).await.unwrap();
    assert_eq!(
        serde_json::to_value(&changed).unwrap()["fields"]["authserv_id"],
        "mx.other.example"
    );
}
