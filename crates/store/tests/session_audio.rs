//! Session audio on every available engine. Bytes are returned unchanged, old recordings are removed if space is
//! needed, and recordings are deleted with their session.

#![expect(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

use gatehouse_domain::id::{AudioId, MessageId, SessionId, TurnId};
use gatehouse_store::testing::databases;
use gatehouse_store::testing::rows::{at, chat_session};
use gatehouse_store::{ChatMessageRow, SessionAudioRow, Store, StoreError};

fn message(session: &str, id: &str, audio: &str) -> ChatMessageRow {
    let empty = ChatMessageRow::new(
        SessionId::from_text(session),
        TurnId::from_text("turn_1"),
        MessageId::from_text(id),
        "user",
        "owner",
        at(1),
    );
    ChatMessageRow {
        turn_no: 1,
        content: "Hello.".to_owned(),
        audio: Some(audio.to_owned()),
        ..empty
    }
}

fn audio(session: &str, n: i64, size: usize) -> SessionAudioRow {
    SessionAudioRow {
        id: AudioId::from_text(format!("aud_{n:03}")),
        session_id: SessionId::from_text(session),
        message_id: None,
        is_inbound: true,
        format: "mp3".to_owned(),
        mime_type: "audio/mpeg".to_owned(),
        size: i64::try_from(size).unwrap(),
        duration_ms: 1500,
        transcript: Some("Hello.".to_owned()),
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

async fn insert(store: &Store, row: SessionAudioRow, data: Vec<u8>, max: i64) -> bool {
    write(store, move |conn| {
        Box::pin(async move { conn.insert_session_audio(&row, data, max).await })
    })
    .await
}

/// Returns the row and its bytes.
async fn get(store: &Store, session: &str, id: &str) -> Option<(SessionAudioRow, Vec<u8>)> {
    let (session, id) = (SessionId::from_text(session), id.to_owned());
    let read = store.read(move |conn| {
        Box::pin(async move {
            let Some(row) = conn.find_session_audio(&session, &id).await? else {
                return Ok(None);
            };
            let data = conn.find_session_audio_part(&row.id, 0, 1 << 20).await?;
            Ok::<_, StoreError>(data.map(|data| (row, data)))
        })
    });
    read.await.unwrap()
}

async fn begin(store: &Store, ids: &'static [&'static str]) {
    write(store, move |conn| {
        Box::pin(async move {
            for id in ids {
                conn.insert_chat_session(&chat_session(id)).await?;
            }
            Ok(())
        })
    })
    .await;
}

#[tokio::test]
async fn bytes_come_back_as_they_were_and_only_in_their_session() {
    for database in databases().await {
        let store = database.open().await;
        begin(&store, &["ses_1", "ses_2"]).await;
        let every_byte: Vec<u8> = (0..=255).cycle().take(70_000).collect();
        for (n, data) in [(1, every_byte), (2, Vec::new()), (3, b"123".to_vec())] {
            let row = audio("ses_1", n, data.len());
            assert!(insert(&store, row.clone(), data.clone(), 1 << 30).await);
            let found = get(&store, "ses_1", row.id.as_str()).await;
            assert_eq!(found, Some((row.clone(), data)));
            assert_eq!(get(&store, "ses_2", row.id.as_str()).await, None);
        }
        let orphan = audio("ses_gone", 9, 1);
        assert!(!insert(&store, orphan, vec![0], 1 << 30).await);
        assert_eq!(get(&store, "ses_gone", "aud_009").await, None);
    }
}

#[tokio::test]
async fn the_oldest_make_room_and_messages_forget_them() {
    for database in databases().await {
        let store = database.open().await;
        begin(&store, &["ses_1", "ses_2"]).await;
        insert(&store, audio("ses_1", 1, 10), vec![1; 10], 30).await;
        write(&store, |conn| {
            Box::pin(async move {
                let row = message("ses_1", "msg_1", "aud_001");
                conn.insert_chat_message(&row).await?;
                assert!(
                    conn.update_session_audio_message("aud_001", &row.id)
                        .await?
                );
                Ok(())
            })
        })
        .await;
        insert(&store, audio("ses_2", 2, 10), vec![2; 10], 30).await;
        // At the limit nothing is removed.
        insert(&store, audio("ses_1", 3, 10), vec![3; 10], 30).await;
        assert!(get(&store, "ses_1", "aud_001").await.is_some());
        // One byte over the limit removes the oldest.
        insert(&store, audio("ses_1", 4, 1), vec![4; 1], 30).await;
        assert!(get(&store, "ses_1", "aud_001").await.is_none());
        assert!(get(&store, "ses_2", "aud_002").await.is_some());
        let read = store.read(|conn| {
            Box::pin(async move {
                let session = SessionId::from_text("ses_1");
                conn.find_chat_message(&session, "msg_1").await
            })
        });
        let found: Option<ChatMessageRow> = read.await.unwrap();
        assert_eq!(found.unwrap().audio, None);
        // A recording larger than the limit is kept until the next one is stored.
        insert(&store, audio("ses_1", 5, 31), vec![5; 31], 30).await;
        for (session, id) in [
            ("ses_2", "aud_002"),
            ("ses_1", "aud_003"),
            ("ses_1", "aud_004"),
        ] {
            assert!(get(&store, session, id).await.is_none());
        }
        assert!(get(&store, "ses_1", "aud_005").await.is_some());
        insert(&store, audio("ses_1", 6, 30), vec![6; 30], 30).await;
        assert!(get(&store, "ses_1", "aud_005").await.is_none());
    }
}

#[tokio::test]
async fn a_session_takes_its_audio_along() {
    for database in databases().await {
        let store = database.open().await;
        begin(&store, &["ses_1", "ses_2"]).await;
        insert(&store, audio("ses_1", 1, 1), vec![1], 100).await;
        insert(&store, audio("ses_2", 2, 1), vec![2], 100).await;
        let deleted = write(&store, |conn| {
            Box::pin(async move {
                conn.delete_chat_session(&SessionId::from_text("ses_1"))
                    .await
            })
        });
        assert!(deleted.await);
        assert!(get(&store, "ses_1", "aud_001").await.is_none());
        assert!(get(&store, "ses_2", "aud_002").await.is_some());
    }
}

#[tokio::test]
async fn what_was_said_is_recognised_once_and_for_a_while() {
    async fn heard(store: &Store, session: &str, text: &str, since: i64) -> Option<String> {
        let (session, text) = (SessionId::from_text(session), text.to_owned());
        let read = store.read(move |conn| {
            Box::pin(async move {
                conn.find_session_audio_heard(&session, &text, at(since))
                    .await
            })
        });
        let found: Option<AudioId> = read.await.unwrap();
        found.map(|id| id.to_string())
    }
    for database in databases().await {
        let store = database.open().await;
        begin(&store, &["ses_1", "ses_2"]).await;
        insert(&store, audio("ses_1", 1, 1), vec![1], 100).await;
        insert(&store, audio("ses_1", 2, 1), vec![2], 100).await;
        let outbound = SessionAudioRow {
            is_inbound: false,
            ..audio("ses_1", 3, 1)
        };
        insert(&store, outbound, vec![3], 100).await;
        let found = |text: &'static str, since| heard(&store, "ses_1", text, since);
        assert_eq!(found("Hello.", 0).await.as_deref(), Some("aud_002"));
        assert_eq!(found("Hello.", 2).await.as_deref(), Some("aud_002"));
        assert_eq!(found("Hello.", 3).await, None);
        assert_eq!(found("Hello", 0).await, None);
        assert_eq!(heard(&store, "ses_2", "Hello.", 0).await, None);
        let linked = write(&store, |conn| {
            Box::pin(async move {
                let message = MessageId::from_text("msg_1");
                conn.update_session_audio_message("aud_002", &message).await
            })
        });
        assert!(linked.await);
        assert_eq!(found("Hello.", 0).await.as_deref(), Some("aud_001"));
    }
}

#[tokio::test]
async fn parts_are_read() {
    for database in databases().await {
        let store = database.open().await;
        begin(&store, &["ses_1"]).await;
        let every_byte: Vec<u8> = (0..=255).cycle().take(3000).collect();
        insert(&store, audio("ses_1", 1, 3000), every_byte.clone(), 1 << 30).await;
        let part = async |id: &'static str, from: i64, length: i64| {
            let read = store.read(move |conn| {
                Box::pin(async move {
                    let id = AudioId::from_text(id);
                    conn.find_session_audio_part(&id, from, length).await
                })
            });
            let found: Result<Option<Vec<u8>>, StoreError> = read.await;
            found.unwrap()
        };
        for (from, length, found) in [
            (0, 3000, &every_byte[..]),
            (0, 1, &every_byte[..1]),
            (127, 3, &[127, 128, 129]),
            (2999, 1, &every_byte[2999..]),
            (2998, 3, &every_byte[2998..]),
            (3000, 1, &[]),
            (5, 0, &[]),
        ] {
            let read = part("aud_001", from, length).await;
            assert_eq!(read.as_deref(), Some(found), "{from} {length}");
        }
        assert_eq!(part("aud_002", 0, 1).await, None);
    }
}

