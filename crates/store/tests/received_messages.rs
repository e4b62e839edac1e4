//! Messages that an older version stored, and the direct chats in which messages arrive.

#![expect(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

use gatehouse_domain::Timestamp;
use gatehouse_store::testing::{databases, empty_databases, migrate, run_sql};
use gatehouse_store::{ChannelPollRow, ReceivedMessageRow, Store, StoreError};

const ACCOUNT: &str =
    "INSERT INTO channel_accounts (id, type, label, fields, enabled, created_at, updated_at)
    VALUES ('telegram', 'telegram', 'Bot', '{}', 1, 1, 1);
    INSERT INTO channel_polls (account_id, next_update, received_at) VALUES ('telegram', 8, 5)";

fn message(update: i64) -> String {
    format!(
        "INSERT INTO inbound_messages (account_id, update_id, person, chat, thread, is_group, is_own, text, received_at)
         VALUES ('telegram', {update}, '42', '-100', '3', 1, 0, 'hello', 6)"
    )
}

async fn read(store: &Store) -> (Vec<ReceivedMessageRow>, Option<ChannelPollRow>) {
    let read = store.read(|conn| {
        Box::pin(async move {
            let messages = conn.list_received_messages("telegram").await?;
            Ok::<_, StoreError>((messages, conn.find_channel_poll("telegram").await?))
        })
    });
    read.await.unwrap()
}

#[tokio::test]
async fn messages_of_an_older_version_are_taken_over() {
    for database in empty_databases().await {
        migrate(&database.location, Some(67)).await;
        run_sql(&database.location, ACCOUNT).await;
        run_sql(&database.location, &message(7)).await;
        let store = database.open().await;
        let (messages, poll) = read(&store).await;
        assert_eq!(messages.len(), 1);
        let first = &messages[0];
        assert_eq!(
            (first.message_id.as_str(), first.text.as_str()),
            ("7", "hello")
        );
        assert_eq!(
            (first.chat.as_str(), first.thread.as_deref()),
            ("-100", Some("3"))
        );
        assert!(first.is_group && !first.is_own);
        assert_eq!(poll.unwrap().position.as_deref(), Some("8"));

        // A node of the older version is still running.
        run_sql(&database.location, &message(9)).await;
        let adopt = || {
            store.write(|conn| {
                Box::pin(async move { conn.adopt_inbound_messages("telegram").await })
            })
        };
        for _ in 0..2 {
            let adopted: Result<(), StoreError> = adopt().await;
            adopted.unwrap();
        }
        let (messages, _) = read(&store).await;
        let ids: Vec<_> = messages.iter().map(|it| it.message_id.as_str()).collect();
        assert_eq!(ids, ["7", "9"]);
        store.close().await;
    }
}

#[tokio::test]
async fn the_newest_direct_message_of_a_person_gives_the_direct_chat() {
    const ACCOUNT: &str =
        "INSERT INTO channel_accounts (id, type, label, fields, enabled, created_at, updated_at)
        VALUES ('slack', 'slack', 'Bot', '{}', 1, 1, 1)";
    let at = Timestamp::from_millis(1);
    let message = |id: &str, person: &str, chat: &str| ReceivedMessageRow {
        account_id: "slack".to_owned(),
        message_id: id.to_owned(),
        person: person.to_owned(),
        chat: chat.to_owned(),
        thread: None,
        is_group: chat.starts_with('C'),
        is_own: true,
        text: "hello".to_owned(),
        file_id: None,
        file_name: None,
        is_voice: false,
        more_files: None,
        quote: None,
        answer: None,
        received_at: at,
    };
    for database in databases().await {
        run_sql(&database.location, ACCOUNT).await;
        let store = database.open().await;
        let messages = [
            message("1", "U1", "D1"),
            message("2", "U1", "D2"),
            message("3", "U1", "C1"),
            message("4", "U2", "C1"),
            message("5", "U3", "D3"),
        ];
        let work = store.write(move |conn| {
            Box::pin(async move {
                for message in &messages {
                    conn.insert_received_message(message).await?;
                }
                // An answered message also counts.
                conn.end_received_message("slack", "2", at).await?;
                let mut chats = Vec::new();
                for person in ["U1", "U2", "U4"] {
                    chats.push(conn.find_direct_chat_of("slack", person).await?);
                }
                Ok::<_, StoreError>(chats)
            })
        });
        let chats = work.await.unwrap();
        assert_eq!(chats, [Some("D2".to_owned()), None, None]);
        store.close().await;
    }
}
