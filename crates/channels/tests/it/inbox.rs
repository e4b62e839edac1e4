//! Messages of the inbox.

use crate::harness::{NOW_MS, blame, harness, harnesses};
use gatehouse_channels::{InboxFilter, Outgoing};
use gatehouse_domain::id::InboxMessageId;
use gatehouse_domain::{ErrorCode, Timestamp};
use gatehouse_store::{InboxMessageRow, StoreError};
use serde_json::json;
use std::collections::BTreeMap;

#[tokio::test]
async fn a_message_is_stored_published_listed_and_read() {
    for harness in harnesses().await {
        let mut received = harness.channels.subscribe();
        harness.send("inbox", "first\0 <b>").await.unwrap();
        harness.send("inbox:inbox", "second").await.unwrap();
        let page = harness
            .channels
            .list_inbox(&InboxFilter::default(), 50, None)
            .await
            .unwrap();
        let texts: Vec<_> = page.messages.iter().map(|m| m.text.as_str()).collect();
        assert_eq!(texts, ["second", "first\u{fffd} <b>"]);
        assert_eq!(page.next_cursor, None);
        let first = page.messages[1].clone();
        assert_eq!(
            (first.channel.as_str(), first.source.as_str(), first.read),
            ("inbox", "deploys", false)
        );
        assert_eq!(first.at, Timestamp::from_millis(NOW_MS));
        assert_eq!(received.recv().await.unwrap(), first);
        harness.channels.mark_read(&first.id).await.unwrap();
        let page = harness
            .channels
            .list_inbox(&InboxFilter::default(), 50, None)
            .await
            .unwrap();
        assert_eq!(
            page.messages.iter().map(|m| m.read).collect::<Vec<_>>(),
            [false, true]
        );
        let unknown = harness
            .channels
            .mark_read(&InboxMessageId::from_text("in_none"))
            .await;
        assert_eq!(blame(unknown).0, ErrorCode::NotFound);
    }
}

#[tokio::test]
async fn unread_messages_are_counted_searched_marked_at_once_and_deleted() {
    for harness in harnesses().await {
        for text in ["Build 1 failed", "build 2 passed", "100 % done"] {
            harness.send("inbox", text).await.unwrap();
        }
        let list = async |q: Option<&str>, only_unread| {
            let filter = InboxFilter {
                only_unread,
                q: q.map(str::to_owned),
                ..InboxFilter::default()
            };
            let page = harness.channels.list_inbox(&filter, 1, None).await.unwrap();
            let texts: Vec<_> = page.messages.into_iter().map(|m| m.text).collect();
            (texts.join(","), page.unread, page.next_cursor.is_some())
        };
        // The count covers the whole inbox, independent of the page and the filter.
        assert_eq!(list(None, false).await, ("100 % done".to_owned(), 3, true));
        assert_eq!(
            list(Some(" BUILD "), false).await,
            ("build 2 passed".to_owned(), 3, true)
        );
        assert_eq!(
            list(Some("0 %"), false).await,
            ("100 % done".to_owned(), 3, false)
        );
        assert_eq!(list(Some("b%d"), false).await, (String::new(), 3, false));
        assert_eq!(list(Some("a\0"), false).await.0, "");
        assert_eq!(harness.channels.mark_all_read().await.unwrap(), 3);
        assert_eq!(harness.channels.mark_all_read().await.unwrap(), 0);
        assert_eq!(list(None, true).await, (String::new(), 0, false));
        harness.send("inbox", "new").await.unwrap();
        assert_eq!(list(None, true).await, ("new".to_owned(), 1, false));
        let filter = InboxFilter::default();
        let page = harness.channels.list_inbox(&filter, 1, None).await.unwrap();
        let id = &page.messages[0].id;
        harness.channels.delete_inbox(id).await.unwrap();
        let again = harness.channels.delete_inbox(id).await;
        assert_eq!(blame(again).0, ErrorCode::NotFound);
        // The position of the deleted message is reused.
        harness.send("inbox", "newer").await.unwrap();
        assert_eq!(list(None, false).await, ("newer".to_owned(), 1, true));
    }
}

