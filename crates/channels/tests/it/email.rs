//! Mail against a local SMTP server.

use crate::harness::{blame, give_up, harness, retry};
use crate::smtp::{MailServer, Script};
use gatehouse_domain::ErrorCode;
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn fields(server: &MailServer) -> Value {
    json!({
        "host": "localhost", "port": server.port,
        "from": "Gatehouse <gatehouse@example.com>", "to": "a@example.com, B <b@example.com>",
    })
}

fn with(mut fields: Value, name: &str, value: &str) -> Value {
    fields[name] = json!(value);
    fields
}

#[tokio::test]
async fn the_greeting_names_this_server() {
    let (harness, server) = (harness().await, MailServer::start(Script::default()).await);
    harness.create("email", fields(&server)).await;
    for (host, client) in [
        ("gate.example.com", "gate.example.com"),
        ("192.0.2.7", "[192.0.2.7]"),
    ] {
        harness.channels.set_host(Some(host));
        harness.send("email", host).await.unwrap();
        assert_eq!(server.take_one().client, client);
    }
    // Without a host, the name of this machine is used.
    harness.channels.set_host(None);
    harness.send("email", "text").await.unwrap();
    let client = server.take_one().client;
    assert!(!client.is_empty() && client != "[127.0.0.1]", "{client}");
}

#[tokio::test]
async fn a_mail_is_plain_text_to_all_recipients() {
    let (harness, server) = (harness().await, MailServer::start(Script::default()).await);
    harness.create("email", fields(&server)).await;
    harness
        .send("email", "Line 1\n.\nLine <b>3</b>")
        .await
        .unwrap();
    let mail = server.take_one();
    assert!(
        mail.from.starts_with("MAIL FROM:<gatehouse@example.com>"),
        "{}",
        mail.from
    );
    assert_eq!(
        mail.to,
        ["RCPT TO:<a@example.com>", "RCPT TO:<b@example.com>"]
    );
    assert_eq!(mail.header("From"), "Gatehouse <gatehouse@example.com>");
    assert_eq!(mail.header("To"), "a@example.com, B <b@example.com>");
    assert_eq!(mail.header("Subject"), "deploys");
    assert_eq!(mail.header("Date"), "Wed, 18 Nov 2026 11:06:40 +0000");
    assert_eq!(mail.header("Auto-Submitted"), "auto-generated");
    assert!(mail.header("Message-ID").ends_with("@example.com>"));
    assert!(
        mail.header("Content-Type")
            .starts_with("text/plain; charset=utf-8")
    );
    assert_eq!(mail.body().trim_end(), "Line 1\r\n.\r\nLine <b>3</b>");
    assert!(!mail.over_tls && mail.user.is_empty());
}

#[tokio::test]
async fn a_message_may_say_subject_and_recipients_but_no_further_header() {
    let (harness, server) = (harness().await, MailServer::start(Script::default()).await);
    harness.create("email", fields(&server)).await;
    let extra = [
        ("to", "c@example.com, D <d@example.com>"),
        ("subject", "Hi\r\nBcc: evil@example.com\r\n\r\nbody"),
        ("host", "evil.example"),
        ("from", "evil@example.com"),
    ];
    harness.send_with("email", "x", &extra[..3]).await.unwrap();
    let mail = server.take_one();
    assert_eq!(
        mail.to,
        ["RCPT TO:<c@example.com>", "RCPT TO:<d@example.com>"]
    );
    assert_eq!(mail.header("Subject"), "HiBcc: evil@example.combody");
    assert_eq!(mail.header("Bcc"), "");
    // The sender is always the account's. A message cannot override it.
    harness.send_with("email", "x", &extra).await.unwrap();
    assert_eq!(
        server.take_one().header("From"),
        "Gatehouse <gatehouse@example.com>"
    );
    let injected = [("to", "c@example.com>\r\nRCPT TO:<evil@example.com")];
    assert!(give_up(harness.send_with("email", "x", &injected).await).contains("`to`"));
    assert!(server.take().is_empty());
    harness
        .send_with("email", "x", &[("subject", "Grüße 😀")])
        .await
        .unwrap();
    assert!(server.take_one().header("Subject").starts_with("=?utf-8?"));
}

