//! Answers, and that they end.

use super::{AUTHENTIC, Mailbox, date, mail};
use crate::harness::{NOW_MS, actor, harnesses};
use crate::imap::Offers;
use crate::smtp::{MailServer, Script};
use serde_json::json;
use std::time::Duration;

#[tokio::test]
async fn an_answer_is_a_reply_and_says_that_it_is_automatic() {
    let smtp = MailServer::start(Script::default()).await;
    let mut mailbox = Mailbox::open(Offers::default()).await;
    let change = gatehouse_channels::AccountChange {
        fields: crate::harness::object(json!({ "port": smtp.port, "to": "owner@example.com" })),
        ..Default::default()
    };
    mailbox
        .harness
        .channels
        .update(actor(), true, "email", change)
        .await
        .unwrap();
    let more = "Subject: =?utf-8?q?Tee=3F_=C3=A4?=\nReferences: <0@x.example>\nReply-To: victim@b.example\n";
    let question = mail("ann@a.example", more, "hello");
    let id = question.split_once("Message-ID: ").unwrap().1;
    let id = id.lines().next().unwrap();
    let message = mailbox.of_mail(&question).await.unwrap();
    let channels = &mailbox.harness.channels;
    let thread = message.thread.as_deref();
    let extra = channels
        .address("email", &message.chat, thread)
        .await
        .unwrap();
    let extra: Vec<_> = extra
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    mailbox
        .harness
        .send_with("email", "pong", &extra)
        .await
        .unwrap();
    let answer = smtp.take_one();
    assert_eq!(answer.to, ["RCPT TO:<ann@a.example>"]);
    assert_eq!(answer.header("To"), "ann@a.example");
    assert_eq!(answer.header("Auto-Submitted"), "auto-replied");
    assert_eq!(answer.header("In-Reply-To"), id);
    assert_eq!(answer.header("References"), format!("<0@x.example> {id}"));
    let subject = answer.header("Subject");
    assert!(
        subject.starts_with("Re: Tee? ") || subject.starts_with("=?utf-8?"),
        "{subject}"
    );
    assert_eq!(answer.body().trim_end(), "pong");
    // Another gateway that receives the answer does not answer it.
    let delivered = format!("Authentication-Results: {AUTHENTIC}\r\n{}", answer.data)
        .replace("gatehouse@example.com", "gatehouse@a.example")
        .replace("To: ann@a.example", "To: gatehouse@example.com")
        .replace(&answer.header("Date"), &date(NOW_MS));
    mailbox.server.deliver_raw(delivered.clone());
    assert!(mailbox.messages().await.is_empty());
    let unmarked = delivered.replace("Auto-Submitted: auto-replied\r\n", "");
    mailbox.server.deliver_raw(unmarked);
    assert!(
        mailbox.message().await.person == "gatehouse@a.example",
        "the mark was the reason"
    );
}

#[tokio::test]
async fn a_program_that_answers_everything_is_not_answered_for_long() {
    for harness in harnesses().await {
        let mut mailbox = Mailbox::of(harness, Offers::default()).await;
        let channels = mailbox.harness.channels.clone();
        let claimed = channels.claim_poll("email", "node", None).await;
        claimed.unwrap();
        mailbox
            .server
            .deliver(&mail("robot@a.example", "", "hello"));
        let received = mailbox.receive().await;
        let stored = channels
            .store_received("email", "node", received)
            .await
            .unwrap();
        let code = &stored.requests[0].code;
        channels
            .approve_pairing(actor(), code, false)
            .await
            .unwrap();
        let mut answered = 0;
        let mut day = Vec::new();
        for _hour in 0..6 {
            let mut hour = 0;
            for _ in 0..21 {
                mailbox
                    .server
                    .deliver(&mail("robot@a.example", "", "You wrote to me."));
                let received = mailbox.receive().await;
                assert_eq!(received.messages.len(), 1);
                let stored = channels
                    .store_received("email", "node", received)
                    .await
                    .unwrap();
                hour += i32::from(stored.has_messages);
                for message in channels.list_waiting_messages("email").await.unwrap() {
                    channels.end_message(&message).await.unwrap();
                }
            }
            day.push(hour);
            answered += hour;
            mailbox.harness.clock.advance(Duration::from_hours(1));
        }
        assert_eq!(day, [20, 20, 20, 20, 20, 0]);
        assert_eq!(answered, 100);
    }
}

#[tokio::test]
async fn a_message_is_stored_once_over_restarts_and_nodes() {
    for harness in harnesses().await {
        let mut mailbox = Mailbox::of(harness, Offers::default()).await;
        let channels = mailbox.harness.channels.clone();
        channels.claim_poll("email", "node", None).await.unwrap();
        mailbox.server.deliver(&mail("ann@a.example", "", "hello"));
        let start = mailbox.position.clone();
        let received = mailbox.receive().await;
        let stored = channels
            .store_received("email", "node", received)
            .await
            .unwrap();
        assert_eq!(stored.requests.len(), 1);
        let code = &stored.requests[0].code;
        channels
            .approve_pairing(actor(), code, false)
            .await
            .unwrap();
        mailbox.server.deliver(&mail("ann@a.example", "", "again"));
        // The process ends before the position is stored, three times.
        for _ in 0..3 {
            mailbox.position.clone_from(&start);
            mailbox.restart();
            let received = mailbox.receive().await;
            assert_eq!(received.messages.len(), 2);
            channels
                .store_received("email", "node", received)
                .await
                .unwrap();
        }
        // The person is paired now, so the email that requested the code is stored as a message.
        let waiting = channels.list_waiting_messages("email").await.unwrap();
        let texts: Vec<_> = waiting.iter().map(|it| it.text.as_str()).collect();
        assert_eq!(texts, ["hello", "again"]);
    }
}