/// One transaction deletes 500 messages.
#[tokio::test]
async fn all_read_messages_are_deleted_and_unread_ones_stay() {
    for harness in harnesses().await {
        let row = |number: i64| InboxMessageRow {
            seq: 0,
            id: InboxMessageId::from_text(format!("in_{number}")),
            channel: "inbox".to_owned(),
            text: number.to_string(),
            source: String::new(),
            at: Timestamp::from_millis(number),
            read: number % 2 == 0,
            webhook_id: None,
            delivery_id: None,
        };
        for (rows, read) in [(0, 0), (1000, 500), (1002, 501)] {
            let rows: Vec<_> = (1..=rows).map(row).collect();
            let unread = u64::try_from(rows.len()).unwrap() - read;
            let fill = harness.store.write(move |conn| {
                Box::pin(async move { conn.insert_inbox_messages(&rows, 10_000) })
            });
            let filled: Result<(), StoreError> = fill.await;
            filled.unwrap();
            let counts = async || {
                let filter = InboxFilter::default();
                let page = harness.channels.list_inbox(&filter, 1, None).await.unwrap();
                (page.unread, page.read)
            };
            assert_eq!(counts().await, (unread, read));
            assert_eq!(harness.channels.delete_read().await.unwrap(), read);
            assert_eq!(counts().await, (unread, 0));
            assert_eq!(harness.channels.delete_read().await.unwrap(), 0);
            // Empties the inbox for the next round.
            harness.channels.mark_all_read().await.unwrap();
            harness.channels.delete_read().await.unwrap();
        }
        harness.send("inbox", "the next").await.unwrap();
        let filter = InboxFilter::default();
        let page = harness.channels.list_inbox(&filter, 50, None).await;
        assert_eq!(page.unwrap().messages.len(), 1);
    }
}

#[tokio::test]
async fn messages_of_a_period_are_listed_from_its_begin_to_before_its_end() {
    for harness in harnesses().await {
        let at = |ms: i64| Some(Timestamp::from_millis(NOW_MS + ms));
        for (ms, text) in [(0, "first"), (1, "second"), (2, "third")] {
            let message = Outgoing {
                target: "inbox",
                text,
                is_json: false,
                extra: &BTreeMap::new(),
                source: "deploys",
                at: at(ms).unwrap(),
                delivery: None,
                pictures: &[],
                links: &[],
            };
            harness.channels.send(message).await.unwrap();
        }
        for (from, until, expected) in [
            (None, None, "third,second,first"),
            (at(1), None, "third,second"),
            (None, at(2), "second,first"),
            (at(1), at(2), "second"),
            (at(1), at(1), ""),
            (at(2), at(1), ""),
            (at(3), None, ""),
            (None, at(0), ""),
            (None, Some(Timestamp::from_millis(i64::MIN)), ""),
            (Some(Timestamp::from_millis(i64::MAX)), None, ""),
        ] {
            let filter = InboxFilter {
                from,
                until,
                ..InboxFilter::default()
            };
            let page = harness.channels.list_inbox(&filter, 50, None).await;
            let page = page.unwrap();
            let texts: Vec<_> = page.messages.into_iter().map(|m| m.text).collect();
            assert_eq!(texts.join(","), expected, "{from:?} {until:?}");
            // The count covers the whole inbox.
            assert_eq!(page.unread, 3);
        }
    }
}