#[tokio::test]
async fn tls_is_used_where_it_is_offered_and_the_password_goes_through_it() {
    let script = Script {
        offers: vec!["STARTTLS", "AUTH PLAIN"],
        ..Script::default()
    };
    let (harness, server) = (harness().await, MailServer::start(script).await);
    let fields = with(with(fields(&server), "user", "me"), "password", "pass word");
    harness.create("email", fields).await;
    harness.send("email", "x").await.unwrap();
    let mail = server.take_one();
    assert!(mail.over_tls);
    assert_eq!(mail.user, "\0me\0pass word");
}

#[tokio::test]
async fn replies_say_whether_another_try_may_help() {
    for (command, reply, expected) in [
        ("MAIL", "451 later", None),
        ("RCPT", "450 greylisted", None),
        ("DATA", "421 closing", None),
        (
            "RCPT",
            "550 no such user <secret detail>",
            Some("refused the message (550)"),
        ),
        (
            "MAIL",
            "530 log in first",
            Some("user name or the password"),
        ),
    ] {
        let script = Script {
            replies: BTreeMap::from([(command, reply)]),
            ..Script::default()
        };
        let (harness, server) = (harness().await, MailServer::start(script).await);
        harness.create("email", fields(&server)).await;
        let sent = harness.send("email", "x").await;
        match expected {
            None => assert!(!retry(sent).1.contains("greylisted")),
            Some(sentence) => {
                let why = give_up(sent);
                assert!(why.contains(sentence) && !why.contains("detail"), "{why}");
            }
        }
        assert!(server.take().is_empty());
    }
}

#[tokio::test]
async fn a_wrong_password_is_given_up() {
    let script = Script {
        offers: vec!["AUTH PLAIN"],
        replies: BTreeMap::from([("AUTH", "535 no")]),
        ..Script::default()
    };
    let (harness, server) = (harness().await, MailServer::start(script).await);
    let fields = with(with(fields(&server), "user", "me"), "password", "wrong");
    harness.create("email", fields).await;
    assert!(give_up(harness.send("email", "x").await).contains("user name or the password"));
}

#[tokio::test]
async fn nobody_there_may_pass_and_metadata_never_is_a_mail_server() {
    let harness = harness().await;
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let base = json!({ "port": port, "from": "a@example.com", "to": "b@example.com" });
    harness
        .create("email", with(base.clone(), "host", "127.0.0.1"))
        .await;
    retry(harness.send("email", "x").await);
    // The row is older than the check in `create` that rejects these accounts.
    let id = Some("metadata");
    harness
        .try_create("email", id, with(base, "host", "10.0.0.1"))
        .await
        .unwrap();
    let write = harness.store.write(move |conn| {
        Box::pin(async move {
            let mut row = conn.find_channel_account("metadata").await?.unwrap();
            row.fields = row.fields.replace("10.0.0.1", "169.254.169.254");
            conn.update_channel_account(&row).await
        })
    });
    let stored: Result<_, gatehouse_store::StoreError> = write.await;
    stored.unwrap();
    assert!(give_up(harness.send("email:metadata", "x").await).contains("are not allowed"));
}

#[tokio::test]
async fn a_user_needs_a_password_and_the_other_way_round() {
    let (harness, server) = (harness().await, MailServer::start(Script::default()).await);
    for (given, missing) in [("user", "password"), ("password", "user")] {
        let refused = harness
            .try_create("email", None, with(fields(&server), given, "x"))
            .await;
        assert_eq!(
            blame(refused),
            (ErrorCode::InvalidParams, missing.to_owned())
        );
    }
}
