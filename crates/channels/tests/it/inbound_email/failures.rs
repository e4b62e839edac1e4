//! Emails that cannot be fetched.

use super::{Mailbox, mail, why};
use crate::imap::Offers;
use std::time::Duration;

#[tokio::test]
async fn a_mail_that_is_deleted_while_it_is_read_is_not_answered() {
    let offers = Offers {
        vanishing: Some(1),
        ..Offers::default()
    };
    let mut mailbox = Mailbox::open(offers).await;
    mailbox.server.deliver(&mail("ann@a.example", "", "one"));
    mailbox.server.deliver(&mail("ann@a.example", "", "two"));
    assert_eq!(mailbox.message().await.text.as_deref(), Some("two"));
    assert_eq!(
        mailbox.server.count("UID FETCH 1 "),
        2,
        "its text was asked for"
    );
}

#[tokio::test]
async fn a_mail_that_cannot_be_fetched_is_skipped_after_three_attempts() {
    let offers = Offers {
        unreadable: Some(2),
        ..Offers::default()
    };
    let mut mailbox = Mailbox::open(offers).await;
    for text in ["one", "two", "three"] {
        mailbox.server.deliver(&mail("ann@a.example", "", text));
    }
    // Messages read before the failure are not lost.
    assert_eq!(mailbox.message().await.text.as_deref(), Some("one"));
    let (is_final, words) = why(mailbox.try_receive().await.unwrap_err());
    assert!(!is_final && words.contains("could not be read"), "{words}");
    let skipped = mailbox.receive().await;
    assert!(skipped.messages.is_empty() && skipped.is_new_position);
    assert!(skipped.warning.unwrap().contains("skipped"));
    let later = mailbox.receive().await;
    assert_eq!(later.messages[0].text.as_deref(), Some("three"));
    assert!(later.warning.is_some(), "it is shown for a day");
    mailbox.harness.clock.advance(Duration::from_hours(24));
    mailbox.server.deliver(&super::mail_at(
        crate::harness::NOW_MS + 24 * 3_600_000,
        "ann@a.example",
        "",
        "four",
    ));
    let last = mailbox.receive().await;
    assert_eq!(last.messages.len(), 1);
    assert_eq!(last.warning, None);
    assert_eq!(mailbox.server.count("UID FETCH 2 "), 3);
}

#[tokio::test]
async fn no_mail_is_skipped_while_the_server_returns_none() {
    let mut mailbox = Mailbox::open(Offers::default()).await;
    mailbox.server.deliver(&mail("ann@a.example", "", "one"));
    assert_eq!(mailbox.messages().await.len(), 1);
    for text in ["two", "three"] {
        mailbox.server.deliver(&mail("ann@a.example", "", text));
    }
    mailbox.server.cut_fetches(usize::MAX);
    for _ in 0..6 {
        mailbox.try_receive().await.unwrap_err();
    }
    mailbox.server.cut_fetches(0);
    let received = mailbox.messages().await;
    let texts: Vec<_> = received.iter().map(|it| it.text.as_deref()).collect();
    assert_eq!(texts, [Some("two"), Some("three")]);
}