#[tokio::test]
async fn pages_follow_each_other() {
    let harness = harness().await;
    for number in 0..5 {
        harness.send("inbox", &format!("{number}")).await.unwrap();
    }
    let (mut cursor, mut seen) = (None, Vec::new());
    loop {
        let page = harness
            .channels
            .list_inbox(&InboxFilter::default(), 2, cursor.as_deref())
            .await
            .unwrap();
        seen.extend(page.messages.into_iter().map(|m| m.text));
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(seen, ["4", "3", "2", "1", "0"]);
    for bad in ["x", "0", "-1"] {
        let refused = harness
            .channels
            .list_inbox(&InboxFilter::default(), 2, Some(bad))
            .await;
        assert_eq!(
            blame(refused),
            (ErrorCode::InvalidParams, "cursor".to_owned())
        );
    }
}

#[tokio::test]
async fn the_newest_ten_thousand_stay() {
    let harness = harness().await;
    let fill = harness.store.write(|conn| {
        Box::pin(async move {
            for number in 0..10_000_i64 {
                let row = InboxMessageRow {
                    seq: 0,
                    id: InboxMessageId::from_text(format!("in_{number}")),
                    channel: "inbox".to_owned(),
                    text: number.to_string(),
                    source: String::new(),
                    at: Timestamp::from_millis(number),
                    read: false,
                    webhook_id: None,
                    delivery_id: None,
                };
                conn.insert_inbox_messages(&[row], 10_000)?;
            }
            Ok::<_, StoreError>(())
        })
    });
    fill.await.unwrap();
    let oldest = || async {
        let page = harness
            .channels
            .list_inbox(&InboxFilter::default(), 10_000, None)
            .await
            .unwrap();
        (
            page.messages.len(),
            page.messages.last().unwrap().text.clone(),
        )
    };
    assert_eq!(oldest().await, (10_000, "0".to_owned()));
    harness.send("inbox", "one more").await.unwrap();
    assert_eq!(oldest().await, (10_000, "1".to_owned()));
}

#[tokio::test]
async fn the_newest_messages_of_64_mib_stay() {
    const MIB: usize = 1024 * 1024;
    for harness in harnesses().await {
        let row = |number: usize, bytes: usize| {
            let mut row = InboxMessageRow {
                seq: 0,
                id: InboxMessageId::from_text(format!("in_{number}")),
                channel: "inbox".to_owned(),
                text: String::new(),
                source: String::new(),
                at: Timestamp::from_millis(0),
                read: false,
                webhook_id: None,
                delivery_id: None,
            };
            row.text = "x".repeat(bytes - usize::try_from(row.bytes()).unwrap());
            row
        };
        let add = async |row: InboxMessageRow| {
            let write = harness.store.write(move |conn| {
                Box::pin(async move { conn.insert_inbox_messages(&[row], 10_000) })
            });
            let stored: Result<(), StoreError> = write.await;
            stored.unwrap();
        };
        let kept = async || {
            let page = harness
                .channels
                .list_inbox(&InboxFilter::default(), 100, None)
                .await
                .unwrap();
            let oldest = page.messages.last().unwrap().id.to_string();
            (page.messages.len(), oldest)
        };
        for number in 0..64 {
            add(row(number, MIB)).await;
        }
        assert_eq!(kept().await, (64, "in_0".to_owned()));
        // One byte too many, so that two messages are removed.
        add(row(64, MIB + 1)).await;
        assert_eq!(kept().await, (63, "in_2".to_owned()));
        add(row(65, MIB - 1)).await;
        assert_eq!(kept().await, (64, "in_2".to_owned()));
    }
}

#[tokio::test]
async fn further_inboxes_may_be_made_and_the_log_takes_all() {
    let harness = harness().await;
    let made = harness.create("inbox", json!({})).await;
    assert_eq!(made.id, "inbox-2");
    harness.send("inbox:inbox-2", "there").await.unwrap();
    harness.send("inbox", "here").await.unwrap();
    let page = harness
        .channels
        .list_inbox(&InboxFilter::default(), 50, None)
        .await
        .unwrap();
    let channels: Vec<_> = page.messages.iter().map(|m| m.channel.as_str()).collect();
    assert_eq!(channels, ["inbox", "inbox-2"]);
    harness.send("log", "a line\nand another").await.unwrap();
}