#[tokio::test]
async fn many_small_ones_make_room_for_a_large_one() {
    async fn left(store: &Store) -> usize {
        let mut left = 0;
        for n in 1000..=2026 {
            left += usize::from(get(store, "ses_1", &format!("aud_{n}")).await.is_some());
        }
        left
    }
    for database in databases().await {
        let store = database.open().await;
        begin(&store, &["ses_1"]).await;
        let fill = |from: i64, to: i64| {
            write(&store, move |conn| {
                Box::pin(async move {
                    for n in from..to {
                        let row = audio("ses_1", n, 1);
                        conn.insert_session_audio(&row, vec![0], 1 << 30).await?;
                    }
                    Ok(())
                })
            })
        };
        // 16 steps of 64 can remove exactly this number.
        fill(1000, 2024).await;
        insert(&store, audio("ses_1", 2024, 100), vec![0; 100], 100).await;
        assert_eq!(left(&store).await, 1);
        assert!(get(&store, "ses_1", "aud_2024").await.is_some());
        // One recording is left for the next insertion to remove.
        fill(1000, 2024).await;
        insert(&store, audio("ses_1", 2025, 100), vec![0; 100], 100).await;
        assert_eq!(left(&store).await, 2);
        insert(&store, audio("ses_1", 2026, 100), vec![0; 100], 100).await;
        assert_eq!(left(&store).await, 1);
        assert!(get(&store, "ses_1", "aud_2026").await.is_some());
    }
}
