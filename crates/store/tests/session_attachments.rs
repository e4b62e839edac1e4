//! Files of sessions on every available engine. Bytes are returned unchanged and in parts. The oldest files are
//! removed if space is needed.

#![expect(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

use gatehouse_domain::id::{AttachmentId, MessageId, SessionId, TurnId};
use gatehouse_store::testing::databases;
use gatehouse_store::testing::rows::{at, chat_session};
use gatehouse_store::{
    AttachmentContent, ChatMessageRow, ChatSessionRow, SessionAttachmentRow, Store, StoreError,
};

fn file(session: &str, n: i64, size: usize) -> SessionAttachmentRow {
    SessionAttachmentRow {
        id: AttachmentId::from_text(format!("att_{n:03}")),
        session_id: SessionId::from_text(session),
        message_id: None,
        name: "a.txt".to_owned(),
        mime_type: "text/plain".to_owned(),
        size: i64::try_from(size).unwrap(),
        width: None,
        height: Some(5),
        created_at: at(n),
    }
}

async fn write<T, F>(store: &Store, job: F) -> T
where
    T: Send + 'static,
    F: for<'c> FnOnce(
            &'c mut gatehouse_store::Conn,
        ) -> futures_util::future::BoxFuture<'c, Result<T, StoreError>>
        + Send
        + 'static,
{
    store.write(job).await.unwrap()
}

async fn insert(store: &Store, row: SessionAttachmentRow, data: Vec<u8>, max: i64) -> bool {
    let content = AttachmentContent {
        text: Some("ab".to_owned()),
        image: Some(vec![0, 255]),
    };
    write(store, move |conn| {
        Box::pin(async move {
            conn.insert_session_attachment(&row, content, data, max)
                .await
        })
    })
    .await
}

#[tokio::test]
async fn bytes_come_back_whole_and_in_parts() {
    for database in databases().await {
        let store = database.open().await;
        write(&store, |conn| {
            Box::pin(async move { conn.insert_chat_session(&chat_session("ses_1")).await })
        })
        .await;
        let data: Vec<u8> = (0..=255).collect();
        let row = file("ses_1", 1, data.len());
        assert!(insert(&store, row.clone(), data.clone(), 10_000).await);
        assert!(!insert(&store, file("ses_2", 2, 1), vec![0], 10_000).await);
        let (id, mine) = (row.id.clone(), row.session_id.clone());
        let found = write(&store, move |conn| {
            Box::pin(async move {
                let whole = conn.find_session_attachment_part(&id, 0, 1000).await?;
                let part = conn.find_session_attachment_part(&id, 250, 3).await?;
                let content = conn.find_session_attachment_content(&mine, &id).await?;
                let row = conn.find_session_attachment(&mine, id.as_str()).await?;
                let other = SessionId::from_text("ses_2");
                let theirs = conn.find_session_attachment(&other, id.as_str()).await?;
                Ok((whole, part, content, row, theirs))
            })
        })
        .await;
        assert_eq!(found.0.unwrap(), data);
        assert_eq!(found.1.unwrap(), [250, 251, 252]);
        let content = found.2.unwrap();
        assert_eq!((content.text.as_deref(), content.size()), (Some("ab"), 4));
        assert_eq!((found.3, found.4), (Some(row), None));
    }
}

