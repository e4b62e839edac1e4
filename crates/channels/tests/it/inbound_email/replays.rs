//! Emails that a recipient sends again, unchanged.

use super::{Mailbox, USER, authentic, date, fields, mail, mail_at, with};
use crate::harness::{NOW_MS, actor, harness, harnesses};
use crate::imap::{ImapServer, Offers};
use gatehouse_channels::ReceiverState;
use serde_json::json;
use std::time::Duration;

const DAY_MS: i64 = 24 * 3_600_000;

/// Returns an email with these fields instead of the usual ones.
fn with_fields(fields: &str) -> String {
    format!("{}{fields}\nhello\n", authentic("ann@a.example"))
}

#[tokio::test]
async fn a_mail_that_does_not_name_the_channel_is_ignored() {
    let server = ImapServer::start(Offers::default()).await;
    let harness = harness().await;
    let fields = with(
        fields(&server),
        "imap_addresses",
        json!("Office <office@c.example>"),
    );
    harness.create("email", fields).await;
    let mut mailbox = Mailbox {
        harness,
        server,
        state: ReceiverState::default(),
        position: None,
    };
    mailbox.receive().await;
    let rest = format!("Date: {}\nMessage-ID: <1@x.example>\n", date(NOW_MS));
    for named in [
        format!("To: {USER}\n"),
        "To: Gate <GATEHOUSE@example.com>\n".to_owned(),
        "To: gatehouse+tea@example.com\n".to_owned(),
        "To: bob@b.example\nCc: \"B, C\" <c@c.example>,\n gatehouse@example.com\n".to_owned(),
        "To: office@c.example\n".to_owned(),
    ] {
        let mail = with_fields(&format!("{named}{rest}"));
        assert!(mailbox.of_mail(&mail).await.is_some(), "{named}");
    }
    for other in [
        "",
        "To: bob@b.example\n",
        "Bcc: gatehouse@example.com\n",
        "To: undisclosed-recipients:;\n",
        "To: \"gatehouse@example.com\" <bob@b.example>\n",
        "To: gatehouse@b.example\n",
        "To: bob@b.example\nTo: gatehouse@example.com\n",
        "To: other@c.example\n",
    ] {
        let mail = with_fields(&format!("{other}{rest}"));
        assert_eq!(mailbox.of_mail(&mail).await, None, "{other}");
    }
}

#[tokio::test]
async fn an_old_mail_is_ignored_and_so_is_one_without_date_or_id() {
    let mut mailbox = Mailbox::open(Offers::default()).await;
    for (days, is_read) in [(0, true), (-2, true), (2, true), (-3, false), (3, false)] {
        let mail = mail_at(NOW_MS + days * DAY_MS, "ann@a.example", "", "hello");
        assert_eq!(mailbox.of_mail(&mail).await.is_some(), is_read, "{days}");
    }
    let (to, at) = (format!("To: {USER}\n"), format!("Date: {}\n", date(NOW_MS)));
    let id = "Message-ID: <1@x.example>\n";
    assert!(
        mailbox
            .of_mail(&with_fields(&format!("{to}{at}{id}")))
            .await
            .is_some()
    );
    for without in [
        format!("{to}{at}"),
        format!("{to}{id}"),
        format!("{to}{at}{at}{id}"),
    ] {
        let message = mailbox.of_mail(&with_fields(&without)).await;
        assert_eq!(message, None, "{without}");
    }
}

#[tokio::test]
async fn a_mail_counts_once_however_often_it_arrives() {
    for harness in harnesses().await {
        let mut mailbox = Mailbox::of(harness, Offers::default()).await;
        let channels = mailbox.harness.channels.clone();
        channels.claim_poll("email", "node", None).await.unwrap();
        mailbox.server.deliver(&mail("ann@a.example", "", "hello?"));
        let received = mailbox.receive().await;
        let stored = channels.store_received("email", "node", received).await;
        let code = &stored.unwrap().requests[0].code;
        channels.approve_pairing(actor(), code, true).await.unwrap();
        // The date of the email is two days ahead, so it may arrive for four days.
        let order = mail_at(NOW_MS + 2 * DAY_MS, "ann@a.example", "", "buy milk");
        let other = |days| mail_at(NOW_MS + days * DAY_MS, "ann@a.example", "", "other");
        let mut texts = Vec::new();
        for days in [0, 0, 3, 4] {
            let now = NOW_MS + days * DAY_MS - 1000 * i64::from(days == 4);
            let ahead = now - gatehouse_domain::Clock::now(&*mailbox.harness.clock).as_millis();
            let ahead = u64::try_from(ahead).unwrap_or(0);
            mailbox.harness.clock.advance(Duration::from_millis(ahead));
            mailbox.server.deliver(&order);
            // White space and other fields are changed on the way.
            mailbox
                .server
                .deliver(&order.replace("Message-ID: ", "X: y\nMessage-Id:\n  "));
            // Each message deletes the IDs of old ones.
            mailbox.server.deliver(&other(days));
            let received = mailbox.receive().await;
            assert_eq!(received.messages.len(), 3);
            channels
                .store_received("email", "node", received)
                .await
                .unwrap();
            for message in channels.list_waiting_messages("email").await.unwrap() {
                texts.push(message.text.clone());
                channels.end_message(&message).await.unwrap();
            }
            mailbox.restart();
        }
        assert_eq!(texts, ["buy milk", "other", "other", "other", "other"]);
    }
}