#[tokio::test]
async fn the_oldest_files_make_room_and_the_newest_always_stays() {
    for database in databases().await {
        let store = database.open().await;
        write(&store, |conn| {
            Box::pin(async move { conn.insert_chat_session(&chat_session("ses_1")).await })
        })
        .await;
        // Each file takes ten bytes, including its form for models.
        for n in 1..=3 {
            assert!(insert(&store, file("ses_1", n, 6), vec![0; 6], 30).await);
        }
        let kept = async || {
            let ids = write(&store, |conn| {
                Box::pin(async move {
                    let mut ids = Vec::new();
                    for n in 1..=5 {
                        let (id, mine) = (format!("att_{n:03}"), SessionId::from_text("ses_1"));
                        if conn.find_session_attachment(&mine, &id).await?.is_some() {
                            ids.push(n);
                        }
                    }
                    Ok(ids)
                })
            });
            ids.await
        };
        assert_eq!(kept().await, [1, 2, 3], "at the limit");
        insert(&store, file("ses_1", 4, 1), vec![0; 1], 30).await;
        assert_eq!(kept().await, [2, 3, 4], "past the limit");
        insert(&store, file("ses_1", 5, 100), vec![0; 100], 30).await;
        assert_eq!(kept().await, [5]);
        let deleted = write(&store, |conn| {
            Box::pin(async move {
                let (id, message) = ("att_005", MessageId::from_text("msg_1"));
                let (own, mine) = (AttachmentId::from_text(id), SessionId::from_text("ses_1"));
                conn.update_session_attachment_message(&own, &message)
                    .await?;
                let unsent = conn.delete_unsent_session_attachment(&mine, id).await?;
                conn.delete_chat_session(&mine).await?;
                let left = conn.find_session_attachment(&mine, id).await?;
                Ok((unsent, left))
            })
        });
        assert_eq!(deleted.await, (false, None));
    }
}

/// Returns the numbers of the existing files, from 1 to 9.
async fn kept(store: &Store) -> Vec<i64> {
    let ids = write(store, |conn| {
        Box::pin(async move {
            let mut ids = Vec::new();
            for n in 1..=9 {
                let id = AttachmentId::from_text(format!("att_{n:03}"));
                if conn
                    .find_session_attachment_part(&id, 0, 1)
                    .await?
                    .is_some()
                {
                    ids.push(n);
                }
            }
            Ok(ids)
        })
    });
    ids.await
}

/// Stores a message of a session that `source` created.
async fn message(store: &Store, source: &str, id: &str, is_private: bool) {
    let session = ChatSessionRow {
        source: source.to_owned(),
        ..chat_session(&format!("ses_{source}"))
    };
    let row = ChatMessageRow {
        is_private,
        ..ChatMessageRow::new(
            session.id.clone(),
            TurnId::from_text(format!("turn_{id}")),
            MessageId::from_text(id),
            "user",
            "stranger",
            at(1),
        )
    };
    write(store, move |conn| {
        Box::pin(async move {
            if conn.find_chat_session(&session.id).await?.is_none() {
                conn.insert_chat_session(&session).await?;
            }
            conn.insert_chat_message(&row).await
        })
    })
    .await;
}

#[tokio::test]
async fn the_files_of_deliveries_make_room_before_those_of_people() {
    for database in databases().await {
        let store = database.open().await;
        message(&store, "user", "msg_person", true).await;
        message(&store, "user", "msg_page", false).await;
        message(&store, "webhook", "msg_delivery", false).await;
        message(&store, "webhook", "msg_reply", true).await;
        let of = |source: &str, message: Option<&str>, n: i64| SessionAttachmentRow {
            message_id: message.map(MessageId::from_text),
            ..file(&format!("ses_{source}"), n, 6)
        };
        // Each file takes ten bytes.
        for (source, message, n, rest) in [
            ("user", Some("msg_person"), 1, vec![1]),
            ("user", Some("msg_page"), 2, vec![1, 2]),
            ("webhook", Some("msg_reply"), 3, vec![1, 2, 3]),
            ("webhook", None, 4, vec![1, 2, 3, 4]),
            ("webhook", Some("msg_delivery"), 5, vec![1, 2, 3, 4, 5]),
            // A person's file replaces a file of a delivery.
            ("user", Some("msg_person"), 6, vec![1, 2, 3, 4, 6]),
            // If there are no files of deliveries, the oldest file is removed.
            ("webhook", Some("msg_delivery"), 7, vec![2, 3, 4, 6, 7]),
            // Files of the same message are kept.
            ("webhook", Some("msg_delivery"), 8, vec![3, 4, 6, 7, 8]),
            // A file without a message does not belong to that message.
            ("webhook", None, 9, vec![3, 4, 6, 8, 9]),
        ] {
            assert!(insert(&store, of(source, message, n), vec![0; 6], 50).await);
            assert_eq!(kept(&store).await, rest, "{n}");
        }
    }
}
